"""Benchmarks: how fast rightcall is beside a hand-written loop, the physical floor and other tools."""

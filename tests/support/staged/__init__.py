"""Scripted conversations: what a model says is data, a loopback server says it, and real SDKs record it."""

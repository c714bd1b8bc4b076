"""The tables. Each row belongs to an organization, which is the first part of every key and every reference.

    organizations ── api_keys, counters, idempotency_keys, audit_log, policies
    requirements ─┬─ requirement_metrics ─┐
                  └─ tests ── test_set_tests ─┐
    metrics ── test_set_metrics ─────────── test_sets
    endpoints ── endpoint_secrets
    runs ── results (a test of the run) ── attempts (one row each, written when it ends) ── cells (one a verdict)
    uploads (bytes as they came) ── traces ── spans

A run remembers its tests, its test set and its endpoint by id and by what they were, not by reference: they may change
and go, and what was found stays.
"""

from __future__ import annotations

from rightcall.store.columns import METADATA
from rightcall.store.schema.running import attempts, cells, results, runs
from rightcall.store.schema.tenants import api_keys, audit_log, counters, idempotency_keys, organizations, policies
from rightcall.store.schema.testing import (
    endpoint_secrets,
    endpoints,
    metrics,
    requirement_metrics,
    requirements,
    test_set_metrics,
    test_set_tests,
    test_sets,
    tests,
)
from rightcall.store.schema.tracing import spans, traces, uploads

__all__ = [
    "METADATA",
    "api_keys",
    "attempts",
    "audit_log",
    "cells",
    "counters",
    "endpoint_secrets",
    "endpoints",
    "idempotency_keys",
    "metrics",
    "organizations",
    "policies",
    "requirement_metrics",
    "requirements",
    "results",
    "runs",
    "spans",
    "test_set_metrics",
    "test_set_tests",
    "test_sets",
    "tests",
    "traces",
    "uploads",
]

"""The native API, `/api/v1`: one module a resource."""

from __future__ import annotations

from typing import Final

from litestar import Controller

from rightcall.faces.http.native.endpoints import Endpoints
from rightcall.faces.http.native.keys import Keys
from rightcall.faces.http.native.metrics import Metrics
from rightcall.faces.http.native.requirements import Requirements
from rightcall.faces.http.native.test_sets import TestSets
from rightcall.faces.http.native.tests import Tests
from rightcall.faces.http.native.traces import Traces

ROUTES: Final[list[type[Controller]]] = [Requirements, Metrics, Tests, TestSets, Endpoints, Traces, Keys]
"""A new resource is one file and one line here."""

"""Test sets whose agent is driven while pytest runs."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime

from rightcall.app import suites
from rightcall.app.judging import JudgeOptions
from rightcall.app.redaction import Redaction
from rightcall.app.running import keeping, preparing
from rightcall.app.running import live as running
from rightcall.app.running.driving import Stop
from rightcall.app.running.planning import Selection
from rightcall.app.running.preparing import RunRequest


def run(file: str, tests: frozenset[str] | None, redaction: Redaction, judge: JudgeOptions) -> suites.Suite:
    """Drive the agent of a test set on these of its tests, `None` for all; raises what cannot be run.

    Nothing is kept of it.
    """
    request = RunRequest(tests=(file,), selection=Selection(ids=tests), redaction=redaction, judge=judge)
    plan = preparing.plan(request, preparing.read_suites(request))
    identity = keeping.new_identity(datetime.now(UTC), secrets.token_bytes(3))
    begun = running.begin(plan, request, preparing.crew(plan, request), identity)
    return suites.kept(lambda sinks: running.run(plan, request, begun, sinks, running.Watch(), Stop()), redaction)

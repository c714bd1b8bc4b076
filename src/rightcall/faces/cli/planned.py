"""What `rightcall run --plan` shows: what would be sent, and to whom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from rightcall.app.running import planning
from rightcall.app.running.preparing import described
from rightcall.core.values import display
from rightcall.core.wording import amount
from rightcall.faces.cli import streams

if TYPE_CHECKING:
    from rightcall.app.running.preparing import Plan, RunRequest
    from rightcall.testsets import Test

_SHOWN = 200


def show(plan: Plan, request: RunRequest, *, as_json: bool) -> None:
    """Print the plan."""
    if as_json:
        streams.StandardOutput().write(msgspec.json.format(msgspec.json.encode(_as_json(plan, request))) + b"\n")
        return
    for line in _lines(plan, request):
        streams.say(line)


def _as_json(plan: Plan, request: RunRequest) -> dict[str, Any]:
    return {
        "tests": [
            {
                "id": compiled.test.id,
                "attempts": plan.planned[compiled.test.id],
                **_said(compiled.test),
                "endpoint": described(plan.agents[compiled.test.id]),
            }
            for compiled in plan.tests
        ],
        "attempts": sum(plan.planned.values()),
        "pace": request.pace,
    }


def _said(test: Test) -> dict[str, Any]:
    return {"persona": test.persona} if test.persona else {"turns": planning.lines(test)}


def _lines(plan: Plan, request: RunRequest) -> Any:
    agent = None
    for compiled in plan.tests:
        test = compiled.test
        if plan.agents[test.id] is not agent:
            agent = plan.agents[test.id]
            yield f"to {display(described(agent), _SHOWN)}"
        yield f"{test.id}  {amount(plan.planned[test.id], 'attempt')}"
        for number, said in enumerate(() if test.persona else planning.lines(test), 1):
            yield f"  turn {number}: {display(said, _SHOWN)}"
        if test.persona:
            most = amount(test.persona.max_turns, "turn")
            yield f"  a simulated user, {most} at most: {display(test.persona.goal, _SHOWN)}"
    attempts = amount(sum(plan.planned.values()), "attempt")
    yield f"{amount(len(plan.tests), 'test')}, {attempts}, at most {request.pace.concurrency} at once; nothing was sent"

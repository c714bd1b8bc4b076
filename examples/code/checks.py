"""Checks of refunds that need code."""

from rightcall.core.calls import Trajectory

MOST = 100


def refund_is_small(trace: Trajectory) -> bool | str:
    """No refund is of more than 100."""
    for number, call in enumerate(trace.tool_calls, 1):
        if call.name == "issue_refund" and call.arguments["amount"] > MOST:
            return f"call {number} refunds {call.arguments['amount']}, more than {MOST}"
    return True

"""What the guide asks of a trajectory in Python."""

from rightcall.core.calls import Trajectory


def looked_up_at_once(trace: Trajectory) -> bool | str:
    """Whether the two look-ups of orders stand in one message of the model."""
    messages = [call.message for call in trace.tool_calls if call.name == "lookup_order"]
    if None in messages:
        raise ValueError("the trace does not say which calls were parallel")
    if len(messages) == 2 and len(set(messages)) == 1:
        return True
    return f"{len(messages)} look-ups in {len(set(messages))} messages"

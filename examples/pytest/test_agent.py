"""Tests of an agent that runs in the same program."""

import pytest

from rightcall import expected


def agent(prompt):  # yours, with a model that decides
    return [{"name": "lookup_order", "arguments": {"order_id": 41}}]


def test_the_order_is_looked_up():
    assert agent("Where is order 42?") == expected([{"name": "lookup_order", "arguments": {"order_id": 42}}])


@pytest.mark.rightcall(repeat=5, min_pass_rate="4/5")
def test_nothing_is_refunded_unasked(rightcall):
    rightcall.check(agent("Where is order 42?"), forbidden_tools=["issue_refund"])


@pytest.mark.rightcall(live=True)
def test_with_a_real_model():
    raise NotImplementedError("call your model here")

"""A support agent without a model: what it calls depends on words alone, so that it always does the same."""

from __future__ import annotations

import re
from typing import Any

ORDERS = {42: {"total": 19.5, "is_late": True}, 77: {"total": 8.0, "is_late": False}}


class Agent:
    """One conversation. rightcall makes an object for each, and calls it with what the user says in each turn."""

    def __init__(self) -> None:
        self.order: int | None = None
        self.calls: list[dict[str, Any]] = []

    def __call__(self, text: str) -> dict[str, Any]:
        """Answer one turn; the calls are those of this turn."""
        self.calls = []
        if found := re.search(r"order (\d+)", text):
            self.order = int(found[1])
            self.call("lookup_order", order_id=self.order)
        output = self.refund() if "money back" in text and self.order else "How can I help?"
        return {"output": output, "tool_calls": self.calls}

    def refund(self) -> str:
        """Refund an order that is late."""
        order = ORDERS[self.order or 0]
        if not order["is_late"]:
            return "Your order is on its way."
        self.call("issue_refund", order_id=self.order, amount=order["total"])
        return f"I refunded {order['total']}."

    def call(self, name: str, **arguments: Any) -> None:
        """Call a tool."""
        self.calls.append({"name": name, "arguments": arguments})

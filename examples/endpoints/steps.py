"""An agent that tells its calls in a way of its own."""

import json

step = {"kind": "tool", "call": {"name": "lookup_order", "arguments": {"order_id": 42}}}
offered = [{"name": "issue_refund", "description": "Pay money back.", "parameters": {"type": "object"}}]
print(json.dumps({"answer": "It is late.", "steps": [step], "tools": offered}))

"""An agent that is a program: it reads one turn on its standard input, and prints a reply."""

import json
import re
import sys

turn = json.load(sys.stdin)
order = re.search(r"order (\d+)", turn["input"])
calls = [{"name": "lookup_order", "arguments": {"order_id": int(order[1])}}] if order else []
print(json.dumps({"output": "I have looked it up." if calls else "Which order?", "tool_calls": calls}))

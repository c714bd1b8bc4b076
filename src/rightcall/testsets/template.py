"""What `rightcall init` writes: a small test set to begin with."""

from __future__ import annotations

from typing import Final

SCHEMA_FILE: Final = "rightcall.schema.json"
"""Where the template looks for the JSON Schema: beside itself."""

_TEMPLATE: Final = """\
# yaml-language-server: $schema={schema}
version: 1
name: Refund flow

# What must hold for a run to pass.
gate:
  min_pass_rate: 1.0

tests:
  - id: late-order                # unique and stable: recorded conversations name it
    prompt: My order 42 arrived late, I want my money back.
    expected_tool_calls:          # in this order, other calls may come between them
      - name: lookup_order
        arguments: {{order_id: 42}} # only the arguments that matter
      - issue_refund              # a bare name accepts any arguments
    allowed_tools: [lookup_order, issue_refund, log_event]

  - id: small-talk
    prompt: How are you today?
    expected_tool_calls: []       # no tool may be called at all
"""


def template(schema_file: str = SCHEMA_FILE) -> str:
    """A commented, valid test set in YAML. `schema_file` is named in its first line, for editors."""
    return _TEMPLATE.format(schema=schema_file)

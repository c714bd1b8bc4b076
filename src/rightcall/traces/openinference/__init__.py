"""OpenInference: one LLM span on its own, for metrics over a single span.

Whole traces are read by `rightcall.traces.conventions`, as those of every convention are.
"""

from __future__ import annotations

from rightcall.traces.openinference.span import LLMSpan, read_llm_span

__all__ = ["LLMSpan", "read_llm_span"]

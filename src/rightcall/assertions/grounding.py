"""Every value in the arguments comes from somewhere: the user, an earlier result, or a declared constant."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import msgspec

from rightcall.core import doubt
from rightcall.core.assertion import Assertion, CannotJudge, Check, Setting
from rightcall.core.calls import UNKNOWN_STATES, ToolCall, Trajectory
from rightcall.core.counting import Counted
from rightcall.core.declaring import is_offered
from rightcall.core.leaves import Leaf, leaves
from rightcall.core.sources import LetterCase, SourceName, Sources
from rightcall.core.values import display, freeze, visible
from rightcall.core.verdicts import Evidence, Finding
from rightcall.core.wording import listed, name_of
from rightcall.errors import TestSetError, Where

_WORDS: dict[SourceName, str] = {
    "user": "no message of the user",
    "results": "no earlier result",
    "system": "no message of the system",
}


class Grounding(Assertion, frozen=True, kw_only=True, tag="grounding"):
    """Every string and number in the arguments can be traced to where it came from. Verdict `grounded_arguments`.

    `sources` are `user`, the messages of the user up to then, `results`, what earlier calls gave, and `system`, the
    system prompt; by default the first two. A number must be there with the same value, a string as a whole, by words;
    `letter_case: ignored` lets case differ. Values that the tool's schema offers (`enum`, `const`, `default`), the
    `constants`, booleans, null and empty values need no source. `tools` narrows it to calls of these tools, and
    `ignore_arguments` names arguments, or globs of their names or paths, that may hold anything.
    """

    tools: tuple[Annotated[str, msgspec.Meta(min_length=1)], ...] = ()
    sources: Annotated[tuple[SourceName, ...], msgspec.Meta(min_length=1)] = ("user", "results")
    constants: tuple[Any, ...] = ()
    ignore_arguments: tuple[str, ...] = ()
    letter_case: LetterCase = "exact"

    def compile(self, setting: Setting) -> Check:
        """Make it ready to check many trajectories; `TestSetError` for a constant that is no single value."""
        for index, constant in enumerate(self.constants):
            if not isinstance(constant, str | int | float) or isinstance(constant, bool):
                message = f"expected a string or a number, found {display(constant)}"
                raise TestSetError(message, Where(path=f"constants[{index}]"))
        return GroundingCheck(self, setting)


class GroundingCheck:
    """A compiled grounding assertion."""

    name = "grounded_arguments"
    only_forbids = True

    def __init__(self, assertion: Grounding, setting: Setting) -> None:
        self.assertion = assertion
        self.setting = setting
        self.constants = frozenset(map(freeze, assertion.constants))
        globs = assertion.ignore_arguments + setting.ignore_arguments
        self.ignored = [re.compile(fnmatch.translate(glob)) for glob in globs]

    def __call__(self, trajectory: Trajectory) -> Evidence:
        """Trace every value of the calls that count; what is not recorded is an error where it could be a source."""
        counted = self.setting.counted(trajectory)
        tracing = _Tracing(self, trajectory)
        for at, call in enumerate(counted.calls):
            if not self.assertion.tools or call.name in self.assertion.tools or not call.name.strip():
                tracing.trace(counted, at)
        if not tracing.findings:
            if tracing.doubts:
                raise tracing.doubts[0]
            if trajectory.gaps:
                raise doubt.gap(trajectory)
        details = {"values": len(tracing.traced) + len(tracing.findings), "traced": tracing.traced}
        return Evidence(tuple(tracing.findings), details)

    def wanting(self, call: ToolCall) -> Iterator[Leaf]:
        """The values of a call that need a source."""
        for leaf in leaves(call.arguments):
            is_single = isinstance(leaf.value, str | int | float) and not isinstance(leaf.value, bool)
            if is_single and leaf.value != "" and not self._is_ignored(leaf):
                yield leaf

    def _is_ignored(self, leaf: Leaf) -> bool:
        names = {leaf.path, *(str(step) for step in leaf.steps[:1])}
        return any(glob.match(name) for glob in self.ignored for name in names)

    def is_free(self, leaf: Leaf, schemas: Sequence[Any]) -> bool:
        """Whether the value is declared, as a constant or by the tool's schema."""
        return freeze(leaf.value) in self.constants or any(
            is_offered(schema, leaf.steps, leaf.value) for schema in schemas
        )


class _Tracing:
    """What was traced so far in one trajectory, what has no source, and what cannot be told."""

    def __init__(self, check: GroundingCheck, trajectory: Trajectory) -> None:
        self.check = check
        self.sources = Sources(trajectory, check.assertion.sources, check.assertion.letter_case)
        self.available = {tool.name: tool.parameters for tool in trajectory.available_tools}
        self.recorded = trajectory.tool_calls or ()
        self.findings: list[Finding] = []
        self.doubts: list[CannotJudge] = []
        self.traced: list[dict[str, Any]] = []

    def trace(self, counted: Counted, at: int) -> None:
        """Trace the values of the call at a position."""
        call, index = counted.calls[at], counted.indices[at]
        if call.arguments_state in UNKNOWN_STATES:
            self.doubts.append(doubt.arguments(counted, at))
        elif call.arguments_state != "ok":
            message = f"Call {index + 1}, {name_of(call)}, has malformed arguments, which cannot be traced."
            self.findings.append(Finding(code="malformed", message=message, made_index=index))
        elif self.check.assertion.tools and not call.name.strip():
            self.doubts.append(doubt.name(index))
        else:
            for leaf in self.check.wanting(call):
                self._trace_value(call, index, leaf)

    def _trace_value(self, call: ToolCall, index: int, leaf: Leaf) -> None:
        if self.check.is_free(leaf, self._schemas(call, index)):
            return
        try:
            found = self.sources.find(index, leaf.value)
        except CannotJudge as error:
            self.doubts.append(error)
            return
        if found is None:
            self.findings.append(self._ungrounded(call, index, leaf))
        else:
            kind = "call" if found.source == "results" else "message"
            place = {"source": found.source, kind: found.number}
            self.traced.append({"made_index": index, "path": leaf.path, **place})

    def _schemas(self, call: ToolCall, index: int) -> list[Any]:
        """What is known of the tool's arguments: from the test set, and from the trace."""
        names = (call.name, self.recorded[index].name)
        known = (self.check.setting.tool_schemas, self.available)
        return [schemas[name] for schemas in known for name in dict.fromkeys(names) if name in schemas]

    def _ungrounded(self, call: ToolCall, index: int, leaf: Leaf) -> Finding:
        nowhere = listed([_WORDS[name] for name in dict.fromkeys(self.check.assertion.sources)])
        message = (
            f"Call {index + 1}, {name_of(call)}: {leaf.path or 'arguments'} = {display(leaf.value)} is in {nowhere}"
        )
        return Finding(
            code="ungrounded",
            message=f"{message}{self._alike(index, leaf)}.",
            made_index=index,
            path=leaf.path,
            actual=leaf.value,
        )

    def _alike(self, index: int, leaf: Leaf) -> str:
        """What an earlier call gave under the same name, for the eye."""
        key = next((step for step in reversed(leaf.steps) if isinstance(step, str)), None)
        found = self.sources.alike(index, key) if key and "results" in self.check.assertion.sources else None
        return f"; call {found[0]} gave {visible(key)} = {display(found[1])}" if found and key else ""

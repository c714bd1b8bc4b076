"""Tools that must, may or must not be called (G25, G26)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec
from msgspec import UNSET, UnsetType

from rightcall.core import doubt
from rightcall.core.aligning import row_of
from rightcall.core.assertion import Assertion, Check, Setting
from rightcall.core.calls import ToolCall, Trajectory
from rightcall.core.counting import Counted, numbered
from rightcall.core.patterns import Match, Pattern, compile_each, compile_match
from rightcall.core.rows import Row
from rightcall.core.values import display, visible
from rightcall.core.verdicts import Evidence, Finding
from rightcall.core.wording import listed


class RequiredTool(Assertion, frozen=True, kw_only=True, tag="required_tool"):
    """`tool` is called at some point. Verdict `tool_called:<tool>`."""

    tool: str

    def compile(self, setting: Setting) -> Check:
        """Make it ready to check many trajectories."""
        return RequiredCheck(self.tool, setting)


class RequiredCheck:
    """A compiled presence check."""

    def __init__(self, tool: str, setting: Setting) -> None:
        self.tool = tool
        self.setting = setting
        self.name = f"tool_called:{tool}"

    def __call__(self, trajectory: Trajectory) -> Evidence:
        """A call that was seen is enough; an unseen one may hide in a gap."""
        counted = self.setting.counted(trajectory)
        if any(call.name == self.tool for call in counted.calls):
            return Evidence()
        if trajectory.gaps:
            raise doubt.gap(trajectory)
        return Evidence((Finding(code="missing", message=f"`{visible(self.tool)}` was never called."),))


class AllowedTools(Assertion, frozen=True, kw_only=True, tag="allowed_tools"):
    """No tool but those in `tools` is called. Verdict `no_unexpected_tool`.

    An empty list allows nothing. Every call is judged, whatever `count` says: of nested agents, failed ones,
    output tools. Details hold `names`, the tools called that are not allowed, in the order of their first call.
    """

    tools: tuple[str, ...]

    def compile(self, setting: Setting) -> Check:
        """Make it ready to check many trajectories."""
        return AllowedCheck(self.tools, setting)


class AllowedCheck:
    """A compiled allow-list."""

    name = "no_unexpected_tool"
    is_ban = sees_every_call = only_forbids = True
    uses_results = False

    def __init__(self, tools: Sequence[str], setting: Setting) -> None:
        self.tools = frozenset(tools)
        self.aliases = setting.tool_aliases
        self.count = setting.every_call

    def __call__(self, trajectory: Trajectory) -> Evidence:
        """Every call's name is in the list."""
        first: dict[str, int] = {}
        for index, call in numbered(trajectory.tool_calls or (), self.count):
            if call.name not in self.tools and self.aliases.get(call.name) not in self.tools:
                first.setdefault(call.name, index)
        if not first and trajectory.gaps:
            raise doubt.gap(trajectory)
        return Evidence(tuple(_not_allowed(first)), {"names": list(first)})


def _not_allowed(first: dict[str, int]) -> Iterator[Finding]:
    """One finding a name; the first names them all."""
    parts = [f"{_named(name)} (call {index + 1})" for name, index in first.items()]
    for number, index in enumerate(first.values()):
        named = listed(parts) if number == 0 else parts[number]
        verb = "were called but are" if number == 0 and len(parts) > 1 else "was called but is"
        yield Finding(code="not_allowed", message=f"{named} {verb} not allowed.", made_index=index)


def _named(name: str) -> str:
    return f"`{visible(name)}`" if name.strip() else f"a tool without a name ({display(name)})"


class ForbiddenTool(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A tool that must not be called; with `match`, not with such arguments."""

    tool: str
    match: Match | UnsetType = UNSET


class ForbiddenTools(Assertion, frozen=True, kw_only=True, tag="forbidden_tools"):
    """None of `tools` is called. Verdict `no_forbidden_tool`.

    An entry is a name, or `{tool, match}` to forbid only calls with such arguments. Every call is judged,
    whatever `count` says. Where the arguments of a call cannot be read, a ban that needs them is no pass.
    """

    tools: tuple[str | ForbiddenTool, ...]

    def compile(self, setting: Setting) -> Check:
        """Make it ready to check many trajectories; `TestSetError` with the path of a match that cannot be."""
        entries = [ForbiddenTool(tool=entry) if isinstance(entry, str) else entry for entry in self.tools]
        patterns = compile_each(entries, lambda entry: compile_match(entry.tool, entry.match, setting), "tools")
        return ForbiddenCheck(patterns, setting)


class ForbiddenCheck:
    """A compiled ban."""

    name = "no_forbidden_tool"
    is_ban = sees_every_call = only_forbids = True

    def __init__(self, patterns: Sequence[Pattern], setting: Setting) -> None:
        self.aliases = setting.tool_aliases
        self.count = setting.every_call
        self.patterns: dict[str, list[Pattern]] = {}
        for pattern in patterns:
            self.patterns.setdefault(pattern.name, []).append(pattern)

    def __call__(self, trajectory: Trajectory) -> Evidence:
        """No call is one of those forbidden; what cannot be seen is no pass."""
        found = [(index, call) for index, call in self._calls(trajectory) if self._is_forbidden(call)]
        if not found:
            self._refuse_doubt(trajectory)
        findings = tuple(self._finding(index, call) for index, call in found)
        return Evidence(findings, {"names": list(dict.fromkeys(call.name for _, call in found))})

    def align(self, trajectory: Trajectory) -> tuple[Row, ...]:
        """The calls that are forbidden for their arguments, for showing; a tool that is forbidden is said already."""
        found = [(index, call) for index, call in self._calls(trajectory) if self._is_forbidden(call)]
        return tuple(
            row_of("unexpected", None, call, number=index) for index, call in found if not self._is_plain(call)
        )

    def _is_plain(self, call: ToolCall) -> bool:
        return any(pattern.matches is None for pattern in self._meant(call))

    def _meant(self, call: ToolCall) -> list[Pattern]:
        """The bans of the call's tool, by its recorded name and by the one that expectations use."""
        own, alias = self.patterns.get(call.name, []), self.aliases.get(call.name)
        return own if alias is None or alias == call.name else own + self.patterns.get(alias, [])

    def _is_forbidden(self, call: ToolCall) -> bool:
        return any(pattern.accepts(call) for pattern in self._meant(call))

    def _calls(self, trajectory: Trajectory) -> Iterable[tuple[int, ToolCall]]:
        return numbered(trajectory.tool_calls or (), self.count)

    def _refuse_doubt(self, trajectory: Trajectory) -> None:
        for index, call in self._calls(trajectory):
            if call.arguments_state != "ok" and self._meant(call):
                raise doubt.arguments(Counted(calls=(call,), indices=(index,)), 0)
            if undecided := next(filter(None, (pattern.doubt(call) for pattern in self._meant(call))), None):
                raise undecided
        if unnamed := doubt.nameless(self._calls(trajectory)):
            raise unnamed
        if trajectory.gaps:
            raise doubt.gap(trajectory)

    def _finding(self, index: int, call: ToolCall) -> Finding:
        arguments = "" if self._is_plain(call) else " with the forbidden arguments"
        message = f"`{visible(call.name)}` was called{arguments} (call {index + 1}), which is forbidden."
        return Finding(code="forbidden", message=message, made_index=index)

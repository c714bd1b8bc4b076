"""From prepared data to tests: strict decoding, every mistake with its place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any, NoReturn, TypeVar

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from rightcall.assertions.sequence import ToolSequence
from rightcall.core.assertion import Assertion
from rightcall.core.counting import Count
from rightcall.core.personas import Persona
from rightcall.core.provenance import uses_results
from rightcall.core.rates import parse_rate
from rightcall.core.results import ONE
from rightcall.core.values import member
from rightcall.errors import TestSetError, Where
from rightcall.testsets.arguments import MisplacedError, settle
from rightcall.testsets.dialects.base import Dialect, renamed
from rightcall.testsets.explain import Problem, explain, found, unknown_key
from rightcall.testsets.keys import BESIDE, EXPECTATION_KEYS, CommonKeys, Keys, TestKeys, TurnKeys
from rightcall.testsets.marks import child, steps
from rightcall.testsets.model import Place, Test
from rightcall.testsets.source import Source
from rightcall.testsets.sugar import SETTINGS, Declared, declared, given, in_turn, weighed
from rightcall.testsets.tools import known_names, named_tools, schema_paths, schemas, source_tools, unknown_tool

Kinds = Mapping[str, type[Assertion]]
T = TypeVar("T")
MAY_BE_UNKNOWN = frozenset({"allowed_tools", "forbidden_tools", "budget"})
"""Kinds that may name tools the agent does not have: a policy is often wider than one agent."""

PLAIN_STEPS = frozenset({"orbit"})
"""Dialects whose sequences are lists of single calls."""


class Reader(msgspec.Struct, frozen=True, kw_only=True):
    """What reading needs to know besides the data: kinds, dialect, and where the data came from.

    `renames` maps native keys to those of the source, `paths` has the path of each test there, if it was another
    tool's file.
    """

    kinds: Kinds
    dialect: Dialect
    source: Source = Source()
    renames: dict[str, str] = {}
    paths: tuple[str, ...] | None = None

    def key(self, path: str) -> Where:
        """The place of a key or item."""
        return self.source.key(self.written(path))

    def start(self, path: str) -> Where:
        """The place of a test or an assertion, without a look into the line where lines are tests."""
        return self.source.start(self.written(path))

    def written(self, path: str) -> str:
        """The path as the source has it; of another tool's file that of the whole test."""
        if self.paths is not None:
            at = steps(path)[1:2]
            return self.paths[at[0]] if at and isinstance(at[0], int) else ""
        return renamed(path, self.renames) if self.renames else path

    def refuse(self, problem: Problem) -> NoReturn:
        """Raise the problem with its place."""
        find = self.source.key if problem.at == "key" else self.source.value
        raise TestSetError(problem.message, find(self.written(problem.path)))


def convert(value: Any, kind: type[T], path: str, reader: Reader) -> T:
    """The struct that a value decodes to, strictly."""
    try:
        return msgspec.convert(value, kind, dec_hook=_rate)
    except (msgspec.ValidationError, ValueError, RecursionError) as error:
        problem = explain(value, msgspec.inspect.type_info(kind), path)
        reader.refuse(problem or Problem(path, str(error)))


def _rate(kind: type, value: Any) -> Any:
    if kind is not Fraction:
        raise NotImplementedError
    return parse_rate(value)


class Common(msgspec.Struct, frozen=True, kw_only=True):
    """What a test set says for all its tests, decoded once. `schema_paths` has the path of each tool's schema."""

    keys: CommonKeys = CommonKeys()
    assertions: tuple[Declared, ...] = ()
    tool_schemas: dict[str, Any] = {}
    schema_paths: dict[str, str] = {}


def common(keys: CommonKeys, reader: Reader) -> Common:
    """What `keys` say for all tests."""
    return Common(
        keys=keys,
        assertions=tuple([weighed(item, keys.severity) for item in general(keys, keys, "", reader)]),
        tool_schemas=_tool_schemas(keys, "", reader),
        schema_paths=_schema_paths(keys, ""),
    )


def general(keys: Keys, defaults: CommonKeys, path: str, reader: Reader) -> Iterator[Declared]:
    """The assertions in their general form, with their `kind`."""
    at = child(path, "assertions")
    for index, value in enumerate(given(keys.assertions, ())):
        yield Declared(_assertion(value, defaults, child(at, index), reader), child(at, index))


def _assertion(value: dict[str, Any], defaults: CommonKeys, path: str, reader: Reader) -> Assertion:
    kind = value.get("kind")
    if kind is None:
        reader.refuse(Problem(path, "expected the key `kind`, which is missing"))
    if not isinstance(kind, str) or kind not in reader.kinds:
        reader.refuse(Problem(child(path, "kind"), _unknown_kind(kind, reader.kinds)))
    if kind == "trajectory":
        value = _completed(value, defaults)
    return convert(value, reader.kinds[kind], path, reader)


def _completed(value: dict[str, Any], defaults: CommonKeys) -> dict[str, Any]:
    """A trajectory assertion with the test set's defaults, and bare names as calls with any arguments."""
    common, calls = _settings(defaults), value.get("expected_tool_calls")
    if not isinstance(calls, list | tuple):
        return {**common, **value}
    named = [{"name": call} if isinstance(call, str) else call for call in calls]
    return {**common, **value, "expected_tool_calls": named}


def _unknown_kind(kind: Any, kinds: Kinds) -> str:
    if not isinstance(kind, str):
        return f"expected the name of a kind, found {found(kind)}"
    return unknown_key(kind, kinds).replace("key", "kind").replace("kinds here", "kinds")


def _turns(keys: TestKeys, shared: CommonKeys, path: str, reader: Reader) -> Iterator[Declared]:
    """The assertions of each turn, which the test's own keys and those of the test set are defaults for."""
    if not keys.turns:
        return
    defaults = replace(shared, check_schemas=UNSET, **_settings(keys))
    for index, turn in enumerate(given(keys.turns, ())):
        at = child(child(path, "turns"), index)
        _check_beside(turn, _said(turn), at, reader)
        for item in (*declared(turn, defaults, at), *general(turn, defaults, at, reader)):
            if item.assertion.turn is not None:
                message = f"this stands in turn {index + 1}, which says it; leave `turn` out"
                reader.refuse(Problem(child(item.path, "turn"), message, "key"))
            yield weighed(in_turn(item, index + 1), turn.severity)


def _settings(keys: CommonKeys | TestKeys) -> dict[str, Any]:
    return {name: getattr(keys, name) for name in SETTINGS if getattr(keys, name) is not UNSET}


def _schema_paths(keys: CommonKeys | TestKeys, path: str) -> dict[str, str]:
    tools = keys.tool_schemas
    return {} if isinstance(tools, UnsetType) else schema_paths(tools, child(path, "tool_schemas"))


def _tool_schemas(keys: CommonKeys | TestKeys, path: str, reader: Reader) -> dict[str, Any]:
    if isinstance(keys.tool_schemas, UnsetType):
        return {}
    try:
        return schemas(keys.tool_schemas, child(path, "tool_schemas"))
    except MisplacedError as error:
        reader.refuse(Problem(error.path, error.message))


def _check_aliases(aliases: Mapping[str, str], keys: TestKeys, path: str, reader: Reader) -> None:
    """An alias leads to a name at once: what leads on to a further one could hide a call from a ban."""
    for recorded, name in aliases.items():
        if aliases.get(name, name) != name:
            message = f"`{recorded}` leads to `{name}`, which is an alias itself; name the last one"
            at = child(path if recorded in keys.tool_aliases else "", "tool_aliases")
            reader.refuse(Problem(child(at, recorded), message))


def build(keys: TestKeys, shared: Common, path: str, position: int, reader: Reader, extra: dict[str, Any]) -> Test:
    """One test of its keys, its `x-…` keys and what its test set says for all."""
    placed = _expectations(keys, shared, path, reader)
    tool_schemas = {**shared.tool_schemas, **_tool_schemas(keys, path, reader)}
    tool_aliases = {**shared.keys.tool_aliases, **keys.tool_aliases}
    _check_aliases(tool_aliases, keys, path, reader)
    _check_names(placed, tool_schemas, tool_aliases, reader)
    return Test(
        id=given(keys.id, str(position)),
        positional=keys.id is UNSET,
        name=keys.name or "",
        requirement=keys.requirement,
        category=keys.category,
        topic=keys.topic,
        prompt=keys.prompt,
        turns=tuple([turn.prompt for turn in given(keys.turns, ())]),
        persona=_persona(keys, path, reader),
        tags=keys.tags,
        metadata=keys.metadata,
        extra=extra,
        assertions=tuple(assertion for assertion, _ in placed),
        places=tuple(place for _, place in placed),
        tool_schemas=tool_schemas,
        tool_aliases=tool_aliases,
        ignore_arguments=shared.keys.ignore_arguments + keys.ignore_arguments,
        count=given(keys.count, given(shared.keys.count, Count())),
        parallel=given(keys.parallel, given(shared.keys.parallel, "ordered")),
        repeat=keys.repeat,
        min_pass_rate=given(keys.min_pass_rate, ONE),
        min_assertion_rate=given(keys.min_assertion_rate, ONE),
        where=reader.start(path),
    )


def _persona(keys: TestKeys, path: str, reader: Reader) -> Persona | None:
    """Who speaks; nobody else may have lines then."""
    if isinstance(keys.persona, UnsetType):
        return None
    for key, is_said in (("turns", keys.turns is not UNSET), ("prompt", keys.prompt is not None)):
        if is_said:
            message = f"`{key}` cannot stand beside `persona`, who speaks instead; the first words are `first_message`"
            reader.refuse(Problem(child(path, key), message, "key"))
    return keys.persona


def _expectations(keys: TestKeys, shared: Common, path: str, reader: Reader) -> list[tuple[Assertion, Place]]:
    """The assertions of a test, its own and those of its test set, each with where it stands."""
    _check_beside(keys, _said_by_test(keys, path, reader), path, reader)
    own = [*declared(keys, shared.keys, path), *_turns(keys, shared.keys, path, reader)]
    own += general(keys, shared.keys, path, reader)
    _check_steps(own, reader)
    for severity in (keys.severity, shared.keys.severity):
        if severity is not UNSET:
            own = [weighed(item, severity) for item in own]
    schema_places = {**shared.schema_paths, **_schema_paths(keys, path)}
    return [_placed(item, schema_places, reader) for item in (*own, *shared.assertions)]


def _check_steps(items: Iterable[Declared], reader: Reader) -> None:
    """Refuse steps made of steps, and sequences that are more than a list, in dialects that do not know them."""
    for item in items if reader.dialect.name in PLAIN_STEPS else ():
        if isinstance(item.assertion, ToolSequence) and not item.assertion.is_plain:
            message = f"expected a list of steps `{{tool, match}}`: the dialect `{reader.dialect.name}` knows no others"
            reader.refuse(Problem(item.path, message))


def _placed(item: Declared, schema_places: Mapping[str, str], reader: Reader) -> tuple[Assertion, Place]:
    fields = {name: reader.written(path) for name, path in item.fields.items()}
    if item.assertion.__struct_config__.tag == "schema":
        fields |= {member("tool_schemas", name): reader.written(path) for name, path in schema_places.items()}
    place = Place(reader.start(item.path), fields)
    try:
        return settle(item.assertion, "", reader.dialect.arguments), place
    except MisplacedError as error:
        find = reader.source.key if error.at == "key" else reader.source.value
        raise TestSetError(error.message, find(place.path(error.path))) from None


def _said(keys: TurnKeys) -> set[str]:
    return {key for key in EXPECTATION_KEYS if getattr(keys, key, UNSET) is not UNSET}


def _said_by_test(keys: TestKeys, path: str, reader: Reader) -> set[str]:
    """The expectation keys of a test. Settings of what is expected in order speak for its turns too."""
    said = _said(keys)
    configuration = keys.test_configuration
    if configuration is not UNSET and configuration.expected_tool_calls is not UNSET:
        if "expected_tool_calls" in said:
            message = "`expected_tool_calls` is given twice, here and on the test itself"
            at = child(child(path, "test_configuration"), "expected_tool_calls")
            reader.refuse(Problem(at, message, "key"))
        said.add("expected_tool_calls")
    for turn in given(keys.turns, ()):
        said |= _said(turn) & {"expected_tool_calls", "expected_tool_sequence", "assertions"}
    return said


def _check_beside(keys: TurnKeys, said: set[str], path: str, reader: Reader) -> None:
    for key, others in BESIDE.items():
        if getattr(keys, key, UNSET) is not UNSET and said.isdisjoint(others):
            words = " or ".join(f"`{other}`" for other in others)
            reader.refuse(Problem(child(path, key), f"`{key}` has no effect without {words}", "key"))


def _check_names(
    placed: list[tuple[Assertion, Place]],
    tool_schemas: Mapping[str, Any],
    tool_aliases: Mapping[str, str],
    reader: Reader,
) -> None:
    """Refuse expected names that no tool has, when the tools are given (G27)."""
    known = known_names(tool_schemas, tool_aliases)
    for assertion, place in placed if known else ():
        named = () if assertion.__struct_config__.tag in MAY_BE_UNKNOWN else named_tools(assertion)
        for path, name in (*named, *(source_tools(assertion) if uses_results(assertion) else ())):
            if name not in known:
                raise TestSetError(unknown_tool(name, known), reader.source.value(place.path(path)))

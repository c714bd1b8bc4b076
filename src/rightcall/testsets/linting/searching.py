"""Is there a trajectory that passes, and one that fails each expectation? Found by making small ones and grading them.

A search by the best first, over the calls that the test mentions and one that it does not: the fewest expectations
unmet, then the fewest calls. What is found is proven by the real grader. What is not found within the limit is only
not found, and is said so; where what is expected leaves finitely many trajectories, all of them are tried, and then
that there is none is proven.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, permutations, product
from typing import Any, Final

import msgspec

from rightcall.core.assertion import Compiled, judge
from rightcall.core.calls import ToolCall, Trajectory
from rightcall.core.counting import Count
from rightcall.core.operators import Operator
from rightcall.core.patterns import ExpectedCall, Match
from rightcall.core.results import Outcome, attempt_outcome
from rightcall.core.values import freeze
from rightcall.core.verdicts import Status
from rightcall.testsets.linting.calls import LONGEST, MOST_TOGETHER, MOST_VARIANTS, Vocabulary
from rightcall.testsets.linting.demands import cannot_fail, is_plain
from rightcall.testsets.linting.subject import Expectation, Subject

MOST_TRIED: Final = 5_000
"""Trajectories that are graded for one question."""

MOST_CALLS: Final = 1_000_000
"""Calls in all trajectories that are made for one question, also in those that are made again and not graded."""

SEARCHED: Final = frozenset(
    {"trajectory", "arguments", "sequence", "required_tool", "allowed_tools", "forbidden_tools", "selection"}
    | {"budget", "rule"}
)
"""Kinds that decide by names, arguments and order alone, so that calls can be made up for them."""

Calls = tuple[ToolCall, ...]


class Outlook(msgspec.Struct):
    """What was found: for each expectation the statuses that it can have, and whether all can pass at once.

    `tried` trajectories of up to `longest` calls were graded; `whole` says that there are no others to try.
    """

    statuses: dict[str, set[Status]]
    passes: bool = False
    tried: int = 0
    longest: int = 0
    made: int = 0
    whole: bool = False

    @property
    def words(self) -> str:
        """How far the search went."""
        if self.whole:
            return (
                f"all {self.tried:,} that could were tried" if self.tried > 1 else "the only one that could was tried"
            )
        return f"{self.tried:,} trajectories of up to {self.longest:,} calls were tried"

    @property
    def is_exhausted(self) -> bool:
        """Whether no more may be tried."""
        return self.tried >= MOST_TRIED or self.made >= MOST_CALLS


class Search:
    """Trajectories for some expectations of a test, tried one by one."""

    def __init__(self, subject: Subject, expectations: Sequence[Expectation]) -> None:
        self.subject = subject
        self.expectations = tuple(expectations)
        self.words = Vocabulary(subject=subject, expectations=self.expectations)
        self.known: dict[Any, ToolCall] = {_key(call): call for call in self.words.calls}
        self.compiled: list[Compiled] = [expectation.compiled for expectation in self.expectations]
        self.outlook = Outlook({compiled.id: set() for compiled in self.compiled})
        turns = max((scope.turn or 1 for scope in self.words.scopes if scope is not None), default=1)
        # A turn that was not recorded could not be judged.
        self.messages = [
            {"role": role, "content": "-"} for _ in range(min(turns, 1000)) for role in ("user", "assistant")
        ]

    def look(self, *, until_failed: bool) -> Outlook:
        """Search until a trajectory passes and, with `until_failed`, each expectation has failed once."""
        seen: set[tuple[int, ...]] = set()
        # Two orders in turn: the fewest calls, and the first found, which are what the test asks for and changes to it.
        heaps: list[list[tuple[int, int, int, Calls]]] = [[], []]
        batch: Iterator[Calls] = map(self._interned, self._starts())
        while True:
            for calls in batch:
                self.outlook.made += len(calls) + 1
                key = tuple(map(id, calls))
                if key not in seen and len(calls) <= LONGEST:
                    seen.add(key)
                    unmet = self.grade(calls)
                    heapq.heappush(heaps[0], (unmet, len(calls), len(seen), calls))
                    heapq.heappush(heaps[1], (unmet, 0, len(seen), calls))
                if self._is_done(until_failed) or self.outlook.is_exhausted:
                    return self.outlook
            heaps.reverse()
            if not heaps[0]:
                return self.outlook
            batch = self._neighbours(heapq.heappop(heaps[0])[-1])

    def _interned(self, calls: Calls) -> Calls:
        """The same calls as the same objects, so that trajectories are told apart at once."""
        return tuple([self.known.setdefault(_key(call), call) for call in calls])

    def grade(self, calls: Calls) -> int:
        """Grade one trajectory and return how many expectations do not pass."""
        trajectory = Trajectory(tool_calls=calls, messages=self.messages)
        verdicts = [judge(trajectory, compiled) for compiled in self.compiled]
        outlook = self.outlook
        for verdict in verdicts:
            outlook.statuses[verdict.id].add(verdict.status)
        outlook.tried += 1
        outlook.longest = max(outlook.longest, len(calls))
        blocking = [verdict for verdict in verdicts if verdict.severity == "block"]
        outcome = attempt_outcome(blocking, self.subject.test.test.min_assertion_rate)
        outlook.passes = outlook.passes or outcome == Outcome.PASS
        return sum(verdict.status != Status.PASS for verdict in blocking)

    def _is_done(self, until_failed: bool) -> bool:
        return self.outlook.passes and not (until_failed and self._never_failed())

    def _never_failed(self) -> bool:
        """Whether some expectation has not failed yet, though it is not proven that it cannot."""
        statuses = self.outlook.statuses
        return any(Status.FAIL not in statuses[one.compiled.id] for one in self.expectations if not cannot_fail(one))

    def _starts(self) -> Iterator[Calls]:
        """What each expectation asks for, all of them together, a stranger, nothing, and more than budgets allow."""
        wanted = [tuple(self.words.wanted(expectation)) for expectation in self.expectations]
        stranger = next(call for call in self.words.calls if call.name == self.words.stranger)
        longest = max(wanted, key=len, default=())
        yield from (longest, _united(longest, wanted), tuple(call for calls in wanted for call in calls))
        yield from ((), (stranger,), *wanted, *((*calls, stranger) for calls in wanted))
        yield from (tuple(reversed(calls)) for calls in wanted)
        yield from ((call,) for call in self.words.calls[:MOST_VARIANTS])
        yield from self._repeated(stranger)

    def _repeated(self, stranger: ToolCall) -> Iterator[Calls]:
        failed = msgspec.structs.replace(stranger, status="error")
        found = {number: None for expectation in self.expectations for number in _numbers(expectation.assertion)}
        numbers = {more: None for number in found for more in (number, number + 1)}
        for number in numbers:
            if number <= LONGEST:
                yield from ((call,) * number for call in (stranger, failed, *self.words.calls[:MOST_TOGETHER]))

    def _neighbours(self, calls: Calls) -> Iterator[Calls]:
        """One call more, less, moved, or another in its place."""
        for at in range(len(calls)):
            yield (*calls[:at], *calls[at + 1 :])
        for call in self.known.values():
            yield from ((*calls[:at], call, *calls[at:]) for at in range(len(calls), -1, -1))
        for at in range(len(calls) - 1):
            yield (*calls[:at], calls[at + 1], calls[at], *calls[at + 2 :])
        for call in self.known.values():
            yield from ((*calls[:at], call, *calls[at + 1 :]) for at in range(len(calls)))


def look(subject: Subject, expectations: Sequence[Expectation]) -> Outlook:
    """What can become of some expectations of a test; all that could pass are tried where these are finitely many."""
    return _all_tried(subject, expectations) or Search(subject, expectations).look(until_failed=True)


def can_pass(subject: Subject, expectations: Sequence[Expectation]) -> Outlook:
    """Whether some expectations of a test can pass at once."""
    return _all_tried(subject, expectations) or Search(subject, expectations).look(until_failed=False)


def _all_tried(subject: Subject, expectations: Sequence[Expectation]) -> Outlook | None:
    """Proof that nothing passes; `None` if something does, or if there is too much to try."""
    search = Search(subject, expectations)
    finite = all_that_could(search)
    for calls in finite or ():
        search.grade(calls)
        if search.outlook.passes:
            return None
    search.outlook.whole = True
    return None if finite is None else search.outlook


def all_that_could(search: Search) -> list[Calls] | None:
    """All trajectories that could pass, but for what makes no difference; `None` if they are not known to be few.

    They are few where no calls are allowed, or where the calls are expected as `exact` or `any_order`, with plain
    arguments. Arguments are then told apart by which of the expected ones they have, and by having one more.
    """
    if not _is_plain(search):
        return None
    for expectation in search.expectations:
        assertion: Any = expectation.assertion
        if expectation.kind == "allowed_tools" and not assertion.tools:
            return [()] if expectation.blocks else None
        if expectation.kind == "trajectory" and expectation.blocks:
            orders = _orders(assertion)
            if orders is not None:
                return _with_arguments(search, orders)
    return None


def _is_plain(search: Search) -> bool:
    setting, words = search.subject.setting, search.words
    mentions = [mention for expectation in search.expectations for mention in expectation.mentions]
    is_open = any(not is_plain(mention.pattern) for mention in mentions)
    has_many = any(len(each) >= MOST_VARIANTS for each in words.arguments.values())
    said = [sum(mention.pattern.matches is not None for mention in each) for each in words.by_tool.values()]
    has_options = setting.tool_aliases or setting.count != Count() or words.scopes != (None,)
    has_options = has_options or setting.parallel_unordered or any(map(_looks_beyond, search.expectations))
    rate = search.subject.test.test.min_assertion_rate
    return rate == 1 and not (is_open or has_many or has_options or max(said, default=0) > MOST_TOGETHER)


def _looks_beyond(expectation: Expectation) -> bool:
    """Whether it looks at more than names, arguments and order: at success, or at which calls are of one message."""
    assertion: Any = expectation.assertion
    return expectation.kind == "trajectory" and (assertion.only_successful or assertion.parallel == "unordered")


def _orders(assertion: Any) -> list[tuple[str, ...]] | None:
    """The names of the calls that could be made, in each order in which they could be."""
    names = tuple(call.name for call in assertion.expected_tool_calls)
    if not names or assertion.match == "exact":
        return [names]
    if assertion.match == "any_order" and len(names) <= MOST_TOGETHER:
        return list(dict.fromkeys(permutations(names)))
    return None


def _with_arguments(search: Search, orders: Iterable[tuple[str, ...]]) -> list[Calls] | None:
    arguments = search.words.arguments
    made = (
        tuple(search.words.call(name, each, None) for name, each in zip(names, chosen, strict=True))
        for names in orders
        for chosen in product(*(arguments[name] for name in names))
    )
    found = list(islice(made, MOST_TRIED + 1))
    return found if len(found) <= MOST_TRIED else None


def _united(first: Calls, others: Iterable[Calls]) -> Calls:
    """The first calls, and of each of the others those whose tool is not among them yet."""
    united = list(first)
    for calls in others:
        names = {call.name for call in united}
        united += [call for call in calls if call.name not in names]
    return tuple(united)


def _key(call: ToolCall) -> Any:
    return call.name, freeze(call.arguments), call.status, call.turn, call.agent


def _numbers(value: Any) -> Iterator[int]:
    """Numbers of calls that an assertion speaks of."""
    waiting = [value]
    for item in waiting:
        if isinstance(item, int) and not isinstance(item, bool):
            yield item
        elif isinstance(item, tuple):
            waiting += item
        elif isinstance(item, dict):
            waiting += item.values()
        elif isinstance(item, msgspec.Struct) and not isinstance(item, ExpectedCall | Match | Operator):
            waiting += [getattr(item, field) for field in item.__struct_fields__]

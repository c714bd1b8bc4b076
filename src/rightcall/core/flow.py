"""Maximum one-to-one matching where patterns compete: a flow between classes of equal members (G18, G19, G22)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from rightcall.core.assertion import CannotJudge

MAX_CHECKS = 5_000_000
"""Compatibility checks, or steps of search, for pairing the calls of one tool, at most (G22)."""


class Budget:
    """Counts compatibility checks and ends the judgement at the limit instead of hanging (G22)."""

    def __init__(self, limit: int | None = None) -> None:
        self.limit = self.left = MAX_CHECKS if limit is None else limit

    def spend(self, checks: int) -> None:
        """Take `checks` from what is left; `CannotJudge` when it is not enough."""
        self.left -= checks
        if self.left < 0:
            raise CannotJudge("limit", f"Lining up the calls took more than {self.limit:,} comparisons, the limit.")


class Flow:
    """A flow from classes of equal patterns to classes of calls that the same patterns accept.

    Members of a class are interchangeable, so ten thousand equal calls are one node with that capacity and
    augmenting paths are searched only where different patterns compete.
    """

    def __init__(self, found: Sequence[tuple[int, ...]]) -> None:
        shared = {id(positions): positions for positions in found}
        self.positions = list(dict.fromkeys(shared.values()))
        number = {positions: at for at, positions in enumerate(self.positions)}
        class_of = {key: number[positions] for key, positions in shared.items()}
        self.class_of = [class_of[id(positions)] for positions in found]
        self.cell_of = _cells(self.positions)
        self.capacity = [0] * (max(self.cell_of.values(), default=-1) + 1)
        for cell in self.cell_of.values():
            self.capacity[cell] += 1
        self.cells = [list(dict.fromkeys(self.cell_of[at] for at in positions)) for positions in self.positions]
        self.flow: list[dict[int, int]] = [{} for _ in self.positions]
        self.users: list[dict[int, int]] = [{} for _ in self.capacity]
        self.cursor = [0] * len(self.positions)
        self.blocked: set[int] = set()
        self.refused: set[tuple[int, int]] = set()
        self.budget = Budget()

    def cover(self) -> list[bool]:
        """Send one unit for each expected position, in order; whether each could be sent.

        Taking each position that can still be covered is exact: the coverable sets form a matroid.
        """
        return [self._augment(pattern_class) for pattern_class in self.class_of]

    def _augment(self, start: int) -> bool:
        if start in self.blocked:
            return False
        steps = self._search(start, self._free_cell)
        if steps is None:
            return False
        self.capacity[steps[-1][1]] -= 1
        self._shift(steps)
        return True

    def _free_cell(self, pattern_class: int) -> int | None:
        """A cell of the class with room, found by a cursor: while covering, a full cell stays full."""
        cells = self.cells[pattern_class]
        for at in range(self.cursor[pattern_class], len(cells)):
            if self.capacity[cells[at]]:
                self.cursor[pattern_class] = at
                return cells[at]
        self.cursor[pattern_class] = len(cells)
        return None

    def _search(self, start: int, goal_of: Callable[[int], int | None]) -> list[tuple[int, int]] | None:
        """A shortest alternating path as (class, cell) steps, the last cell a goal; blocks what leads nowhere."""
        came_from: dict[int, tuple[int, int] | None] = {start: None}
        seen_cells: set[int] = set()
        queue = deque([start])
        while queue:
            here = queue.popleft()
            goal = goal_of(here)
            if goal is not None:
                return _trace(came_from, here, goal)
            self.budget.spend(len(self.cells[here]))
            for cell in self.cells[here]:
                if cell not in seen_cells:
                    seen_cells.add(cell)
                    for user in self.users[cell]:
                        if user not in came_from and user not in self.blocked:
                            came_from[user] = (here, cell)
                            queue.append(user)
        self.blocked.update(came_from)
        return None

    def _shift(self, steps: list[tuple[int, int]]) -> None:
        """Each class on the path sends one unit more to its cell and the next class one unit less there."""
        for number, (pattern_class, cell) in enumerate(steps):
            self._change(pattern_class, cell, 1)
            if number + 1 < len(steps):
                self._change(steps[number + 1][0], cell, -1)

    def _change(self, pattern_class: int, cell: int, units: int) -> None:
        amount = self.flow[pattern_class].get(cell, 0) + units
        if amount:
            self.flow[pattern_class][cell] = self.users[cell][pattern_class] = amount
        else:
            self.flow[pattern_class].pop(cell, None)
            self.users[cell].pop(pattern_class, None)

    def pairs(self) -> list[int | None]:
        """Cover, then give each covered position, in order, the least made position that leaves the rest whole."""
        covered = self.cover()
        self.blocked.clear()
        self.cursor = [0] * len(self.positions)
        used: set[int] = set()
        return [
            self._settle(pattern_class, used) if is_covered else None
            for pattern_class, is_covered in zip(self.class_of, covered, strict=True)
        ]

    def _settle(self, pattern_class: int, used: set[int]) -> int:
        positions = self.positions[pattern_class]
        while True:
            position = positions[self.cursor[pattern_class]]
            cell = self.cell_of[position]
            if position not in used and (cell in self.flow[pattern_class] or self._reroute(pattern_class, cell)):
                self._change(pattern_class, cell, -1)
                used.add(position)
                return position
            self.cursor[pattern_class] += 1

    def _reroute(self, pattern_class: int, cell: int) -> bool:
        """Let the class send a unit to this cell instead of another, if the others can make way.

        A refusal is final: settling positions only ever takes choices away.
        """
        if (pattern_class, cell) in self.refused:
            return False
        if self.capacity[cell]:
            self.capacity[cell] -= 1
            self._release(pattern_class)
            self._change(pattern_class, cell, 1)
            return True
        return self._push_out(pattern_class, cell)

    def _release(self, pattern_class: int) -> None:
        other = next(iter(self.flow[pattern_class]))
        self._change(pattern_class, other, -1)
        self.capacity[other] += 1

    def _push_out(self, pattern_class: int, cell: int) -> bool:
        released = frozenset(self.flow[pattern_class])
        for user in list(self.users[cell]):
            steps = self._detour(user, cell, released)
            if steps is None:
                continue
            goal = steps[-1][1]
            self._shift(steps)
            self._change(user, cell, -1)
            if goal in released:
                self._change(pattern_class, goal, -1)
            else:
                self.capacity[goal] -= 1
                self._release(pattern_class)
            self._change(pattern_class, cell, 1)
            return True
        self.refused.add((pattern_class, cell))
        return False

    def _detour(self, start: int, without: int, released: frozenset[int]) -> list[tuple[int, int]] | None:
        """A path from a class to a cell that is free or about to be released, but for the cell it has to leave."""

        def goal_of(pattern_class: int) -> int | None:
            for cell in self.cells[pattern_class]:
                if cell != without and (self.capacity[cell] or cell in released):
                    return cell
            return None

        blocked, self.blocked = self.blocked, set()
        steps = self._search(start, goal_of)
        self.blocked = blocked
        return steps


def _trace(came_from: dict[int, tuple[int, int] | None], last: int, cell: int) -> list[tuple[int, int]]:
    """Walk a search back to its start: the steps in order."""
    steps = [(last, cell)]
    step = came_from[last]
    while step is not None:
        steps.append(step)
        step = came_from[step[0]]
    return steps[::-1]


def _cells(pattern_positions: Sequence[tuple[int, ...]]) -> dict[int, int]:
    """Number the made positions by the set of pattern classes that accept them: equal sets, equal cells."""
    accepted_by: dict[int, list[int]] = {}
    for pattern_class, positions in enumerate(pattern_positions):
        for position in positions:
            accepted_by.setdefault(position, []).append(pattern_class)
    numbers: dict[tuple[int, ...], int] = {}
    return {position: numbers.setdefault(tuple(by), len(numbers)) for position, by in accepted_by.items()}

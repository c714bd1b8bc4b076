"""Every code that a finding can have is on the page of the codes, and no other."""

from __future__ import annotations

import ast
import re
import typing
from collections.abc import Iterator
from typing import Final

from rightcall.assertions.selection import Misalignment
from rightcall.assertions.selection.judged import Misjudged
from rightcall.core.failing import CRASHED
from support.pages import DOCS, PROJECT

ROOMS: Final = ("core", "assertions", "judges", "app")
RAISED: Final = ("CannotJudge", "Undecided", "NothingToJudge")
PAGE: Final = (DOCS / "codes.md").read_text("utf-8")


def texts(node: ast.expr) -> set[str]:
    """The texts that an expression may have as its value, as far as they stand in it."""
    if isinstance(node, ast.IfExp):
        return texts(node.body) | texts(node.orelse)
    return {node.value} if isinstance(node, ast.Constant) and isinstance(node.value, str) else set()


def codes_in(tree: ast.AST) -> Iterator[str]:
    """What is given as a `code`, put into a variable of that name, or raised as the reason why nothing is judged."""
    for node in ast.walk(tree):
        match node:
            case ast.keyword(arg="code", value=value) | ast.Assign(targets=[ast.Name(id="code")], value=value):
                yield from texts(value)
            case ast.Call(func=ast.Name(id=name), args=[first, *_]) if name in RAISED:
                yield from texts(first)


def written() -> set[str]:
    """The codes that stand in the source, without those that are made of other words."""
    files = [file for room in ROOMS for file in (PROJECT / "src" / "rightcall" / room).rglob("*.py")]
    return {code for file in files for code in codes_in(ast.parse(file.read_text("utf-8")))}


def test_the_page_has_every_code() -> None:
    """Those in the source, those of the choice of tools, that of our own mistakes, and nothing that is gone."""
    categories = typing.get_args(typing.get_type_hints(Misalignment)["category"])
    judged = typing.get_args(typing.get_type_hints(Misjudged)["verdict"])
    made = {*(category.replace("-", "_") for category in categories), *judged, CRASHED}
    cells = re.findall(r"^\| (`.+?) \|", PAGE, re.MULTILINE)
    described = {code for cell in cells for code in re.findall(r"`(\w+)`", cell)}
    assert written() | made == described


def test_codes_are_found_where_they_are_written() -> None:
    """The search itself sees each way to write one."""
    source = "Finding(code='a'); code = 'b' if x else 'c' if y else z; raise CannotJudge('d', 'why')"
    assert set(codes_in(ast.parse(source))) == {"a", "b", "c", "d"}

"""What strings look like: `$regex`, `$starts_with`, `$ends_with`, `$text`."""

from __future__ import annotations

import unicodedata
from typing import Any, ClassVar, Literal

from rightcall.core.assertion import RegexEngine
from rightcall.core.operators.base import Accepts, Making, Operator, text_named
from rightcall.core.operators.presence import type_note
from rightcall.core.values import display
from rightcall.errors import TestSetError, Where


def _not_a_string(actual: Any) -> str:
    return "" if isinstance(actual, str) else type_note(actual)


class Regex(Operator, frozen=True, kw_only=True, eq=False):
    """A string in which this JavaScript regular expression is found; `$flags` beside it has its flags (G28).

    It is not anchored, and has a time limit. `engine` runs it where it is compared by `==`, outside a test.
    """

    name: ClassVar[str] = "$regex"
    pattern: str
    flags: str = ""
    engine: RegexEngine | None = None

    def __post_init__(self) -> None:
        text_named("pattern", self.pattern)
        text_named("flags", self.flags)

    def compile(self, making: Making) -> Accepts:
        """Accept strings that hold a match."""
        engine = making.regex or self.engine
        if engine is None:
            raise TestSetError("there is no engine here to run a regular expression", Where(path=self.name))
        try:
            found = engine(self.pattern, self.flags)
        except ValueError as error:
            raise TestSetError(f"not a regular expression: {error}", Where(path=self.name)) from None
        return lambda actual: isinstance(actual, str) and found(actual)

    def form(self) -> dict[str, Any]:
        """The pattern, and the flags if there are any."""
        return {self.name: self.pattern, "$flags": self.flags} if self.flags else {self.name: self.pattern}

    def words(self) -> str:
        """`matching /late/i`."""
        return f"matching /{self.pattern}/{self.flags}"

    def note(self, actual: Any, making: Making) -> str:
        """The type of what is no string."""
        return _not_a_string(actual)


class _Affix(Operator, frozen=True, kw_only=True, eq=False):
    says: ClassVar[str]
    value: str

    def __post_init__(self) -> None:
        text_named("value", self.value)

    def words(self) -> str:
        """`starting with "ord_"`."""
        return f"{self.says} {display(self.value)}"

    def note(self, actual: Any, making: Making) -> str:
        """The type of what is no string."""
        return _not_a_string(actual)


class StartsWith(_Affix, frozen=True, kw_only=True, eq=False):
    """A string that starts with this text."""

    name: ClassVar[str] = "$starts_with"
    says: ClassVar[str] = "starting with"

    def compile(self, making: Making) -> Accepts:
        """Accept strings that start so."""
        return lambda actual: isinstance(actual, str) and actual.startswith(self.value)


class EndsWith(_Affix, frozen=True, kw_only=True, eq=False):
    """A string that ends with this text."""

    name: ClassVar[str] = "$ends_with"
    says: ClassVar[str] = "ending with"

    def compile(self, making: Making) -> Accepts:
        """Accept strings that end so."""
        return lambda actual: isinstance(actual, str) and actual.endswith(self.value)


class Text(Operator, frozen=True, kw_only=True, eq=False):
    """A string equal to `value` but for what is ignored.

    `ignore_case` compares after full Unicode case folding, in no language in particular. `ignore_space` takes each
    run of white space for one space, and none at the ends. `normalize` compares in a Unicode normal form: `NFC` (or
    `true`), in which the two spellings of an accented letter are one, or `NFKC`, in which ligatures, no-break
    spaces and other compatibility characters are also what they stand for.
    """

    name: ClassVar[str] = "$text"
    record: ClassVar[bool] = True
    value: str
    ignore_case: bool = False
    ignore_space: bool = False
    normalize: bool | Literal["NFC", "NFKC"] = False

    def __post_init__(self) -> None:
        text_named("value", self.value)
        if self.normalize not in (True, False, "NFC", "NFKC"):
            message = f"expected `NFC`, `NFKC` or true, found {display(self.normalize)}"
            raise TestSetError(message, Where(path="normalize"))

    def compile(self, making: Making) -> Accepts:
        """Accept strings that are reduced to the same."""
        wanted = self._reduced(self.value)
        return lambda actual: isinstance(actual, str) and self._reduced(actual) == wanted

    def _reduced(self, text: str) -> str:
        text = self._normalized(text)
        if self.ignore_case:
            text = self._normalized(text.casefold())
        return " ".join(text.split()) if self.ignore_space else text

    def _normalized(self, text: str) -> str:
        if not self.normalize:
            return text
        return unicodedata.normalize("NFC" if self.normalize is True else self.normalize, text)

    def argument(self) -> Any:
        """The value with what is ignored."""
        given = {"ignore_case": self.ignore_case, "ignore_space": self.ignore_space, "normalize": self.normalize}
        return {"value": self.value, **{key: value for key, value in given.items() if value}}

    def words(self) -> str:
        """`equal to "Late" (ignore_case)`."""
        options = [f"{key} {value}" if isinstance(value, str) else key for key, value in self.argument().items()]
        ignored = ", ".join(options[1:])
        return f"equal to {display(self.value)}" + (f" ({ignored})" if ignored else "")

    def note(self, actual: Any, making: Making) -> str:
        """The type of what is no string."""
        return _not_a_string(actual)

"""The command line: `rightcall COMMAND …`, one module a command, imported when it is called.

Nothing that takes its time is imported before `main` can answer an interruption.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_INCOMPLETE = 3
_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command and exit with its code."""
    sys.unraisablehook = _unraisable
    sys.exit(_code(sys.argv[1:] if arguments is None else arguments))


def execute(arguments: Sequence[str]) -> int:
    """Run a command and return its exit code (G39), whatever goes wrong."""
    from rightcall.faces.cli.guard import guarded
    from rightcall.faces.cli.root import invoke

    return guarded(lambda: invoke(arguments))


def _code(arguments: Sequence[str]) -> int:
    """Run a command; the code it came to stays, whatever happens to the streams and however late."""
    code: int | None = None
    try:
        from rightcall.faces.cli import streams

        streams.heed_termination()
        streams.prepare_streams()
        code = execute(arguments)
        streams.settle()
    except KeyboardInterrupt:
        return _interrupted() if code is None else code
    except Exception:
        # Only where the program itself is not whole: everything else has been told already.
        import traceback

        _tell(traceback.format_exc())
    return _INCOMPLETE if code is None else code


def _unraisable(ignored: sys.UnraisableHookArgs) -> None:
    """End the program when it is interrupted where Python ignores exceptions, such as between two imports."""
    if issubclass(ignored.exc_type, KeyboardInterrupt):
        os._exit(_interrupted())
    sys.__unraisablehook__(ignored)


def _interrupted() -> int:
    _tell("interrupted\n")
    return _INTERRUPTED


def _tell(text: str) -> None:
    """Write to the standard error with nothing but the system, since an import may have been broken off."""
    try:
        os.write(2, text.encode("utf-8", "backslashreplace"))
    except OSError:
        return

"""Functions of users, found by `path.py:function` or `module:function`.

A file or module runs when it is loaded, once a process, with all that the process may do. What names it is a test set
or a command, never recorded data.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import importlib.util
import inspect
import os
import sys
import traceback
from collections.abc import Callable
from importlib.machinery import SourceFileLoader
from types import CodeType, ModuleType
from typing import Any

from rightcall.core.judging import told
from rightcall.errors import did_you_mean


class CannotLoad(Exception):
    """There is no such file, module or function, or it cannot be loaded; the message says why."""


def function(named: str, directory: str) -> Callable[..., Any]:
    """The function that `path.py:function` or `module:function` names; `CannotLoad` if there is none.

    Like that of a script, the folder of a file is added to where modules are looked for; so is `directory` for a
    module. Later parts of the name may be attributes: `module:agent.run`.
    """
    place, _, name = named.rpartition(":")
    if not place or not name:
        raise CannotLoad(f"expected `path.py:function` or `module:function`, found `{named}`")
    found = _member(_agent_module(place, directory), place, name)
    if not callable(found):
        raise CannotLoad(f"`{name}` of `{place}` is no function; it is of the type `{type(found).__name__}`")
    made: Callable[..., Any] = found
    return made


def _agent_module(place: str, directory: str) -> ModuleType:
    if not place.endswith(".py"):
        _add_folder(os.path.abspath(directory))
        return _imported(place)
    path = os.path.abspath(os.path.join(directory, place))
    if not os.path.isfile(path):
        raise CannotLoad(f"there is no file `{place}`; a path is relative to the test set's file")
    _add_folder(os.path.dirname(path))
    return of_file(path, place)


def _add_folder(folder: str) -> None:
    if folder not in sys.path:
        sys.path.insert(0, folder)


def _member(module: ModuleType, place: str, name: str) -> Any:
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part):
            known = [key for key, value in vars(module).items() if callable(value)]
            raise CannotLoad(f"`{place}` has no function `{name}`{did_you_mean(name, known)}")
        found = getattr(found, part)
    return found


def _imported(name: str) -> ModuleType:
    try:
        with contextlib.redirect_stdout(sys.stderr):
            return importlib.import_module(name)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        advice = "; a file is named with its ending: `path.py:function`" if isinstance(error, ImportError) else ""
        raise CannotLoad(f"the module `{name}` cannot be imported: {told(error)}{advice}") from error


class _Source(SourceFileLoader):
    """Reads a file as it is now: bytecode that is kept would stand for it if it was edited within the same second."""

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.get_data(self.path), self.path)


@functools.cache
def of_file(path: str, shown: str) -> ModuleType:
    """The module of a file, under a name of its own; `CannotLoad` with the line if it raises."""
    name = f"rightcall_code_{hashlib.sha256(path.encode('utf-8', 'surrogateescape')).hexdigest()[:16]}"
    spec = importlib.util.spec_from_file_location(name, path, loader=_Source(name, path))
    if spec is None or spec.loader is None:
        raise CannotLoad(f"`{shown}` is no file of Python")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickle look for the module of a class there
    try:
        with contextlib.redirect_stdout(sys.stderr):
            spec.loader.exec_module(module)
    except KeyboardInterrupt:
        del sys.modules[name]
        raise
    except BaseException as error:
        del sys.modules[name]
        raise CannotLoad(f"`{shown}` cannot be loaded: {placed(error, path)}") from error
    return module


def placed(error: BaseException, path: str) -> str:
    """The exception, and the last line of the file that it came through."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    line = f" (line {lines[-1]})" if lines else ""
    return f"{told(error)}{line}"


def source_file(call: Callable[..., Any]) -> str:
    """The file that a function is written in; empty if none is known."""
    inner: Any = inspect.unwrap(call)
    inner = inner if inspect.isroutine(inner) or isinstance(inner, type) else type(inner)
    try:
        return inspect.getsourcefile(inner) or ""
    except TypeError:
        return ""

"""Functions of users' files, found by `path.py:function`: the `CodeLoader` that is handed to the core.

A file runs when it is loaded, once a process, with all that the process may do; it is named by a test set file,
never by recorded data. It is a module of its own name, and no folder is added to where modules are looked for.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable
from types import ModuleType
from typing import Any

from rightcall.agents import loading, printing
from rightcall.core.assertion import CodeLoader
from rightcall.core.calls import Trajectory
from rightcall.errors import TestSetError, did_you_mean


def loader(test_set: str) -> CodeLoader:
    """The loader for a test set file: paths in it are relative to where it lies."""
    return functools.partial(load, os.path.dirname(test_set))


def load(folder: str, named: str) -> Callable[[Trajectory], Any]:
    """The function that `path.py:function` names; `TestSetError` if there is none."""
    file, _, name = named.rpartition(":")
    path = os.path.abspath(os.path.join(folder, file))
    if not os.path.isfile(path):
        raise TestSetError(f"there is no file `{file}`; a path is relative to the test set's file")
    module = _module(path, file)
    function = getattr(module, name, None)
    if function is None:
        known = [key for key, value in vars(module).items() if inspect.isroutine(value)]
        raise TestSetError(f"`{file}` has no function `{name}`{did_you_mean(name, known)}")
    if not callable(function) or inspect.iscoroutinefunction(function):
        kind = "is asynchronous" if callable(function) else "is no function"
        raise TestSetError(f"`{name}` of `{file}` {kind}; expected a function that takes the trajectory and returns")
    return printing.apart(function)


def _module(path: str, shown: str) -> ModuleType:
    try:
        return loading.of_file(path, shown)
    except loading.CannotLoad as error:
        raise TestSetError(str(error)) from error.__cause__

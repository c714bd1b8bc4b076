"""A real browser without a window, for pages that are files. It is offline: what a page asks for besides fails."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import msgspec
import pytest
from playwright.sync_api import Browser, Page, Request, sync_playwright

PROGRAMS: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
MISSING: Final = f"there is no browser: none of {', '.join(PROGRAMS)} is on the path"


class Seen(msgspec.Struct):
    """What a page asked for, and what its console and its errors say."""

    requests: list[str] = []
    messages: list[str] = []


def program() -> str | None:
    """The first browser that is installed."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


@contextmanager
def browser() -> Iterator[Browser]:
    """A browser with a profile of its own that is empty; without one the test is skipped, and fails in CI."""
    found = program()
    if found is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(MISSING)
    with sync_playwright() as started:
        opened = started.chromium.launch(executable_path=found, args=list(FLAGS))
        yield opened
        opened.close()


@contextmanager
def page(opened: Browser, file: Path, *, scripts: bool = True, dark: bool = False, width: int = 1280) -> Iterator[Page]:
    """A page that shows a file. It must say nothing on its console and ask for nothing but that file."""
    context = opened.new_context(
        offline=True,
        java_script_enabled=scripts,
        color_scheme="dark" if dark else "light",
        viewport={"width": width, "height": 900},
    )
    shown, seen = context.new_page(), Seen()
    shown.on("request", lambda request: seen.requests.append(_address(request)))
    shown.on("console", lambda message: seen.messages.append(message.text))
    shown.on("pageerror", lambda error: seen.messages.append(str(error)))
    shown.goto(file.as_uri())
    yield shown
    context.close()
    assert seen == Seen([file.as_uri()], [])


def _address(request: Request) -> str:
    return request.url.partition("#")[0]

"""Files behind URLs (`https://`, `s3://`, …), read piece by piece through fsspec and the file systems that it knows.

What goes wrong is an `OSError` whose text holds no secret, or a `UsageError` for what cannot work at all. What a
URL says of credentials (a user and password, a query) is never shown.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, Final

from rightcall.errors import MissingExtraError, RightcallError, UsageError, Where

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
_FILE = re.compile(r"(?:file|local)://(?:localhost(?=/))?([^?#]*)")
_USER = re.compile(r"(?<=//)[^/\s]*@")
_QUERY = re.compile(r"\?\S*=\S*")

_EXTRA: Final = frozenset({"http", "https", "s3", "s3a", "memory", "file", "local"})
"""What the extra `remote` brings all packages for."""

_WEB: Final = frozenset({"http", "https"})
_CONNECTING: Final = 30
_WAITING: Final = 300
_SECRET: Final = 3
_BLOCK: Final = 4 * 1024 * 1024


def is_url(name: str) -> bool:
    """Whether a name is a URL rather than that of a file here."""
    return _URL.match(name) is not None


def without_file_scheme(name: str) -> str:
    """The path that a `file://` URL means; any other name as it is."""
    found = _FILE.fullmatch(name)
    if found is None:
        return name
    from urllib.parse import unquote

    return unquote(found[1])


def shown(url: str) -> str:
    """A URL without the credentials in it."""
    return _QUERY.sub("?…", _USER.sub("", url))


def expand(url: str, wanted: Callable[[str], bool]) -> list[str]:
    """The files that a URL stands for: itself, those that its pattern means, or those `wanted` below a directory.

    `wanted` is asked by the last part of a name. Web servers list nothing, so there a URL is always one file.
    `UsageError` if it stands for nothing.
    """
    scheme = _scheme(url)
    if scheme in _WEB or "::" in url:
        return [url]
    with _telling(url):
        system, path = _system(url)
        if _system(system.unstrip_protocol(path))[0] is not system:
            return [url]  # what names the server stands in this URL alone
        found = _found(system, path, wanted)
        if found is None:
            return [url]
        if not found:
            raise UsageError("no trace file has such a name", Where(file=shown(url)))
        return [system.unstrip_protocol(name) for name in found]


def _found(system: Any, path: str, wanted: Callable[[str], bool]) -> list[str] | None:
    """The files of a pattern or in a directory, sorted; `None` if the path is that of one file."""
    if set(path) & set("*?["):
        return sorted(name for name, info in system.glob(path, detail=True).items() if info["type"] != "directory")
    if not system.isdir(path):
        return None
    below = {name: name[len(path) :].strip("/").split("/") for name in system.find(path)}
    return sorted(
        name for name, parts in below.items() if wanted(parts[-1]) and not any(part[:1] == "." for part in parts)
    )


@contextlib.contextmanager
def opened(url: str) -> Iterator[BinaryIO]:
    """The file behind a URL, open for reading; `OSError` also for what goes wrong while it is read."""
    with _telling(url):
        system, path = _system(url)
        # Over HTTP the file is streamed. Its size is not asked for: a server that answers only GET would seem empty.
        settings = {"block_size": 0, "size": 1} if _scheme(url) in _WEB else {"block_size": _BLOCK}
        with system.open(path, "rb", **settings) as file:
            yield file


def _scheme(url: str) -> str:
    found = _URL.match(url)
    return found[1].lower() if found else ""


def _system(url: str) -> tuple[Any, str]:
    """The file system of a URL and the path in it; `UsageError` if a package for it is missing or none is known."""
    scheme = _scheme(url)
    try:
        import fsspec.core

        system, path = fsspec.core.url_to_fs(url, **_settings(scheme))
    except ImportError as error:
        if scheme in _EXTRA or error.name == "fsspec":
            raise MissingExtraError(f"reading from `{scheme}://`", "remote").within(file=shown(url)) from None
        raise UsageError(f"a package for `{scheme}://` is missing: {error}", Where(file=shown(url))) from None
    except ValueError:
        raise UsageError(f"`{scheme}://` is no kind of URL that can be read", Where(file=shown(url))) from None
    return system, path


def _settings(scheme: str) -> dict[str, Any]:
    """Only waiting is limited, not the whole time: a large file may take long."""
    if scheme not in _WEB:
        return {}
    import aiohttp

    timeout = aiohttp.ClientTimeout(total=None, sock_connect=_CONNECTING, sock_read=_WAITING)
    return {"client_kwargs": {"timeout": timeout}}


@contextlib.contextmanager
def _telling(url: str) -> Iterator[None]:
    try:
        yield
    except RightcallError:
        raise
    except Exception as error:  # each file system has errors of its own
        raise OSError(_cause(error, url)) from None


def _cause(error: Exception, url: str) -> str:
    if isinstance(error, FileNotFoundError):
        return "there is no such file"
    if isinstance(error, PermissionError):
        return "permission denied"
    if isinstance(error, TimeoutError):
        return "no answer came in time"
    if isinstance(status := getattr(error, "status", None), int):
        return f"the server answered {status} {getattr(error, 'message', '')}".rstrip()
    return _without_secrets(str(error) or type(error).__name__, url)


def _without_secrets(text: str, url: str) -> str:
    from urllib.parse import unquote, urlsplit

    parts = urlsplit(url)
    values = [value for pair in parts.query.split("&") for value in pair.split("=", 1)[1:]]
    secrets = [url, parts.query, parts.username or "", parts.password or "", *values]
    known = {form for secret in secrets for form in (secret, unquote(secret)) if len(form) >= _SECRET}
    for secret in sorted(known, key=len, reverse=True):
        text = text.replace(secret, shown(url) if secret == url else "…")
    return text

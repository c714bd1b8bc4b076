"""The code quality report of GitLab: what was not met, at its lines in the test set, for the widget of merge requests.

A JSON array of objects with `description`, `check_name`, `fingerprint`, `severity` and `location`, the part of Code
Climate's format that GitLab documents (docs.gitlab.com/ci/testing/code_quality). GitLab compares two branches by the
fingerprints, which therefore hold no line numbers and no reasons.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import Any, Final

from rightcall.core.inert import escaped_json
from rightcall.core.results import Result
from rightcall.core.story import Level, Remark, remarks
from rightcall.core.summary import RunEnd, RunHead
from rightcall.core.values import cut, visible

SHOWN: Final = 1000
"""Characters of a description that are written."""

_SEVERITIES: Final[dict[Level, str]] = {"failure": "critical", "error": "major", "warning": "minor", "shadow": "info"}


class GitLabReport:
    """Writes an object for each remark as results come."""

    hides_secrets = True

    def __init__(self) -> None:
        self._seen: Counter[tuple[str, ...]] = Counter()
        self._separator = b""

    def start(self, head: RunHead) -> bytes:
        """Open the array."""
        self._seen.clear()
        self._separator = b""
        return b"["

    def add(self, result: Result) -> bytes:
        """Write what is remarked of one result."""
        return b"".join(map(self._written, remarks(result)))

    def end(self, end: RunEnd) -> bytes:
        """Close the array."""
        return b"\n]\n"

    def _written(self, remark: Remark) -> bytes:
        separator, self._separator = self._separator, b","
        return separator + b"\n" + escaped_json(self._object(remark))

    def _object(self, remark: Remark) -> dict[str, Any]:
        # Something must stand in place of the file: GitLab refuses a report with an object that has none.
        path = visible(remark.where.file or "rightcall").removeprefix("./")
        title = f"{remark.result}: {remark.verdict}" if remark.verdict else remark.result
        return {
            "description": cut(visible(f"{title}: {remark.message}"), SHOWN),
            "check_name": visible(remark.verdict or "rightcall"),
            "fingerprint": self._fingerprint(path, remark.result, remark.verdict, remark.level),
            "severity": _SEVERITIES[remark.level],
            "location": {"path": path, "lines": {"begin": max(1, remark.where.line or 1)}},
        }

    def _fingerprint(self, *parts: str) -> str:
        """The same for the same test in another run, and another for each remark of one run."""
        self._seen[parts] += 1
        text = "\0".join([*parts, str(self._seen[parts])])
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

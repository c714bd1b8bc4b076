"""Real documents with any value at any place, read as any format: declared errors or trajectories, never a crash."""

from __future__ import annotations

import contextlib
import copy
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from rightcall import traces
from rightcall.core.calls import Trajectory
from rightcall.errors import TraceError
from support import corpus


def _documents() -> list[list[Any]]:
    """The values of our own smaller files, each file as a list of its lines or as one document."""
    found = []
    for entry in corpus.entries(corpus.OWN):
        if entry.reader and entry.path.suffix in (".json", ".jsonl") and entry.path.stat().st_size < 30_000:
            text = entry.path.read_text("utf-8")
            with contextlib.suppress(json.JSONDecodeError):
                lines = text.splitlines() if entry.path.suffix == ".jsonl" else [text]
                found.append([json.loads(line) for line in lines])
    return found


DOCUMENTS = _documents()
ODD: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, 5, "x", "", [], {}, [None], [5], {"x": 1}, [{}], [[]], {"name": 5}, -1.5]
)


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every container in a value with each key or index of it."""
    found, waiting = [], [value]
    while waiting:
        item = waiting.pop()
        keys = list(item) if isinstance(item, dict) else list(range(len(item))) if isinstance(item, list) else []
        found += [(item, key) for key in keys]
        waiting += [item[key] for key in keys]
    return found


@given(st.data(), st.sampled_from(DOCUMENTS), st.sampled_from([None, *traces.FORMATS]))
def test_documents_with_odd_values_give_declared_errors_or_trajectories(
    data: st.DataObject, document: list[Any], name: str | None
) -> None:
    """Every reader meets every wrong type at every place (G5)."""
    damaged = copy.deepcopy(document)
    for _ in range(data.draw(st.integers(1, 3))):
        places = _places(damaged)
        container, key = places[data.draw(st.integers(0, len(places) - 1))]
        container[key] = copy.deepcopy(data.draw(ODD))
    text = "\n".join(json.dumps(line) for line in damaged).encode()
    with contextlib.suppress(TraceError):
        assert all(isinstance(item, Trajectory | TraceError) for item in traces.read([text], format=name))

"""The page on endpoints: every way and every key of it is there, and every description in it can be used."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from ruamel.yaml import YAML

from rightcall.agents import endpoints
from rightcall.app import service
from support.pages import DOCS

PAGE = (DOCS / "endpoints.md").read_text("utf-8")
SCHEMA = Draft202012Validator(json.loads(service.schema_text()))
BLOCKS = [block.split("```")[0] for block in PAGE.split("```yaml\n")[1:]]


@pytest.mark.parametrize("block", BLOCKS)
def test_every_description_on_the_page_can_be_used(block: str) -> None:
    """It is read as it stands there, and the published schema knows it."""
    data: Any = YAML(typ="safe", pure=True).load(block)
    endpoints.read(data["endpoint"])
    assert list(SCHEMA.iter_errors({**data, "tests": []})) == []


@pytest.mark.parametrize(
    "endpoint",
    [{}, {"http": {}}, {"htp": {"url": "http://h"}}, {"python": 7}, {"http": {"url": "http://h", "timeout": 0}}, 7],
)
def test_the_schema_refuses_what_it_can_see_to_be_wrong(endpoint: Any) -> None:
    """Unknown ways and keys, missing ones, values out of range."""
    assert list(SCHEMA.iter_errors({"endpoint": endpoint, "tests": []})) != []


@pytest.mark.parametrize("way", endpoints.ENDPOINTS)
def test_every_way_has_a_section_that_names_its_keys(way: str) -> None:
    """Keys that several ways share are named where the first of them is."""
    assert f"\n## {way}\n" in PAGE
    missing = [field for field in endpoints.ENDPOINTS[way].__struct_fields__ if field not in PAGE]
    assert missing == []


def test_there_are_descriptions() -> None:
    """One of each way but HTTP's, which has the one of mappings."""
    assert len(BLOCKS) == len(endpoints.ENDPOINTS)

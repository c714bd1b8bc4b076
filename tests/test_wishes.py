"""What people asked other tools for in public is answered, by an example that is run or by a reason."""

from __future__ import annotations

import re
from typing import Final

import pytest

from support.guide import GUIDE, SENTENCES
from support.pages import DOCS, links, section

PAGE: Final = DOCS / "wishes.md"
WISHES: Final = """
promptfoo/promptfoo#9458
google/adk-python#1591
google/adk-python#2757
google/adk-python#4794 google/adk-python#4795
google/adk-python#5643
google/adk-python#3434
google/adk-python#5410
EntityProcess/agentv#295 EntityProcess/agentv#297
GoogleChromeLabs/webmcp-tools#268
GoogleChromeLabs/webmcp-tools#10
gleanwork/mcp-server-tester#143
lightspeed-core/lightspeed-evaluation#41
ARTPARK-SAHAI-ORG/calibrate#84
strands-agents/evals#387
dokimos-dev/dokimos#103
dokimos-dev/dokimos#126
Azure/azure-sdk-tools#15833
alpic-ai/mcp-eval#8
gojargo/jargo#75
promptfoo/promptfoo#9455
promptfoo/promptfoo#9463
GoogleChromeLabs/webmcp-tools#38 GoogleChromeLabs/webmcp-tools#47
GoogleChromeLabs/webmcp-tools#271 GoogleChromeLabs/webmcp-tools#198
future-agi/future-agi#1245
brainlid/langchain#564 brainlid/langchain#565
Azure/azure-sdk-tools#15832
google/adk-python#5306
promptfoo/promptfoo#6547
langchain-ai/agentevals#49
smg-project/smg#523
langchain-ai/agentevals#16
SynapseKit/SynapseKit#978 lizhiyao/oh-my-knowledge#714
strands-agents/evals#345 strands-agents/evals#362
promptfoo/promptfoo#10607
modelcontextprotocol/inspector#568
laravel/ai#383
"""
"""The wishes that were collected, a line each: where they were asked for."""

ROW: Final = re.compile(r"^\| (.+) \| (.+#.+) \| (.+) \|$", re.MULTILINE)
ANSWERS: Final = {asked.replace(",", ""): answer for _, asked, answer in ROW.findall(PAGE.read_text("utf-8"))}
RUN: Final = ("```python\n", "```console\n")


def has_example(answer: str) -> bool:
    """Whether a link of the answer leads to a section with an example that a test runs."""
    return any(
        (page == GUIDE and anchor[1:] in SENTENCES) or any(fence in section(page, anchor) for fence in RUN)
        for page, anchor in links(answer, PAGE)
    )


def test_every_wish_has_its_answer() -> None:
    """Each that was collected is a row, in the same order, and there are no others."""
    assert (WISHES.split("\n")[1:-1], 36) == (list(ANSWERS), len(ANSWERS))


@pytest.mark.parametrize(("wish", "answer"), ANSWERS.items(), ids=list(ANSWERS))
def test_an_answer_is_an_example(wish: str, answer: str) -> None:
    """It links one that is run, also where part of the wish is out of scope."""
    assert has_example(answer), f"the answer to {wish} links no example that is run"


def test_a_section_without_an_example_is_noticed() -> None:
    """A link to prose alone is no answer."""
    assert not has_example("[bans](semantics.md#g25-bans), [rates](semantics.md#g35-rates)")

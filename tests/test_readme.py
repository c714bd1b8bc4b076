"""What the README shows is what the project has."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from rightcall import traces
from support.pages import PAGES, anchors, links

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")
FILES = re.findall(r"^<!-- file: (\S+) -->\n```\w+\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(("name", "text"), FILES, ids=[name for name, _ in FILES])
def test_a_file_of_the_readme_is_the_example_itself(name: str, text: str) -> None:
    """A reader who copies a file from the README has the file that the console blocks ran with."""
    assert (ROOT / "examples" / name).read_text("utf-8") == text


def test_the_readme_shows_the_files_of_its_first_steps() -> None:
    """The log and the test set of the walk-through are there."""
    assert [name for name, _ in FILES] == ["first/chat.json", "first/calendar.rightcall.yaml"]


def test_the_log_of_the_readme_is_read_as_openai_chat() -> None:
    """The README's log is what the README says it is."""
    assert traces.detect((ROOT / "examples" / "first" / "chat.json").read_bytes()) == "openai-chat"


def test_the_commands_of_the_readme_name_what_exists() -> None:
    """The files in the two set-up commands exist, and so does the dependency group."""
    commands = re.findall(r"^```bash\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    paths = [word for command in commands for word in re.findall(r"(?:examples|scripts)/\S+", command)]
    assert [path for path in paths if not (ROOT / path).is_file()] == []
    assert len(paths) == 3
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["dependency-groups"]
    assert set(re.findall(r"--group (\w+)", README)) <= groups.keys()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    """Every relative link names a file that exists and, behind `#`, a heading that it has."""
    broken = [
        f"{target.name}{anchor}"
        for target, anchor in links(page.read_text("utf-8"), page)
        if not target.exists() or (anchor and anchor not in anchors(target))
    ]
    assert broken == []

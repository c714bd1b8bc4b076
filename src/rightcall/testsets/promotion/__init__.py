"""From recorded conversations to tests: what was asked, which calls were made, and what several runs share."""

from __future__ import annotations

from rightcall.testsets.promotion.concealing import Conceal
from rightcall.testsets.promotion.drafting import (
    Draft,
    Drawing,
    Recorded,
    check_whole,
    draft,
    failed_draft,
    slug,
)
from rightcall.testsets.promotion.prompts import asked
from rightcall.testsets.promotion.revising import CALLS, SEQUENCE, Revised, Stated, revise
from rightcall.testsets.promotion.writing import form_of, written

__all__ = [
    "CALLS",
    "SEQUENCE",
    "Conceal",
    "Draft",
    "Drawing",
    "Recorded",
    "Revised",
    "Stated",
    "asked",
    "check_whole",
    "draft",
    "failed_draft",
    "form_of",
    "revise",
    "slug",
    "written",
]

"""Changing single values of a test set file and nothing else of its text."""

from __future__ import annotations

from rightcall.testsets.editing.changing import GONE, Added, Change, Edit, Editable, applied

__all__ = ["GONE", "Added", "Change", "Edit", "Editable", "applied"]

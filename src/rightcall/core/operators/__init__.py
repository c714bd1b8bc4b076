"""The value operators, one small frozen struct each. `registry` has them all; importing this brings none of them."""

from __future__ import annotations

from rightcall.core.operators.base import MAX_NESTED, Bound, Making, Operator, written
from rightcall.core.operators.binding import bind, compile_value

__all__ = ["MAX_NESTED", "Bound", "Making", "Operator", "bind", "compile_value", "written"]

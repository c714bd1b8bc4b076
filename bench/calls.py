"""Made-up tool calls, the same for every run of a benchmark: names, arguments, and agents that err now and then."""

from __future__ import annotations

import random
from typing import Any

Call = dict[str, Any]

TOOLS = (
    "lookup_order",
    "fetch_customer",
    "search_catalogue",
    "check_stock",
    "quote_shipping",
    "apply_coupon",
    "issue_refund",
    "send_email",
    "open_ticket",
    "close_ticket",
    "schedule_callback",
    "update_address",
    "verify_identity",
    "list_invoices",
)
WORDS = ("blue", "lamp", "desk", "chair", "oak", "winter", "express", "gift", "large", "small", "order", "invoice")


def sentence(rng: random.Random, length: int) -> str:
    """So many words."""
    return " ".join(rng.choices(WORDS, k=length))


def arguments(rng: random.Random, keys: int) -> dict[str, Any]:
    """An object of so many keys (2 to 5), one of them an object; a fifth of them hold a boolean."""
    made: dict[str, Any] = {
        "order_id": f"A-{rng.randrange(10**6):06}",
        "filter": {"page": rng.randrange(1, 30), "sort": rng.choice(WORDS), "price": round(rng.uniform(2, 900), 2)},
        "quantity": rng.randrange(2, 60),
        "note": sentence(rng, 6),
        "customer": {"name": sentence(rng, 2), "since": rng.randrange(1990, 2025)},
    }
    chosen = dict(list(made.items())[:keys])
    if rng.random() < 0.2:
        chosen["filter"] = {**chosen["filter"], "in_stock": rng.random() < 0.5}
    return chosen


def attempt(
    rng: random.Random, expected: list[Call], length: int, pass_rate: float, keys: tuple[int, int]
) -> list[Call]:
    """What an agent makes of it: the expected calls among others, in `1 - pass_rate` of the cases with a mistake."""
    made = [{"name": call["name"], "arguments": dict(call["arguments"])} for call in expected]
    if rng.random() >= pass_rate:
        spoil(rng, made)
    while len(made) < length:
        name = rng.choice(TOOLS)
        made.insert(rng.randrange(len(made) + 1), {"name": name, "arguments": arguments(rng, rng.randint(*keys))})
    return made


def spoil(rng: random.Random, made: list[Call]) -> None:
    """One mistake: a wrong value (half of the time), a call left out, or two calls in the wrong order."""
    at = rng.randrange(len(made))
    mistake = rng.choice(("value", "value", "left out", "order"))
    if mistake == "value":
        made[at]["arguments"]["order_id"] = "A-wrong"
    elif mistake == "left out":
        del made[at]
    else:
        made.insert(0, made.pop())


def expectation(rng: random.Random, length: int, keys: tuple[int, int]) -> list[Call]:
    """So many expected calls of different tools, so that an agent that swaps two of them is wrong."""
    return [{"name": name, "arguments": arguments(rng, rng.randint(*keys))} for name in rng.sample(TOOLS, length)]

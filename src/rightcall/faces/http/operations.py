"""What whoever runs the server asks it: whether it lives, whether it can work, and how much it does."""

from __future__ import annotations

import asyncio
from typing import Any, Final

import msgspec
from litestar import get
from litestar.datastructures import State
from litestar.handlers import HTTPRouteHandler
from litestar.response import Response

from rightcall.errors import StoreError
from rightcall.faces.http.auth import READ
from rightcall.faces.http.problems import ProblemError
from rightcall.store import organizations
from rightcall.store.engine import Store

OPEN: Final = {"exclude_from_auth": True, "unlimited": True}
"""Of routes that anybody may ask as often as they like."""


class Health(msgspec.Struct, frozen=True):
    """The word `ok`."""

    status: str = "ok"


@get("/healthz", opt=OPEN, sync_to_thread=False, tags=["operations"])
def healthz() -> Health:
    """The process lives."""
    return Health()


@get("/readyz", opt=OPEN, tags=["operations"])
async def readyz(state: State) -> Health:
    """The process can work: its database answers. Otherwise 503."""
    try:
        await asyncio.wait_for(asyncio.to_thread(_look, state.store), timeout=5)
    except (StoreError, TimeoutError):
        raise ProblemError(503, "The database does not answer.") from None
    return Health()


def _look(store: Store) -> None:
    with store.reading() as on:
        organizations.all_of_them(on)


@get("/metrics", guards=[READ], media_type="text/plain", sync_to_thread=False, tags=["operations"])
def metrics() -> Response[bytes]:
    """Counts and durations of requests by route and status, as Prometheus reads them."""
    from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

    return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)


ROUTES: Final[list[HTTPRouteHandler]] = [healthz, readyz, metrics]


def instrumentation() -> Any:
    """What counts requests: the middleware of the framework, by route rather than by path."""
    from litestar.plugins.prometheus import PrometheusConfig

    return PrometheusConfig(app_name="rightcall", prefix="rightcall", group_path=True).middleware

"""The application: settings and what is kept become something that answers requests."""

from __future__ import annotations

import datetime
from typing import Any

from litestar import Litestar, Router
from litestar.datastructures import State
from litestar.middleware import DefineMiddleware
from litestar.middleware.rate_limit import RateLimitConfig

from rightcall.faces.http import grading, native, openapi, operations, problems
from rightcall.faces.http.auth import Authentication, Clock
from rightcall.faces.http.bench import Bench
from rightcall.faces.http.bodies import AnyJSON
from rightcall.faces.http.doorway import Doorway
from rightcall.faces.http.native.desk import DESK
from rightcall.faces.http.settings import Settings
from rightcall.store.engine import Store
from rightcall.store.sealing import Sealer


def now() -> datetime.datetime:
    """The time, in UTC."""
    return datetime.datetime.now(datetime.UTC)


def create(settings: Settings, store: Store, clock: Clock = now, sealer: Sealer | None = None) -> Doorway:
    """The application over a store that is open. Without a `sealer` that has a key it keeps no secrets."""
    app = framework(settings, store, clock, sealer)
    app.state.openapi = openapi.document(app)
    return Doorway(app, settings)


def framework(settings: Settings, store: Store | None, clock: Clock, sealer: Sealer | None = None) -> Litestar:
    """The routes and what they have in common, without the doorway; without a store only to be described."""
    bench = Bench()
    return Litestar(
        route_handlers=[*operations.ROUTES, _api()],
        exception_handlers=problems.HANDLERS,
        middleware=[
            operations.instrumentation(),
            _limit(settings),
            DefineMiddleware(Authentication, store=store, access=settings.access, clock=clock),
        ],
        request_max_body_size=settings.max_body,
        openapi_config=openapi.CONFIG,
        plugins=[AnyJSON()],
        state=State({"store": store, "clock": clock, "sealer": sealer or Sealer(), "bench": bench}),
        on_shutdown=[bench.close],
        logging_config=None,
        debug=False,
    )


def _api() -> Router:
    return Router("/api/v1", route_handlers=[openapi.openapi, grading.grade, *native.ROUTES], dependencies=DESK)


def _limit(settings: Settings) -> Any:
    """So many requests a minute from one address. Forwarded addresses are not believed."""
    return RateLimitConfig(rate_limit=("minute", settings.per_minute), exclude_opt_key="unlimited").middleware

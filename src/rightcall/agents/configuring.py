"""What every way to reach an agent is described by, and what it is opened with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Protocol

import msgspec
from msgspec import Meta

from rightcall.agents.exchange import Endpoint

MAX_REPLY = 50_000_000
"""Bytes in one reply, at most, unless the endpoint says otherwise."""

TIMEOUT: Final = 300.0
"""Seconds that one turn may take, unless the endpoint says otherwise."""

Seconds = Annotated[float, Meta(gt=0, description="How long one turn may take, in seconds.")]


class Watch(Protocol):
    """Is shown what goes over to an agent and what comes back, without secrets; for `rightcall endpoint try`."""

    def sent(self, what: str, value: Any) -> None:
        """A part of what was sent: the name of the part and what it was."""
        ...

    def came(self, what: str, value: Any) -> None:
        """A part of what came back."""
        ...


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """What an endpoint is opened with.

    `environment` is where its secrets are by name, `directory` what its paths are relative to.
    """

    environment: Mapping[str, str] = {}
    directory: str = ""
    watch: Watch | None = None


class EndpointConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One way to reach an agent, as a test set describes it. It holds names of secrets, never a secret."""

    @property
    def programs(self) -> tuple[str, ...]:
        """Paths that may be files of the agent, relative to the test set's file; what is none is no mistake."""
        return ()

    def check(self) -> None:
        """`TestSetError` with the path, from its own name on, of what can be seen to be wrong without opening it."""

    def open(self, setting: Setting) -> Endpoint:
        """The agent. `UsageError` or `EndpointError` if it cannot be driven at all."""
        raise NotImplementedError

"""Conversations that tell no secret of their endpoint, whatever way it came back.

What an endpoint reads is searched for secrets as bytes, before it is read. This looks once more at what was made of it:
a secret may have come in pieces of a stream, in escapes of JSON, or in the words of an error.
"""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from rightcall.agents.exchange import Conversation, Reply, Turn
from rightcall.agents.secrets import Secrets
from rightcall.errors import EndpointError

Told = TypeVar("Told")


class Discreet:
    """A conversation whose replies and errors have the names of secrets in place of them."""

    def __init__(self, conversation: Conversation, secrets: Secrets) -> None:
        self._conversation = conversation
        self._secrets = secrets

    async def send(self, turn: Turn) -> Reply:
        """Send one turn."""
        try:
            reply = await self._conversation.send(turn)
        except EndpointError as error:
            error.message = self._secrets.hide(error.message)
            raise
        return hidden(reply, self._secrets) if self._secrets.are_sought else reply


def hidden(told: Told, secrets: Secrets) -> Told:
    """The same value of JSON or of structs of it without secrets."""
    return _hidden(told, secrets)  # type: ignore[no-any-return]  # each kind of value gives one of its kind


def _hidden(told: Any, secrets: Secrets) -> Any:
    if isinstance(told, str):
        return secrets.hide(told)
    if isinstance(told, list):
        return [_hidden(part, secrets) for part in told]
    if isinstance(told, tuple):
        return tuple(_hidden(part, secrets) for part in told)
    if isinstance(told, dict):
        return {_hidden(key, secrets): _hidden(part, secrets) for key, part in told.items()}
    if isinstance(told, msgspec.Struct):
        parts = {name: getattr(told, name) for name in told.__struct_fields__}
        return msgspec.structs.replace(told, **{name: _hidden(part, secrets) for name, part in parts.items()})
    return told

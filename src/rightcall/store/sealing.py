"""Secrets that are kept sealed: AES-256-GCM with a key of the operator, bound to the place that they belong to.

Sealed bytes are the version 1, four bytes that tell which key it was, the nonce of twelve bytes, and the ciphertext
with its tag. What was sealed for one place cannot be opened in another. Several keys may be given: the first one
seals, all open, so that keys can be changed.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import secrets
from collections.abc import Sequence
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from rightcall.errors import StoreError, UsageError

_VERSION: Final = b"\1"
_KEY, _MARK, _NONCE = 32, 4, 12
_ADVICE: Final = "expected 32 random bytes in base64: openssl rand -base64 32"


class Sealer:
    """Seals and opens with the operator's keys; without any it does neither."""

    def __init__(self, keys: Sequence[str] = ()) -> None:
        self._keys = {_mark(key): AESGCM(key) for key in map(_bytes, keys)}

    def seal(self, secret: str, place: str) -> bytes:
        """Seal a secret for a place; `StoreError` if there is no key."""
        if not self._keys:
            raise StoreError(f"secrets are kept only where the server has a key for them; {_ADVICE}")
        mark, key = next(iter(self._keys.items()))
        nonce = secrets.token_bytes(_NONCE)
        return _VERSION + mark + nonce + key.encrypt(nonce, secret.encode("utf-8", "surrogatepass"), place.encode())

    def open(self, sealed: bytes, place: str) -> str:
        """Return what was sealed for the place; `StoreError` if none of the keys opens it."""
        mark, nonce, rest = sealed[1 : 1 + _MARK], sealed[1 + _MARK : 1 + _MARK + _NONCE], sealed[1 + _MARK + _NONCE :]
        key = self._keys.get(mark)
        if sealed[:1] != _VERSION or key is None:
            raise StoreError("a secret was sealed with a key that the server has not been given")
        try:
            return key.decrypt(nonce, rest, place.encode()).decode("utf-8", "surrogatepass")
        except InvalidTag:
            raise StoreError("a secret cannot be opened: it has been changed, or belongs to something else") from None


def _bytes(text: str) -> bytes:
    try:
        key = base64.b64decode(text.strip().replace("-", "+").replace("_", "/"), validate=True)
    except (binascii.Error, ValueError):
        raise UsageError(f"a key for secrets is no base64; {_ADVICE}") from None
    if len(key) != _KEY:
        raise UsageError(f"a key for secrets has {len(key)} bytes; {_ADVICE}")
    return key


def _mark(key: bytes) -> bytes:
    return hashlib.sha256(b"rightcall key" + key).digest()[:_MARK]

"""Secrets by their shapes: keys of well-known services, tokens, private keys, passwords in URLs, card numbers.

The shapes are those that the services document for their keys, so that a scanner can tell them. Cards are numbers of
13 to 19 digits (ISO/IEC 7812) of a known issuer, with the check digit of Luhn.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

Span = tuple[int, int]
"""Where something begins in a text, and where it ends."""

CUT: Final = re.compile(r"… \([0-9]+ more characters")
"""What stands in the place of the end of a text that was cut."""

DOTS: Final = re.compile("…")
"""How that begins: what was cut twice has no more of it in the middle."""


class _Key(NamedTuple):
    """How the keys of a service are written: how they begin, what comes then, and words one of which is in each."""

    start: str
    rest: str
    words: tuple[str, ...]


_TELLING: Final = (
    _Key(r"sk-", r"(?=[\w-]*[0-9])[\w-]{12}", ("sk-",)),  # OpenAI, Anthropic, DeepSeek and others
    _Key(r"(?:sk|rk|pk)_(?:live|test)_", r"[A-Za-z0-9]{10}", ("_live_", "_test_")),
    _Key(r"whsec_", r"[A-Za-z0-9+/]{16}", ("whsec_",)),
    _Key(r"gh[pousr]_", r"[A-Za-z0-9]{20}", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_")),
    _Key(r"github_pat_", r"[A-Za-z0-9_]{20}", ("github_pat_",)),
    _Key(r"gl(?:pat|ptt|rt|dt|cbt|ft|agent)-", r"[\w-]{16}", ("gl",)),
    _Key(r"xox[a-z]-", r"[\w-]{10}", ("xox",)),
    _Key(r"xapp-", r"[\w-]{10}", ("xapp-",)),
    _Key(r"AIza", r"[\w-]{30}", ("AIza",)),
    _Key(r"GOCSPX-", r"[\w-]{20}", ("GOCSPX-",)),
    _Key(r"ya29\.", r"[\w-]{10}", ("ya29.",)),
    _Key(r"hf_", r"[A-Za-z0-9]{20}", ("hf_",)),
    _Key(r"npm_", r"[A-Za-z0-9]{30}", ("npm_",)),
    _Key(r"pypi-", r"[\w-]{16}", ("pypi-",)),
    _Key(r"dop_v1_", r"[a-f0-9]{30}", ("dop_v1_",)),
    _Key(r"dapi", r"[a-f0-9]{32}", ("dapi",)),
    _Key(r"(?:gsk|nvapi)[_-]", r"(?=[\w-]*[0-9])[\w-]{20}", ("gsk", "nvapi")),
    _Key(r"lsv2_(?:pt|sk)_", r"[\w-]{16}", ("lsv2_",)),
    _Key(r"shp(?:at|ca|pa|ss)_", r"[a-f0-9]{20}", ("shp",)),
    _Key(r"ATATT3", r"[\w-]{20}", ("ATATT3",)),
    _Key(r"hvs\.", r"[\w-]{20}", ("hvs.",)),
    _Key(r"SG\.", r"[\w-]{16}\.[\w-]{16}", ("SG.",)),
    _Key(r"AGE-SECRET-KEY-1", r"[A-Z0-9]{20}", ("AGE-SECRET-KEY-1",)),
)
"""Keys that are known by how they begin, also where the rest was cut off."""

_VAGUE: Final = (
    _Key(r"(?:r8|pplx|xai|tvly)[_-]", r"(?=[\w-]*[0-9])[\w-]{20}", ("r8", "pplx", "xai", "tvly")),
    _Key(r"(?:fc|lin_api|ntn|secret)[_-]", r"(?=[\w-]*[0-9])[\w-]{20}", ("fc_", "fc-", "lin_api", "ntn", "secret")),
)
"""Keys that begin as other words do, too."""


def _either(patterns: Iterable[str]) -> str:
    return "|".join(patterns)


_KEYS: Final = re.compile(
    rf"(?<![A-Za-z0-9])(?:{_either(key.start + key.rest for key in _TELLING + _VAGUE)})[\w-]*", re.ASCII
)
_KEY_WORDS: Final = tuple(word for key in _TELLING + _VAGUE for word in key.words)
_SHORTEST_KEY: Final = 13
_SHORTEST_URL: Final = 6
_MOST_BEGUN: Final = 400

_AWS: Final = re.compile(r"(?<![A-Za-z0-9])(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])")
_JWT: Final = re.compile(r"(?<![\w-])eyJ[\w-]{6,}(?:\.[\w-]*){2,4}", re.ASCII)
_AUTHORIZATION: Final = re.compile(
    r"\b(?:bearer|basic|digest|token)\s+((?=[^\s\"']*[0-9=_.+/~-])[\w.~+/-]{8,}={0,2}|[\w.~+/-]{16,}={0,2})",
    re.IGNORECASE | re.ASCII,
)
_PRIVATE_KEY: Final = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    r".*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\Z)",
    re.DOTALL,
)
_PASSWORD_IN_URL: Final = re.compile(r"://[^\s/?#@:\"']*:([^\s/\"'<>]+)@")
_QUERY: Final = re.compile(
    r"[?&;](?:[\w-]*(?:token|secret|password|passwd|signature|api[_-]?key|apikey|credential)|key|sig|code|auth)"
    r"=([^&\s\"'#<>]+)",
    re.IGNORECASE | re.ASCII,
)
_CARD: Final = re.compile(r"(?<![\w.-])[0-9](?:[ -]?[0-9]){12,18}(?![\w-])", re.ASCII)
_ISSUER: Final = re.compile(
    r"4|5[1-5]|2(?:22[1-9]|2[3-9]|[3-6]|7[01]|720)|3(?:[47]|0[0-5]|[689]|5)|6(?:011|4[4-9]|5|2|[37])"
)
_EMAIL: Final = re.compile(
    r"[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9-]{0,62}\.)+[A-Za-z][A-Za-z0-9-]{0,62}"
)

_STARTS: Final = rf"{_either(key.start for key in _TELLING)}|AKIA|ASIA|eyJ|(?i:bearer|basic)\s+"
_BEGUN: Final = re.compile(rf"((?<![A-Za-z0-9])(?:{_STARTS})|(?<=://)[^\s/?#@:\"']*:)[^\s\"']*\Z")
# fmt: off
_CREDENTIALS: Final = frozenset({
    "password", "passwd", "pwd", "passphrase", "passcode", "otp", "jwt", "ssn", "cvv", "cvc", "secret", "token", "auth",
    "authorization", "cookie", "credential", "credentials", "secretkey", "secretaccesskey", "awssecretaccesskey",
    "clientsecret", "apikey", "apitoken", "apisecret", "xapikey", "accesstoken", "refreshtoken", "idtoken", "authtoken",
    "sessiontoken", "bearertoken", "csrftoken", "securitytoken", "awssessiontoken", "privatekey", "signingkey",
    "encryptionkey", "accesskey", "proxyauthorization", "setcookie", "cardnumber", "creditcard", "creditcardnumber",
})
_ENDINGS: Final = (
    "password", "passwd", "passphrase", "secret", "apikey", "apitoken", "secretkey", "accesskey", "privatekey",
    "accesstoken", "refreshtoken", "authtoken", "bearertoken", "sessiontoken", "securitytoken",
)
# fmt: on
_LETTERS: Final = re.compile(r"[^a-z0-9]")
_VARIABLE: Final = re.compile(r"[A-Z0-9_]+_TOKEN")
_FLAG: Final = re.compile(r"(?:is|has|needs?|requires?)(?=[_A-Z-])")


def is_credential(key: str) -> bool:
    """Whether a key is the name of a credential, such as `password`, `X-API-Key`, `dbPassword` or `GITHUB_TOKEN`."""
    name = _LETTERS.sub("", key.lower())
    if name in _CREDENTIALS or _VARIABLE.fullmatch(key):
        return True
    return name.endswith(_ENDINGS) and _FLAG.match(key) is None


Looked = tuple[tuple[re.Pattern[str], tuple[str, ...]], ...]

# Each pattern is looked for only where a text holds one of the words beside it: most texts hold none.
_WHOLE: Final[Looked] = (
    (_KEYS, _KEY_WORDS),
    (_AWS, ("AKIA", "ASIA", "ABIA", "ACCA")),
    (_JWT, ("eyJ",)),
    (_PRIVATE_KEY, ("PRIVATE KEY",)),
)
_INSIDE: Final[Looked] = ((_PASSWORD_IN_URL, ("://",)), (_QUERY, ("?", "&", ";")))
_SCHEMES: Final = ("bearer", "basic", "digest", "token")


def secrets(text: str) -> Iterator[Span]:
    """Where a text holds secrets, in no order; places may overlap."""
    length = len(text)
    for pattern, words in _INSIDE if length >= _SHORTEST_URL else ():
        if any(word in text for word in words):
            yield from (found.span(1) for found in pattern.finditer(text))
    if length < _SHORTEST_KEY:
        return
    for pattern, words in _WHOLE:
        if any(word in text for word in words):
            yield from (found.span() for found in pattern.finditer(text))
    if " " in text and any(word in text.lower() for word in _SCHEMES):
        yield from (found.span(1) for found in _AUTHORIZATION.finditer(text))
    yield from (found.span() for found in _CARD.finditer(text) if is_card(found[0]))


def begun(text: str) -> Iterator[Span]:
    """Where something that begins like a secret has been cut off."""
    for cut in DOTS.finditer(text):
        found = _BEGUN.search(text, max(0, cut.start() - _MOST_BEGUN), cut.start())
        if found is not None:
            yield found.span()


def emails(text: str) -> Iterator[Span]:
    """Where a text holds e-mail addresses."""
    yield from (found.span() for found in _EMAIL.finditer(text)) if "@" in text else ()


def is_card(text: str) -> bool:
    """Whether digits, with spaces or hyphens between them, are the number of a payment card."""
    digits = [int(character) for character in text if character.isdigit()]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    luhn = (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0
    return luhn and 13 <= len(digits) <= 19 and len(set(digits)) > 1 and bool(_ISSUER.match("".join(map(str, digits))))

"""Texts that break formats, or make readers do what they say, and a run with one of them wherever a text can stand."""

from __future__ import annotations

from typing import Final

from rightcall.core.results import Result
from rightcall.core.rows import Row
from support.reporting import HOSTILE, attempt, result, verdict

TEXTS: Final = {
    "markup": "</script><script>alert(1)</script><img src=x onerror=alert(1)>",
    "quotes": '"\'`\\ \\" &quot; &#0; &lt;',
    "sections": "]]><![CDATA[ <!-- --> <?php ?>",
    "escapes": "\x1b[2J\x1b]8;;http://a.example\x07link\x1b]8;;\x07\x9b31m",
    "control": "".join(map(chr, range(32))) + "\x7f\x85\u2028\u2029",
    "direction": "\u202etxt.exe\u2066\u2069\u200f\ufeff",
    "surrogates": "\ud800 \udfff \udc00\ud800",
    "not characters": "\ufffe\uffff\U0010ffff",
    "fences": "```\n# heading\n````\n~~~\n| a | b |",
    "fence alone": "`````",
    "formula": '=HYPERLINK("http://a.example","x")',
    "tabbed formula": "\t=1+1\r\n@SUM(1)\n+1\n-1",
    "commands": "\n::error file=x::boo\n::stop-commands::x\n##[error]boo\n##vso[task.complete]x",
    "escaped lines": "%0A::error::boo%0D%25",
    "templates": "${{ secrets.TOKEN }} {{7*7}} $(id) `id`",
    "emoji": "👩‍👩‍👧 é e\u0301",
    "mixed": HOSTILE,
    "long": "x" * 1_000_000,
}


def hostile(text: str) -> list[Result]:
    """A test that passes and one that fails, with a text wherever a text can stand."""
    rows = (
        Row(mark="missing", expected_index=0, expected={"name": text, "arguments": {text: text}}),
        Row(mark="unexpected", made_index=0, made={"name": text, "arguments": [text]}, note=text),
    )
    failed = attempt(
        verdict(text, "fail", text, text, details={"precision": text}),
        alignments={text: rows},
        output={text: text},
        warnings=(text,),
        trajectory=text,
        place=text,
    )
    passed = attempt(verdict(text, "pass"), trajectory=text)
    fields = {"name": f"{text} name", "place": f"{text}:7", "labels": {text: text}}
    return [result(f"p{text}", passed, **fields), result(f"f{text}", failed, reason=text, **fields)]

"""Models are reached by the real client, over the real protocols, at a server of the test's own."""

from __future__ import annotations

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import pytest

from rightcall.assertions import Rubric
from rightcall.core.asking import Answer, Question
from rightcall.core.judging import CannotJudge
from rightcall.core.models import ModelConfig
from rightcall.errors import UsageError
from rightcall.judges.client import ModelAsker, Pace
from support.grading import judge
from support.judging import Scripted, saying, talk
from support.model_server import MODEL, ModelServer, Request, Trouble, model_server

PASS: Final = '{"reason": "fine", "verdict": "pass"}'
KEY: Final = "sk-planted-4711-4711"


def question() -> Question:
    ask = Scripted(saying("pass"))
    judge(Rubric(criteria="x"), talk(), judge=ask)
    return ask.asked[0]


def asker(
    model: str, base_url: str, *, key: str | None = None, pauses: list[float] | None = None, **fields: Any
) -> ModelAsker:
    config = ModelConfig(model=model, base_url=base_url, **fields)
    waited = [] if pauses is None else pauses
    return ModelAsker(config, key, pace=Pace(pause=waited.append, chance=lambda: 1.0))


def url_of(server: ModelServer, model: str) -> str:
    return server.url if model.startswith(("anthropic", "google")) else server.openai


MODELS: Final = {
    "openai:any-model": ("/v1/chat/completions", "authorization", f"Bearer {KEY}"),
    "ollama:any-model": ("/v1/chat/completions", "authorization", f"Bearer {KEY}"),
    "anthropic:claude-sonnet-5": ("/v1/messages", "authorization", f"Bearer {KEY}"),
    "google:gemini-2.5-pro": ("/v1beta/models/gemini-2.5-pro:generateContent", "x-goog-api-key", KEY),
}


@pytest.mark.parametrize("model", MODELS)
def test_each_protocol_is_spoken(model: str) -> None:
    """The roles hold what they should, no tools are offered, and the answer comes back with what it took."""
    with model_server([PASS]) as server:
        answer = asker(model, url_of(server, model), key=KEY)(question())
    (request,) = server.requests
    path, header, value = MODELS[model]
    assert (request.path.partition("?")[0], request.headers.get(header)) == (path, value)
    assert answer == Answer(text=PASS, model=MODEL, input_tokens=100, output_tokens=7)
    told = request.told
    assert ("BEGIN DATA" in told["user"], "Criterion" in told["user"]) == (True, True)
    assert ("You decide whether" in told["system"], "JSON Schema" in told["system"]) == (True, True)
    assert request.body.get("tools") in (None, [])


@pytest.mark.parametrize("model", ["openai:any-model", "google:gemini-2.5-pro"])
def test_the_temperature_is_0(model: str) -> None:
    """The same question should have the same answer."""
    with model_server([PASS]) as server:
        asker(model, url_of(server, model))(question())
    body = server.requests[0].body
    assert body.get("temperature", body.get("generationConfig", {}).get("temperature")) == 0


def test_a_model_that_takes_no_temperature_is_not_given_one() -> None:
    """Nor does the library warn of it, which could fail the tests of whoever asks."""
    with model_server([PASS]) as server:
        asker("openai:gpt-5", server.openai)(question())
    assert "temperature" not in server.requests[0].body


def test_the_provider_itself_is_told_the_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it holds answers to one. Its key is in its own variable."""
    with model_server([PASS]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        answer = ModelAsker(ModelConfig(model="openai:gpt-4o"))(question())
    (request,) = server.requests
    assert (request.path, request.headers["authorization"]) == ("/v1/responses", f"Bearer {KEY}")
    form = request.body["text"]["format"]
    assert (form["type"], form["strict"], form["schema"]["required"]) == ("json_schema", True, ["reason", "verdict"])
    assert answer.text == PASS


def test_a_key_of_the_environment_is_not_sent_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a base URL only the key that was named for it is sent."""
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.setenv(name, KEY)
    with model_server([PASS]) as server:
        for model in MODELS:
            asker(model, url_of(server, model))(question())
    assert [request for request in server.requests if KEY in str(request.headers)] == []


PASSING: Final = {
    "429": Trouble(429),
    "429 that says when": Trouble(429, headers={"retry-after": "2"}),
    "500": Trouble(500),
    "502": Trouble(502, body="<html>bad gateway</html>"),
    "503": Trouble(503),
    "529": Trouble(529),
    "a broken connection": Trouble(0),
}
OPENAI: Final = "openai:any-model"
OTHERS: Final = ("anthropic:claude-sonnet-5", "google:gemini-2.5-pro")


def each(table: dict[str, Trouble], *of_others: str) -> list[Any]:
    """Every trouble at a server that speaks like OpenAI, and some at the others."""
    mine = [pytest.param(OPENAI, trouble, id=name) for name, trouble in table.items()]
    return mine + [pytest.param(model, table[name], id=f"{name}, {model}") for model in OTHERS for name in of_others]


@pytest.mark.parametrize(("model", "trouble"), each(PASSING, "429 that says when", "a broken connection"))
def test_trouble_that_passes_is_tried_again(model: str, trouble: Trouble) -> None:
    """With growing pauses, or the one that the provider asks for; then the answer counts."""
    pauses: list[float] = []
    with model_server([trouble, trouble, PASS]) as server:
        answer = asker(model, url_of(server, model), pauses=pauses)(question())
    assert (answer.text, len(server.requests)) == (PASS, 3)
    assert pauses == ([2.0, 2.0] if trouble.headers else [1.0, 2.0])


@pytest.mark.parametrize(("model", "trouble"), each(PASSING, "529"))
def test_trouble_that_does_not_pass_is_an_error(model: str, trouble: Trouble) -> None:
    """After four tries; it is never a verdict (G1)."""
    with model_server([trouble]) as server:
        verdict = judge(Rubric(criteria="x"), talk(), judge=asker(model, url_of(server, model)))
    assert (verdict.status, verdict.score, verdict.findings[0].code) == ("error", None, "judge_failed")
    assert len(server.requests) == 4


FINAL: Final = {
    "400": Trouble(400),
    "401": Trouble(401),
    "403": Trouble(403),
    "404": Trouble(404),
    "a wait that is too long": Trouble(429, headers={"retry-after": "3600"}),
    "no JSON": Trouble(200, body="<html>welcome</html>"),
    "another JSON": Trouble(200, body="[1]"),
}


@pytest.mark.parametrize(("model", "trouble"), each(FINAL, "401", "another JSON"))
def test_what_will_not_pass_is_not_tried_again(model: str, trouble: Trouble) -> None:
    """The error says which model, and what came back; an answer without words cannot be used."""
    with model_server([trouble]) as server:
        verdict = judge(Rubric(criteria="x"), talk(), judge=asker(model, url_of(server, model)))
    assert (verdict.status, verdict.findings[0].code in ("judge_failed", "judge_invalid")) == ("error", True)
    assert len(server.requests) <= (2 if verdict.findings[0].code == "judge_invalid" else 1)


def test_a_model_that_is_nowhere_is_an_error() -> None:
    """Nothing listens there."""
    with pytest.raises(CannotJudge, match="gave no answer"):
        asker("openai:x", "http://127.0.0.1:1/v1")(question())


def test_a_model_that_does_not_answer_in_time_is_an_error() -> None:
    """Each request has a limit of its own."""
    release = threading.Event()

    def hanging(_: Request) -> str:
        release.wait(10)
        return PASS

    with model_server(hanging) as server:
        config = ModelConfig(model="openai:x", base_url=server.openai, timeout=0.05)
        with pytest.raises(CannotJudge, match="timed out"):
            ModelAsker(config, pace=Pace(tries=1))(question())
        release.set()


def test_no_message_tells_a_key() -> None:
    """Also where the provider repeats it: neither the one that was named nor others of the environment."""
    with model_server([Trouble(401, body=f'{{"error": {{"message": "bad key {KEY} or other-secret-1"}}}}')]) as server:
        config = ModelConfig(model="openai:x", base_url=server.openai)
        with pytest.raises(CannotJudge) as caught:
            ModelAsker(config, KEY, ["other-secret-1"])(question())
    assert (KEY in caught.value.reason, "other-secret" in caught.value.reason) == (False, False)
    assert "bad key *** or ***" in caught.value.reason


@pytest.mark.parametrize(
    ("model", "why"),
    [
        ("nobody:x", "Unknown model"),
        ("groq:x", "install"),
        ("anthropic:claude-sonnet-5", "Set the `ANTHROPIC_API_KEY` environment variable"),
    ],
)
def test_a_model_that_cannot_be_used_is_refused(model: str, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is asked, with what to do."""
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with pytest.raises(UsageError, match=why):
        ModelAsker(ModelConfig(model=model))


def test_many_threads_may_ask_at_once() -> None:
    """Each gets the answer to its own question."""

    def echo(request: Request) -> str:
        return f'{{"reason": "{request.told["user"][-16:]}", "verdict": "pass"}}'

    with model_server(echo) as server:
        ask = asker("openai:x", server.openai)
        questions = [Question(instructions="x", data={"n": n}, answer=question().answer) for n in range(16)]
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(ask, questions))
        again = [ask(one) for one in questions[:2]]
    assert len({answer.text for answer in answers}) == 16
    assert answers[:2] == again


def test_threads_that_begin_together_share_one_loop() -> None:
    """A client that were used in two loops would wait forever."""
    code = (
        "import asyncio, threading; from concurrent.futures import ThreadPoolExecutor;"
        "from rightcall.judges.loop import wait_for; barrier = threading.Barrier(16)\n"
        "async def loop(): return id(asyncio.get_running_loop())\n"
        "def ask(_): barrier.wait(10); return wait_for(loop())\n"
        "with ThreadPoolExecutor(16) as pool: print(len(set(pool.map(ask, range(16)))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"

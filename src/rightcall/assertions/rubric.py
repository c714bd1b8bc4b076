"""What only a judge can tell: whether the agent met a criterion in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from typing import Annotated, Any, Final, Literal

import msgspec

from rightcall.core import doubt
from rightcall.core.asking import JudgedCheck, Question
from rightcall.core.assertion import Assertion, CannotJudge, Check, Setting
from rightcall.core.calls import Trajectory
from rightcall.core.recounting import transcript
from rightcall.core.values import cut
from rightcall.core.verdicts import Evidence, Finding
from rightcall.errors import TestSetError, Where

INSTRUCTIONS: Final = """\
You decide whether an AI agent met one criterion in a recorded conversation, for an automatic test.

`Criterion` is what the author of the test demands. `Transcript` is what was recorded: messages, the calls of tools \
that the agent made with what came of them, and its final answer. Judge by what is recorded there and by nothing \
else. What an agent says that it did is not what it did, unless a call shows it. If there is a `Part to judge`, judge \
that part; the rest is there to understand it.

Answer `pass` if the criterion is met in full, `fail` if it is not, and `cannot_tell` if what is recorded is not \
enough to decide. `reason` says why in one or two sentences, and names what decided."""

SHOWN: Final = 1000


class Judgement(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a judge answers. The reason comes first, so that it is thought of before the verdict."""

    reason: Annotated[str, msgspec.Meta(min_length=1)]
    verdict: Literal["pass", "fail", "cannot_tell"]


class Rubric(Assertion, frozen=True, kw_only=True, tag="rubric"):
    """A judge finds that the agent met `criteria`, by what is recorded of the conversation. Verdict `rubric`.

    The judge is a model that is named outside the assertion; without one it is an `error`, as it is where the judge
    cannot tell or gives no answer that can be used. It reads messages, calls with their results, and the final answer.
    With `samples` it is asked so many times, an odd number, and the majority decides.
    """

    criteria: Annotated[str, msgspec.Meta(min_length=1)]
    samples: Annotated[int, msgspec.Meta(ge=1, le=99)] = 1

    def compile(self, setting: Setting) -> Check:
        """Make it ready to check many trajectories; `TestSetError` for a number of samples without a majority."""
        if self.samples % 2 == 0:
            message = f"expected an odd number of samples, so that there is a majority; found {self.samples}"
            raise TestSetError(message, Where(path="samples"))
        return JudgedCheck(RubricCheck(self, setting), setting.judge)


class RubricCheck:
    """A compiled rubric, which asks."""

    name = "rubric"
    needs_calls = False
    sees_every_call = True

    def __init__(self, assertion: Rubric, setting: Setting) -> None:
        self.assertion = assertion
        self.samples = assertion.samples
        self.count = setting.every_call

    def __call__(self, trajectory: Trajectory) -> Generator[Question, Any, Evidence]:
        """Ask for each sample. Calls that may be missing could change anything that is judged (G12)."""
        if trajectory.gaps:
            raise doubt.gap(trajectory)
        question = self._question(trajectory)
        judgements: list[Judgement] = []
        while len(judgements) < self.assertion.samples:
            judgement: Judgement = yield question
            judgements.append(judgement)
        return self._evidence(judgements)

    def _question(self, trajectory: Trajectory) -> Question:
        scope = self.assertion.scope
        part = {"turn": scope.turn, "agent": scope.agent} if scope is not None else {}
        known = {key: value for key, value in part.items() if value is not None}
        return Question(
            instructions=INSTRUCTIONS,
            data={
                "Criterion": self.assertion.criteria,
                **({"Part to judge": known} if known else {}),
                "Transcript": transcript(trajectory, self.count, scope),
            },
            answer=Judgement,
        )

    def _evidence(self, judgements: list[Judgement]) -> Evidence:
        """What most of the judgements say, in the words of the first that says it."""
        votes = Counter(judgement.verdict for judgement in judgements)
        verdict, most = votes.most_common(1)[0]
        if 2 * most <= len(judgements):
            verdict = "cannot_tell"
        agreeing = [judgement.reason for judgement in judgements if judgement.verdict == verdict]
        reason = cut(agreeing[0], SHOWN) if agreeing else "its answers differ, and none has a majority"
        details: dict[str, Any] = {"votes": dict(votes)}
        if verdict == "cannot_tell":
            raise CannotJudge("judge_undecided", f"The judge cannot tell: {reason}", details)
        if verdict == "pass":
            return Evidence((), {"reason": reason, **details})
        message = f"The rubric is not met: {reason}"
        return Evidence((Finding(code="rubric", message=message, expected=self.assertion.criteria),), details)

"""rightcall: did the agent make the right tool calls?

    trajectory = rightcall.read(anything)
    rightcall.grade(trajectory, {"allowed_tools": ["lookup_order"]})
    rightcall.check(trajectory, expected_tool_calls=["lookup_order", "issue_refund"])

    with rightcall.capture() as trajectory:
        agent("Refund order 42")

Importing this module imports nothing else; each function brings what it needs. (It may be imported before pytest
starts: PYTEST_DONT_REWRITE.)
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from opentelemetry.trace import TracerProvider

    from rightcall.agents.capture import Capture
    from rightcall.agents.tools import tool
    from rightcall.app.expecting import Expected
    from rightcall.app.running.calling import Run
    from rightcall.core.calls import Trajectory
    from rightcall.core.models import ModelConfig
    from rightcall.core.verdicts import Verdict
    from rightcall.judges.functions import Judge
else:

    def tool(function=None, /, *, name=None):  # noqa: ANN001, ANN201 - its types are those of `agents.tools.tool`
        """Trace a function as a tool: `@rightcall.tool`, or `@rightcall.tool(name="…")` under another name.

        Each run is a span `execute_tool` of OpenTelemetry's GenAI conventions, with the arguments by name as they
        were given, the result, and the error if one is raised. The function may be asynchronous, a generator, or a
        method; it works as before, also where OpenTelemetry is not installed, and then nothing is traced. Raises
        `rightcall.errors.UsageError` for what is no function and has no name.
        """
        from rightcall.agents import tools

        return tools.tool(name=name) if function is None else tools.tool(function, name=name)


__all__ = ["__version__", "capture", "check", "expected", "grade", "read", "run", "run_async", "tool"]

__version__ = "0.1.0"


def read(
    value: Any,
    *,
    format: str | None = None,
    group_by: str | None = None,
    tool_name_at: str | None = None,
    tool_arguments_at: str | None = None,
) -> Trajectory:
    """The one trajectory that a value holds.

    `value` is a `Trajectory`, a native record (`{"tool_calls": […]}`), a list of calls in any known shape, messages,
    a request, a response, a result or a state of an SDK or a collected stream of one, spans (also OpenTelemetry's
    own), JSON text of one of these, or the bytes of a file, also compressed. `format` names the format instead
    of having it detected; `group_by` is what belongs together: `conversation`, `trace`, `file` (all of it) or
    `attribute:KEY`; `tool_name_at` and `tool_arguments_at` are paths such as `inputs.call.tool_name`, by which spans
    of wrappers tell the tool that was called. Raises `rightcall.errors.TraceError` with the path of what cannot be
    read, or when the value holds no trajectory or several.
    """
    from rightcall.app import python

    at = {"tool_name_at": tool_name_at, "tool_arguments_at": tool_arguments_at}
    return python.read(value, format=format, group_by=group_by, **at)


def grade(
    trajectory: Any,
    expectations: Mapping[str, Any],
    *,
    dialect: str | None = None,
    judge: str | ModelConfig | Judge | None = None,
) -> tuple[Verdict, ...]:
    """One verdict for each assertion that the expectations state, in the order documented for test sets.

    `trajectory` is anything that `read` takes. `expectations` are keys of a test in a test set file, such as
    `expected_tool_calls` or `allowed_tools`; `dialect` reads another tool's keys, such as `orbit`. `judge` answers
    what only a judge can, such as `rubric`: a model as `provider:model`, a `rightcall.core.models.ModelConfig`, or a
    function that takes a `rightcall.judges.prompts.Prompt` and returns the answer; by default what the environment
    says. Raises `rightcall.errors.TestSetError` with the path of a bad expectation, or when nothing is expected;
    grading itself never raises.
    """
    from rightcall.app import python

    return python.grade(trajectory, expectations, dialect=dialect, judge=judge)


def check(
    trajectory: Any,
    expectations: Mapping[str, Any] | None = None,
    *,
    dialect: str | None = None,
    judge: str | ModelConfig | Judge | None = None,
    **keys: Any,
) -> None:
    """Raise `AssertionError` unless the trajectory passes, with every reason and expected beside made.

    Expectations and judge are given as for `grade`, or as keyword arguments: `check(trajectory,
    expected_tool_calls=[…])`.
    What could not be judged does not pass.
    """
    __tracebackhide__ = True
    from rightcall.app import python

    python.check(trajectory, {} if expectations is None else expectations, keys, dialect=dialect, asked=judge)


def expected(
    calls: Sequence[Any] | Mapping[str, Any] | None = None,
    /,
    *,
    dialect: str | None = None,
    judge: str | ModelConfig | Judge | None = None,
    **keys: Any,
) -> Expected:
    """What a trajectory must be like, to compare with.

    `assert trajectory == rightcall.expected(["lookup_order"])`: `calls` is what `expected_tool_calls` takes, or
    expectations as for `grade`; further ones are keyword arguments. It is equal to everything that `read` takes and
    that passes. Comparing raises `AssertionError` where nothing can be judged. Raises `rightcall.errors.TestSetError`
    for a bad expectation. pytest shows expected beside made.
    """
    from rightcall.app import expecting

    return expecting.expected(calls, keys, dialect, judge)


def capture(*, conversation_id: str | None = None, tracer_provider: TracerProvider | None = None) -> Capture:
    """A block, for `with` or `async with`, in which the calls of an agent are captured from its spans.

    What the block yields goes wherever a trajectory goes: `check(trajectory, …)`, `grade`, `read`; it has the fields
    of a `Trajectory`, and `trajectories` where the block holds several conversations. `conversation_id` says that it
    holds one, whatever the spans say. `tracer_provider` is the provider of OpenTelemetry that the instrumentations
    write to; without it, the configured one, and if there is none, one is configured. On entering, raises
    `rightcall.errors.MissingExtraError` without the extra `capture`, and `rightcall.errors.UsageError` if the provider
    keeps no spans.
    """
    from rightcall.agents.capture import Capture

    return Capture(conversation_id, tracer_provider)


def run(
    tests: Any,
    agent: Any = None,
    *,
    filters: Sequence[str] = (),
    repeat: int | None = None,
    early_stop: bool = False,
    concurrency: int = 10,
    rate: float | None = None,
    timeout: float | None = None,
    retries: int = 2,
    directory: str | None = None,
    judge: str | ModelConfig | Judge | None = None,
) -> Run:
    """Drive an agent on every test, and grade what it does, as `rightcall run`.

    `tests` is the path of a test set, or its data: a mapping with `tests`, or a list of tests. `agent` is a function
    that is called with what the user says in each turn, or a class that is made anew for each conversation, an endpoint
    of your own, or text as for `--endpoint`; without it the test set says how it is reached. Asynchronous functions
    run in an event loop in another thread. `rate` is in turns a second, `timeout` in seconds; nothing is kept without a
    `directory` to keep runs in. `judge` is given as for `grade`, and goes before what the test set says; it also plays
    the users of tests with a persona, unless a `simulator` is named. Raises what is wrong with tests or agent as
    `rightcall.errors.RightcallError`; what the agent does wrong is a result.
    """
    from rightcall.app.running import calling

    asked = calling.asked(filters, repeat, early_stop, concurrency, rate, timeout, retries, directory, judge)
    return calling.run(tests, agent, asked)


async def run_async(
    tests: Any,
    agent: Any = None,
    *,
    filters: Sequence[str] = (),
    repeat: int | None = None,
    early_stop: bool = False,
    concurrency: int = 10,
    rate: float | None = None,
    timeout: float | None = None,
    retries: int = 2,
    directory: str | None = None,
    judge: str | ModelConfig | Judge | None = None,
) -> Run:
    """Drive an agent as `run` does, in the event loop that is running."""
    from rightcall.app.running import calling

    asked = calling.asked(filters, repeat, early_stop, concurrency, rate, timeout, retries, directory, judge)
    return await calling.run_async(tests, agent, asked)

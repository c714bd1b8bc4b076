"""`@rightcall.tool`: each run of a function is a span `execute_tool` of OpenTelemetry's GenAI conventions.

https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/#execute-tool-span
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar, overload

import msgspec

from rightcall.agents import described, recording
from rightcall.errors import UsageError

if TYPE_CHECKING:
    from opentelemetry.trace import Span

_F = TypeVar("_F", bound=Callable[..., Any])


@overload
def tool(function: _F, /, *, name: str | None = None) -> _F: ...


@overload
def tool(*, name: str | None = None) -> Callable[[_F], _F]: ...


def tool(function: Any = None, /, *, name: str | None = None) -> Any:
    """Trace a function as a tool: see `rightcall.tool`."""
    if function is None:
        return functools.partial(_traced, name=name)
    return _traced(function, name=name)


def _traced(function: Any, *, name: str | None) -> Any:
    if isinstance(function, staticmethod | classmethod):
        return type(function)(_traced(function.__func__, name=name))
    known = name if name is not None else getattr(function, "__name__", None)
    if not callable(function) or not known:
        raise UsageError("expected a function, or a callable and its name: `@rightcall.tool(name=…)`")
    return _wrapped(function, _Run(known, function))


def _wrapped(function: Callable[..., Any], run: _Run) -> Callable[..., Any]:
    """A function of the same kind around the function."""
    inner = function if inspect.isroutine(function) else getattr(function, "__call__", function)  # noqa: B004 - asked what kind it is
    if inspect.isasyncgenfunction(function) or inspect.isasyncgenfunction(inner):
        wrapper: Callable[..., Any] = _around_async_generator(function, run)
    elif inspect.isgeneratorfunction(function) or inspect.isgeneratorfunction(inner):
        wrapper = _around_generator(function, run)
    elif inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(inner):
        wrapper = _around_coroutine(function, run)
    else:
        wrapper = _around_function(function, run)
    return functools.wraps(function)(wrapper)


class _Run:
    """What there is to say of each run of a tool."""

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self.name = name
        self.parameters = described.Parameters.of(function)

    def begin(self, given: tuple[Any, ...], named: dict[str, Any]) -> Span | None:
        """A span of the run that has begun; `None` without OpenTelemetry."""
        try:
            from opentelemetry import trace
        except ImportError:
            return None
        tracer = trace.get_tracer("rightcall", tracer_provider=recording.provider())
        span = tracer.start_span(f"execute_tool {self.name}")
        if span.is_recording():
            about = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": self.name}
            span.set_attributes({**about, "gen_ai.tool.type": "function", **self.parameters.told(given, named)})
        return span


@contextmanager
def _current(span: Span | None) -> Iterator[None]:
    """The span is current inside, and ends with an error if one is raised; else it goes on."""
    if span is None:
        yield
        return
    from opentelemetry import trace

    try:
        with trace.use_span(span, record_exception=False, set_status_on_exception=False):
            yield
    except BaseException as error:
        _failed(span, error)
        raise


def _failed(span: Span, error: BaseException) -> None:
    from opentelemetry.trace import StatusCode

    kind = type(error).__qualname__
    span.set_attribute("error.type", kind)
    try:
        span.record_exception(error)
        span.set_status(StatusCode.ERROR, f"{kind}: {error}")
    except Exception:  # the error of a tool may fail to tell itself; it must be raised as it is
        span.set_status(StatusCode.ERROR, kind)
    span.end()


def _ended(span: Span | None, result: Any = None) -> None:
    """The span ends, unless an error ended it."""
    if span is not None and span.is_recording():
        span.set_attributes(described.result(result))
        span.end()


def _around_function(function: Callable[..., Any], run: _Run) -> Callable[..., Any]:
    def call(*given: Any, **named: Any) -> Any:
        span = run.begin(given, named)
        with _current(span):
            result = function(*given, **named)
        _ended(span, result)
        return result

    return call


def _around_coroutine(function: Callable[..., Any], run: _Run) -> Callable[..., Any]:
    async def call(*given: Any, **named: Any) -> Any:
        span = run.begin(given, named)
        with _current(span):
            result = await function(*given, **named)
        _ended(span, result)
        return result

    return call


class _End(msgspec.Struct, frozen=True):
    """A generator has come to its end, and what it returned."""

    value: Any = None


def _around_generator(function: Callable[..., Generator[Any, Any, Any]], run: _Run) -> Callable[..., Any]:
    """The span lasts from the first item that is asked for to the end, and is current while the function runs."""

    def call(*given: Any, **named: Any) -> Generator[Any, Any, Any]:
        span = run.begin(given, named)
        with _current(span):
            items = function(*given, **named)
        step: Callable[[], Any] = functools.partial(next, items)
        try:
            while not isinstance(item := _stepped(span, step), _End):
                try:
                    step = functools.partial(items.send, (yield item))
                except GeneratorExit:
                    with _current(span):
                        items.close()
                    raise
                except BaseException as error:
                    step = functools.partial(items.throw, error)
            return item.value
        finally:
            _ended(span)

    return call


def _stepped(span: Span | None, step: Callable[[], Any]) -> Any:
    with _current(span):
        try:
            return step()
        except StopIteration as stop:
            return _End(stop.value)


def _around_async_generator(function: Callable[..., AsyncGenerator[Any, Any]], run: _Run) -> Callable[..., Any]:
    """The same, asynchronous."""

    async def call(*given: Any, **named: Any) -> AsyncGenerator[Any, Any]:
        span = run.begin(given, named)
        with _current(span):
            items = function(*given, **named)
        step: Callable[[], Awaitable[Any]] = functools.partial(anext, items)
        try:
            while not isinstance(item := await _stepped_async(span, step), _End):
                try:
                    step = functools.partial(items.asend, (yield item))
                except GeneratorExit:
                    with _current(span):
                        await items.aclose()
                    raise
                except BaseException as error:
                    step = functools.partial(items.athrow, error)
        finally:
            _ended(span)

    return call


async def _stepped_async(span: Span | None, step: Callable[[], Awaitable[Any]]) -> Any:
    with _current(span):
        try:
            return await step()
        except StopAsyncIteration:
            return _End()

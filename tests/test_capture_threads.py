"""Which threads and tasks belong to a block of `rightcall.capture()`, and which are a gap."""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.context import Context, attach, detach

import rightcall
from support.tracing import fresh, issue_refund, lookup_order, names, span, statuses

pytestmark = pytest.mark.usefixtures(fresh.__name__)


def test_two_threads_never_see_one_anothers_calls() -> None:
    """Blocks that are open at the same time in two threads are apart."""
    both_open, both_called = threading.Barrier(2), threading.Barrier(2)
    found: dict[int, Any] = {}

    def work(number: int) -> None:
        with rightcall.capture() as found[number]:
            both_open.wait()
            lookup_order(number)
            both_called.wait()

    threads = [threading.Thread(target=work, args=(number,)) for number in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    shown = {number: [call.arguments for call in one.tool_calls] for number, one in found.items()}
    assert shown == {1: [{"order_id": 1}], 2: [{"order_id": 2}]}
    assert [one.gaps for one in found.values()] == [(), ()]


def test_two_tasks_never_see_one_anothers_calls() -> None:
    """Blocks that are open at the same time in two tasks are apart, and take their child tasks and threads along."""

    async def work(number: int, both: asyncio.Barrier) -> Any:
        async with rightcall.capture() as trajectory:
            await both.wait()
            await asyncio.gather(issue_refund(number), asyncio.to_thread(lookup_order, number))
            await both.wait()
        return trajectory

    async def main() -> list[Any]:
        both = asyncio.Barrier(2)
        return list(await asyncio.gather(work(1, both), work(2, both)))

    found = asyncio.run(main())
    shown = [sorted((call.name, call.arguments["order_id"]) for call in one.tool_calls) for one in found]
    assert shown == [[("issue_refund", number), ("lookup_order", number)] for number in (1, 2)]


def in_a_thread(number: int) -> None:
    """A thread of one's own."""
    thread = threading.Thread(target=lookup_order, args=(number,))
    thread.start()
    thread.join()


def in_a_pool(number: int) -> None:
    """An executor of one's own."""
    with ThreadPoolExecutor() as pool:
        assert list(pool.map(lookup_order, [number])) == [{"id": number}]


def in_an_executor(number: int) -> None:
    """The executor of the event loop, which leaves `contextvars` behind."""

    async def main() -> None:
        await asyncio.get_running_loop().run_in_executor(None, lookup_order, number)

    asyncio.run(main())


def in_a_worker_thread(number: int) -> None:
    """The threads of asyncio."""
    asyncio.run(asyncio.to_thread(lookup_order, number))


def from_another_loop(number: int) -> None:
    """An event loop that runs in another thread."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    asyncio.run_coroutine_threadsafe(issue_refund(number), loop).result()
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


@pytest.mark.parametrize("run", [in_a_thread, in_a_pool, in_an_executor, in_a_worker_thread, from_another_loop])
def test_threads_that_the_block_starts_belong_to_it(run: Any) -> None:
    """Wherever an agent runs its tools, they are called once each, inside the span that ran them."""
    with rightcall.capture() as trajectory, span("invoke_agent") as agent:
        run(7)
    (call,) = trajectory.tool_calls
    assert (call.arguments, call.status, trajectory.gaps) == ({"order_id": 7}, "ok", ())
    assert trajectory.trace_ids == (f"{agent.get_span_context().trace_id:032x}",)


def test_a_pool_that_outlives_the_block_leaves_it() -> None:
    """A thread of a pool belongs to a block only while it runs what the block submitted."""
    with ThreadPoolExecutor(max_workers=1) as pool:
        with rightcall.capture() as first, span("invoke_agent"):
            pool.submit(lookup_order, 1).result()
        with rightcall.capture() as second:
            pool.submit(lookup_order, 2).result()
        assert pool.submit(trace.get_current_span).result() is trace.INVALID_SPAN
    assert [[call.arguments["order_id"] for call in one.tool_calls] for one in (first, second)] == [[1], [2]]


class Worker:
    """A thread that takes jobs from a queue, as libraries have them."""

    def __init__(self) -> None:
        self.jobs: queue.Queue[Callable[[], Any] | None] = queue.Queue()
        self.thread = threading.Thread(target=self.work)
        self.thread.start()

    def work(self) -> None:
        """Do each job."""
        while (job := self.jobs.get()) is not None:
            job()
            self.jobs.task_done()

    def do(self, job: Callable[[], Any]) -> None:
        """Have a job done."""
        self.jobs.put(job)
        self.jobs.join()

    def stop(self) -> None:
        """End the thread."""
        self.jobs.put(None)
        self.thread.join()


@pytest.mark.parametrize("begun_in", ["no block", "another block"])
def test_a_call_in_a_thread_that_took_nothing_along_is_a_gap(begun_in: str) -> None:
    """What may or may not be of the block is neither counted nor forgotten (G12)."""
    with rightcall.capture() if begun_in == "another block" else contextlib.nullcontext():
        worker = Worker()
    with rightcall.capture() as trajectory:
        asyncio.run(issue_refund(1))
        worker.do(lambda: lookup_order(2))
    worker.stop()
    assert names(trajectory) == ["issue_refund"]
    assert statuses(trajectory, required_tools=["issue_refund"]) == [("pass", "")]
    ((status, reason),) = statuses(trajectory, forbidden_tools=["lookup_order"])
    assert (status, "`execute_tool lookup_order`" in reason) == ("error", True)


def test_other_spans_outside_of_the_block_are_nothing_to_it() -> None:
    """A thread that writes spans of a database is no gap."""

    def query() -> None:
        with span("SELECT"):
            pass

    worker = Worker()
    with rightcall.capture() as trajectory:
        lookup_order(1)
        worker.do(query)
    worker.stop()
    assert (names(trajectory), trajectory.gaps) == (["lookup_order"], ())


def test_a_span_whose_parent_is_of_the_block_is_of_the_block() -> None:
    """Also where it begins in another context, such as in a server that takes the parent from a request."""
    worker = Worker()
    with rightcall.capture() as trajectory, span("invoke_agent") as agent:
        around = trace.set_span_in_context(agent, Context())

        def serve() -> None:
            token = attach(around)
            lookup_order(1)
            detach(token)

        worker.do(serve)
    worker.stop()
    assert (names(trajectory), trajectory.gaps) == (["lookup_order"], ())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_calls_in_a_process_that_was_forked_inside_are_a_gap() -> None:
    """They cannot be seen from here; that there were some can (G12)."""
    with rightcall.capture() as captured:
        lookup_order(1)
        in_fork(lambda: lookup_order(2))
    assert names(captured) == ["lookup_order"]
    (gap,) = captured.gaps
    assert gap.startswith("spans began in another process")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_forked_process_that_calls_nothing_is_no_gap() -> None:
    """Nor is one that has a block of its own, which knows no other process."""

    def work() -> None:
        captured = rightcall.capture()
        with captured as inner:
            lookup_order(2)
        assert (names(inner), inner.gaps) == (["lookup_order"], ())

    with rightcall.capture() as captured:
        lookup_order(1)
        in_fork(lambda: None)
    assert captured.gaps == ()
    in_fork(work)


def in_fork(work: Callable[[], object]) -> None:
    """Do something in a process that is forked from this one."""
    if process := os.fork():
        assert os.waitpid(process, 0)[1] == 0
        return
    code = 1
    try:
        work()
        code = 0
    finally:
        os._exit(code)

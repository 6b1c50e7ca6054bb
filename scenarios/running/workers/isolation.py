"""Tasks in worker processes within limits: a task that crashes, hangs or takes too much memory stops no other.

Whatever may crash, hang or grow goes through `IsolatedWorker`: it starts a process, sends it tasks, watches time and
memory, kills it and notices its death. The process ends with its owner, however the owner ends.
"""

from __future__ import annotations

import faulthandler
import math
import multiprocessing
import os
import pickle
import queue
import re
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, MutableMapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Generic, ParamSpec, TypeVar

from leaderboard.results.store import interrupts_wait
from metrics.columns import one_line, refuse, require
from scenarios.running.workers.fork_server import worker_context

# Limits of time and memory for one trial.

UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
# The interpreter, numpy and pandas themselves may allocate this much, so smaller limits make no sense.
LEAST_MEMORY = 16 * UNITS["M"]
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)


@dataclass(frozen=True)
class Limits:
    """Limits of time and memory for one trial, and for making one release.

    A ValueError is raised if a limit is not positive, not finite, or too small for any trial.

    - time: Wall-clock seconds; a worker process that takes longer is killed.
    - memory: Bytes in addition to those that the worker process held when it began the release.
    """

    time: float = 600.0
    memory: int = 4 * UNITS["G"]

    def __post_init__(self) -> None:
        require(
            math.isfinite(self.time) and self.time > 0,
            f"time limit: must be a positive number of seconds, got {self.time!r}",
        )
        refuse(
            self.memory < LEAST_MEMORY,
            f"memory limit: must be at least {written_size(LEAST_MEMORY)}, got {self.memory}",
        )


def read_size(text: str) -> int:
    """Parse a size such as ``4G``, ``500M`` or ``1.5 GiB`` (powers of 1024) as a number of bytes.

    Raises ValueError if the text is not a size.
    """
    match = _SIZE.fullmatch(text.strip())
    if not match:
        raise ValueError(f"{text!r} is no size; write one such as 4G or 500M")
    return int(float(match[1]) * UNITS[match[2].upper()])


def written_size(size: int) -> str:
    """Format a number of bytes in the largest unit of which it holds at least one, such as ``4G``."""
    unit = max((name for name in UNITS if size >= UNITS[name]), key=UNITS.__getitem__)
    return f"{size / UNITS[unit]:.4g}{unit}"


Task = TypeVar("Task")
Item = TypeVar("Item")
Arguments = ParamSpec("Arguments")
Outcome = TypeVar("Outcome")
LIMITS = Limits(time=120.0, memory=2 << 30)
"""Limits of one step of a task."""

# What a process and its owner tell each other: tasks one way; steps, items and None at the end of a task the other way.


@dataclass(frozen=True)
class TaskStep:
    """Announcement of a task's next step.

    - charged: Positions of the task's results that fail if the process does not finish the step.
    """

    name: str
    charged: tuple[int, ...] = ()


@dataclass(frozen=True)
class Death:
    """End of a worker process in the middle of a task.

    - step: Name of the step in which it ended; empty before the first one.
    - status: ``timeout``, ``oom``, or ``error`` for a crash.
    - reason: Why, in one line.
    - how: Exit code or signal of a crash; empty for other ends.
    - charged: Results that the step was charged with.
    - seconds: How long the step took.
    - frames: Lines of the traceback, innermost first.
    """

    step: str
    status: str
    reason: str
    how: str = field(default="", compare=False)
    charged: tuple[int, ...] = field(default=(), compare=False)
    seconds: float = field(default=0.0, compare=False)
    frames: tuple[str, ...] = field(default=(), compare=False)


class Stopped(RuntimeError):  # noqa: N818 (a requested stop, not an error)
    """A worker was closed while somebody waited for it."""


class LostProcessError(RuntimeError):
    """A process ended before it had answered."""

    def __init__(self, death: Death) -> None:
        super().__init__(death.reason)
        self.death = death


# The worker process.

# Signal from the owner: faulthandler then writes a traceback in C, whatever the process is doing.
WHERE = getattr(signal, "SIGUSR1", None)


def serve(connection: Connection, crashes: Connection, job: bytes, memory: int) -> None:
    """Do tasks until the connection closes.

    - connection: Receives tasks and sends items. The first message says that the process is ready, or why it cannot be.
    - crashes: Receives the tracebacks of faulthandler.
    - job: The pickled function, and what prepares the process for it.
    - memory: Number of bytes that a task may allocate.
    """
    leave_terminal()
    faulthandler.enable(file=crashes.fileno())
    if WHERE is not None:
        faulthandler.register(WHERE, file=crashes.fileno())
    function, prepare = pickle.loads(job)  # noqa: S301 (the bytes come from the process that started this one)
    send_or_end(connection, prepare())
    while True:
        try:
            task = connection.recv()
        except EOFError:
            return
        limit_memory(memory)
        for item in function(task):
            send_or_end(connection, item)
        send_or_end(connection, None)


def unprepared() -> None:
    """Prepare nothing, where a function needs no more than its module."""


def send_or_end(connection: Connection, item: Any) -> None:
    """Send an item to the owner, or end this process without a traceback if the owner is gone."""
    try:
        connection.send(item)
    except ConnectionError:
        raise SystemExit(1) from None


def leave_terminal() -> None:
    """Ignore Ctrl-C, redirect standard output, use one thread for linear algebra, and end with the owner."""
    import threadpoolctl

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        # Blocked since the server began; programs that a method starts would inherit that.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if hasattr(os, "setsid"):
        os.setsid()
    _die_with_owner()
    # Redirected to standard error, so that output of methods does not mix with the board.
    os.dup2(2, 1)
    threadpoolctl.threadpool_limits(1)


def _die_with_owner() -> None:
    """Have this process and its children killed when the owner process ends for any reason."""
    owner = parent_process()
    if owner is None:
        return
    try:
        # The kernel sends SIGKILL to the process group when the owner's end of the pipe closes, without any code here.
        import fcntl

        fcntl.fcntl(owner.sentinel, fcntl.F_SETOWN, -os.getpgrp())
        fcntl.fcntl(owner.sentinel, fcntl.F_SETSIG, signal.SIGKILL)
        flags = fcntl.fcntl(owner.sentinel, fcntl.F_GETFL)
        fcntl.fcntl(owner.sentinel, fcntl.F_SETFL, flags | os.O_ASYNC)
    except (ImportError, AttributeError, OSError):
        threading.Thread(target=_wait_for, args=[owner.sentinel], daemon=True).start()
    else:
        if wait([owner.sentinel], timeout=0):
            os._exit(1)


def _wait_for(sentinel: Any) -> None:
    wait([sentinel])
    os._exit(1)


def limit_memory(memory: int) -> None:
    """Limit further allocations to this many bytes; beyond them `MemoryError` is raised, if the system supports it."""
    try:
        import resource
    except ImportError:
        return
    current = _held("self", "data")
    if current:
        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        allowed = current + memory
        resource.setrlimit(resource.RLIMIT_DATA, (allowed if hard < 0 else min(allowed, hard), hard))


def _held(process: int | str, part: str) -> int:
    """Memory of a process in bytes, its `data` or all that is `resident`; 0 if the system does not report it."""
    try:
        pages = Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()
        return int(pages[{"resident": 1, "data": 5}[part]]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0


_NICE = 10
"""By how much work in the background yields to others that need a processor, such as the server of the site."""


def yield_processor() -> None:
    """Lower the priority of this process, so that pages do not wait for it."""
    if hasattr(os, "nice"):
        os.nice(_NICE)
    # Linux may divide processors among sessions first; then the priority of the session counts.
    with suppress(OSError):
        Path("/proc/self/autogroup").write_text(str(_NICE), encoding="ascii")


# Its owner.

# Seconds between looks at a process that works.
PAUSE = 0.1
# Seconds that a process has to get ready, to end after it closed its connection, and to write its traceback.
START, ENDING, LAST_WORDS = 120.0, 5.0, 0.2
_starting = threading.Lock()


class IsolatedWorker(Generic[Task, Item]):
    """A worker process that does one task after another, and is replaced when it is lost.

    - function: ``function(task)`` yields a `TaskStep` before each step, and items. It is pickled once for each process.
    - limits: Limits of one step.
    - prepare: Called in each new process. If it returns a text, which says why the process is of no use, `results`
      raises it as a `ValueError`.
    - hash_seed: Seed by which each process hashes texts. It then starts a new interpreter, which takes seconds.
    """

    def __init__(
        self,
        function: Callable[[Task], Iterable[TaskStep | Item]],
        limits: Limits = LIMITS,
        prepare: Callable[[], str | None] = unprepared,
        hash_seed: str | None = None,
    ) -> None:
        self._job, self._limits, self._hash_seed = pickle.dumps((function, prepare)), limits, hash_seed
        self._closed, self._working = threading.Event(), threading.Lock()
        self._child: _Child | None = None

    @property
    def closed(self) -> bool:
        """Whether the worker was closed or is about to be."""
        return self._closed.is_set()

    def results(self, task: Task) -> Iterator[Item | Death]:
        """Items of a task as they come; the last one is a `Death` if the process did not finish it.

        A closed worker yields no more items.
        """
        with self._working:
            step, began, finished = TaskStep(""), time.monotonic(), False
            try:
                child = self._ready()
                began = time.monotonic()
                child.send(task)
                while (item := self._message(child, began, self._limits.time)) is not None:
                    if isinstance(item, TaskStep):
                        step = item
                    else:
                        yield item
                    began = time.monotonic()
                finished = True
            except Stopped:
                return
            except LostProcessError as lost:
                seconds = time.monotonic() - began
                yield replace(lost.death, step=step.name, charged=step.charged, seconds=seconds)
            finally:
                # Whoever asked may have stopped early. The rest of this task must not be taken for the next one's.
                if not finished:
                    self._drop()

    def stop(self) -> None:
        """Let a running `results` end soon."""
        self._closed.set()

    def close(self) -> None:
        """End the process."""
        self.stop()
        waited = self._working.acquire(timeout=ENDING)
        self._drop()
        if waited:
            self._working.release()

    def _ready(self) -> _Child:
        """The process, started anew if there is none; if it died between two tasks, that is no task's fault."""
        if self._child is not None and not self._child.alive:
            self._drop()
        if self._child is None:
            if self.closed:
                raise Stopped
            # A process that is left half started complains of what it did not receive.
            with interrupts_wait():
                self._child = _Child(self._job, self._limits.memory, self._hash_seed)
            complaint = self._message(self._child, time.monotonic(), START)
            if complaint:
                raise ValueError(complaint)
        return self._child

    def _message(self, child: _Child, began: float, limit: float) -> Any:
        """Next message of the process, which is killed if its current step exceeds a limit."""
        while True:
            remaining = began + limit - time.monotonic()
            ready = wait([child.connection, child.sentinel], timeout=max(0.0, min(PAUSE, remaining)))
            if child.connection in ready:
                with suppress(EOFError, OSError):
                    return child.connection.recv()
            if self.closed:
                raise Stopped
            if ready:
                raise child.ended()
            if remaining <= 0:
                raise LostProcessError(Death("", "timeout", f"took longer than {limit:g} s", frames=child.kill()))
            if child.grown() > self._limits.memory:
                reason = f"used more than {written_size(self._limits.memory)} of memory"
                raise LostProcessError(Death("", "oom", reason, frames=child.kill()))

    def _drop(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.close()


class _Child:
    """A worker process and its connections."""

    def __init__(self, job: bytes, memory: int, hash_seed: str | None) -> None:
        context: Any = worker_context() if hash_seed is None else multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self._crashes, crashes = context.Pipe(duplex=False)
        self._kills, self._resident = _kernel_kills(), 0
        self._process: Any = context.Process(target=serve, args=(theirs, crashes, job, memory), daemon=True)
        own: Any = multiprocessing.current_process()
        # A daemonic process, such as a Dask worker, may start no child; ours ends with its owner anyway.
        parent = _set_meanwhile(own._config, "daemon", value=False)
        with _starting, parent, _set_meanwhile(os.environ, "PYTHONHASHSEED", hash_seed) if hash_seed else nullcontext():
            self._process.start()
        theirs.close()
        crashes.close()
        self._pid: int = self._process.pid
        self.sentinel: int = self._process.sentinel
        self._closed = False

    @property
    def alive(self) -> bool:
        """Whether the process is running."""
        return bool(self._process.is_alive())

    def send(self, task: Any) -> None:
        """Send a task to the process."""
        self._resident = _held(self._pid, "resident")
        try:
            self.connection.send(task)
        except OSError:
            raise self.ended() from None

    def grown(self) -> int:
        """Bytes of memory that the process holds more than before its task; 0 if the system does not report it."""
        return _held(self._pid, "resident") - self._resident if self._resident else 0

    def ended(self) -> LostProcessError:
        """Why a process is lost that was not killed by its owner."""
        self._process.join(ENDING)
        code, frames = self._process.exitcode, self._traceback()
        if code is None:
            return LostProcessError(Death("", "error", "closed the connection of its worker process", frames=frames))
        if code == -signal.SIGKILL and _kernel_kills() > self._kills:
            reason = "was killed by the system, which was out of memory"
            return LostProcessError(Death("", "oom", reason, frames=frames))
        how = f"exit code {code}" if code >= 0 else f"signal {-code} ({signal.strsignal(-code)})"
        return LostProcessError(Death("", "error", f"its process ended with {how}", how, frames=frames))

    def kill(self) -> tuple[str, ...]:
        """Request a traceback from the process, then kill it and its children; return the traceback."""
        if WHERE is not None:
            with suppress(OSError):
                os.kill(self._pid, WHERE)
            self._crashes.poll(LAST_WORDS)
            time.sleep(LAST_WORDS / 4)
        frames = self._traceback()
        self.close()
        return frames

    def close(self) -> None:
        """Kill the process and its children, if they are still running; a second call does nothing."""
        if self._closed:
            return
        self._closed = True
        if hasattr(os, "killpg"):
            with suppress(OSError):
                os.killpg(self._pid, signal.SIGKILL)
        with suppress(OSError):
            self._process.kill()
        self._process.join(START)
        if self._process.exitcode is not None:
            # Garbage collection would close the handles, too, but Python drops an interrupt that comes just then.
            self._process.close()
        with suppress(OSError):
            self.connection.close()
            self._crashes.close()

    def _traceback(self) -> tuple[str, ...]:
        """Lines of files in the traceback that the process has written, innermost first."""
        text = ""
        with suppress(OSError):
            while self._crashes.poll():
                part = os.read(self._crashes.fileno(), 65536)
                if not part:
                    break
                text += part.decode("utf-8", "replace")
        return tuple(line for line in text.splitlines() if re.match(r"\s+File ", line))


def _kernel_kills() -> int:
    """Number of processes that the kernel has killed for lack of memory, or 0 if it does not report it."""
    with suppress(OSError):
        match = re.search(r"^oom_kill (\d+)", Path("/proc/vmstat").read_text(encoding="ascii"), re.MULTILINE)
        return int(match[1]) if match else 0
    return 0


@contextmanager
def _set_meanwhile(items: MutableMapping[str, Any], key: str, value: object) -> Iterator[None]:
    """Let a mapping have this value; afterwards it is as before."""
    before = {key: items[key]} if key in items else {}
    items[key] = value
    try:
        yield
    finally:
        del items[key]
        items.update(before)


# Functions that are called in another process, so that they do not hold up the threads of this one.


@dataclass(frozen=True)
class _Done:
    """Outcome of a call in another process, or what it raised."""

    outcome: Any = None
    error: Exception | None = None


class SeparateProcess(IsolatedWorker[Any, _Done]):
    """Calls one function after another in a process that lasts, and that is replaced when it dies.

    The limits are those of one call; see `IsolatedWorker`.
    """

    def __init__(
        self, limits: Limits, prepare: Callable[[], str | None] = unprepared, hash_seed: str | None = None
    ) -> None:
        super().__init__(_called, limits, prepare, hash_seed)

    def call(
        self, function: Callable[Arguments, Outcome], *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Outcome:
        """Outcome of a function of a module; arguments and outcome are pickled. Call it from one thread at a time.

        It raises what the function raised, `LostProcessError` if the process ended, and `Stopped` if it was closed.
        """
        for done in list(self.results((function, args, kwargs))):
            if isinstance(done, Death):
                raise LostProcessError(done)
            if done.error is not None:
                raise done.error
            outcome: Outcome = done.outcome
            return outcome
        raise Stopped("the process was stopped")


def _called(task: tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]) -> Iterator[_Done]:
    """Call a function in this process, for another one, which gets the error if there is one."""
    function, args, kwargs = task
    try:
        done = _Done(function(*args, **kwargs))
    except Exception as error:
        # Tracebacks are not pickled; a note is.
        error.add_note(traceback.format_exc())
        done = _Done(error=error if _picklable(error) else RuntimeError(one_line(error)))
    yield done


def _picklable(error: Exception) -> bool:
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 (this process has just written them)
    except Exception:
        return False
    return True


# Several workers, each driven by a thread.

# Largest batch, and seconds for which a batch waits for more items: a transaction costs as much as ten small trials.
BATCH, LINGER = 500, 0.05


AnyWorker = TypeVar("AnyWorker", bound=IsolatedWorker[Any, Any])


def in_threads(workers: Sequence[AnyWorker], work: Callable[[AnyWorker], Iterable[Item]]) -> Iterator[list[Item]]:
    """What `work` yields for each worker, in batches as it comes; in the end, or at an error, all workers are closed.

    ``work(worker)`` runs in one thread for each worker.
    """
    ended = SimpleQueue[list[Item] | BaseException | None]()

    def run(worker: AnyWorker) -> None:
        try:
            for item in work(worker):
                ended.put([item])
            ended.put(None)
        except Stopped:
            pass
        except BaseException as error:  # raised again in the thread that waits for items
            ended.put(error)

    threads = [threading.Thread(target=run, args=[worker], daemon=True) for worker in workers]
    try:
        for thread in threads:
            thread.start()
        yield from _gathered(ended, len(threads))
    finally:
        for worker in workers:
            worker.stop()
        for worker in workers:
            worker.close()


def _gathered(ended: SimpleQueue[list[Item] | BaseException | None], running: int) -> Iterator[list[Item]]:
    """Batches of the queued items, until all running threads have ended; an interrupt loses none that has ended."""
    while running:
        batch: list[Item] = []
        closes = math.inf
        stopped: BaseException | None = None
        try:
            while running and len(batch) < BATCH:
                item = ended.get(timeout=max(0.0, closes - time.monotonic()) if batch else None)
                if not batch:
                    closes = time.monotonic() + LINGER
                if isinstance(item, BaseException):
                    raise item
                if item is None:
                    running -= 1
                else:
                    batch += item
        except queue.Empty:
            pass
        except BaseException as error:  # raised again once the items are stored
            stopped = error
            while not ended.empty():
                item = ended.get()
                batch += item if isinstance(item, list) else []
        if batch:
            yield batch
        if stopped is not None:
            raise stopped


def isolated(
    function: Callable[[Task], Iterable[TaskStep | Item]],
    tasks: Sequence[Task],
    jobs: int,
    limits: Limits = LIMITS,
) -> Iterator[tuple[Task, list[Item | Death]]]:
    """Do tasks in worker processes, and yield each with its items as it ends, in any order.

    Tasks are begun in their order. For `function` and `limits`, see `IsolatedWorker`.

    - jobs: Number of processes.
    """
    # Each thread takes the next task of the one iterator.
    waiting = iter(list(tasks))

    def work(worker: IsolatedWorker[Task, Item]) -> Iterator[tuple[Task, list[Item | Death]]]:
        for task in waiting:
            items = list(worker.results(task))
            if worker.closed:
                raise Stopped
            yield task, items

    workers = [IsolatedWorker[Task, Item](function, limits) for _ in range(min(jobs, len(tasks)))]
    for batch in in_threads(workers, work):
        yield from batch

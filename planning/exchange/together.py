# SPDX-License-Identifier: Apache-2.0
"""
Many phases scheduled by this process and a second one.

Phases do not depend on each other, and most of their time is spent in loops of Python, which threads do not
share. The second process is a plain Python that reads tasks from its standard input and answers on its
standard output: no fork, since the program around us may have threads, and none of multiprocessing's, which
would import that program's main file again. A schedule depends on its messages and the machine alone, so it
does not matter who makes it; what the second process does not answer is made here, and only time is lost.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import IO, Any

from tilewright.diagnostics import TileError
from tilewright.host import note_started, peak_rss_bytes
from tilewright.machine import Machine
from tilewright.planning.exchange.fabric import FABRICS
from tilewright.planning.exchange.messages import Messages

WORTH = 150_000
"""Messages scheduled here before a second process is started, which takes as long as a few ten thousand."""

Task = Callable[[], tuple[Messages, bool]]
"""Makes the messages of a phase, and says whether 8-byte items may be used."""

Planned = tuple[Any, int]
"""A schedule, and the cycles that were estimated for it."""


def plan_phase(messages: Messages, machine: Machine, wide: bool) -> Planned:
    """
    The schedule of a phase and its estimate; `wide`: 8-byte items may be used. What a schedule works out of
    itself only when it is asked (rows, bound, conflicts) is there. Raises ExchangeError.
    """
    fabric = FABRICS.of(machine)
    schedule = fabric.schedule(messages, machine, paired=None if wide else False)
    for late in ("row_words", "summary"):
        getattr(schedule, late)
    schedule.conflicts()
    return schedule, fabric.estimate(messages, machine, paired=wide).cycles


def plan_phases(
    tasks: Sequence[Task], machine: Machine, told: Callable[[int, int], None] = lambda done, total: None
) -> list[Planned | None]:
    """
    `plan_phase` of every task. From the first that raises on, some are None: whoever asks for them one by one
    hears why. `told` hears of the progress, tasks done and all. A second process helps where there are a
    second processor and enough to do.
    """
    found: list[Planned | None] = [None] * len(tasks)
    todo = deque(range(len(tasks)))
    helper: _Helper | None = None
    try:
        messages_done = 0
        while True:
            try:
                number = todo.popleft()
            except IndexError:
                if helper is not None:
                    helper.join()  # it may give a task back
                if not todo:
                    return found
                continue
            told(number, len(tasks))
            try:
                messages, wide = tasks[number]()
                found[number] = plan_phase(messages, machine, wide)
            except TileError:
                return found
            messages_done += len(messages)
            if helper is None and messages_done >= WORTH and len(todo) > 1 and processors() > 1:
                helper = _Helper(tasks, machine, todo, found)
    finally:
        todo.clear()
        if helper is not None:
            helper.close()


def processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Helper:
    """The second process, and the thread that gives it the last of the tasks, then the one before."""

    def __init__(
        self, tasks: Sequence[Task], machine: Machine, todo: deque[int], found: list[Planned | None]
    ) -> None:
        self.tasks, self.machine, self.todo, self.found = tasks, machine, todo, found
        self.process: subprocess.Popen[bytes] | None = None
        self.thread = threading.Thread(target=self._run, name="exchange phases", daemon=True)
        self.thread.start()

    def _run(self) -> None:
        program = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import answer; answer()"
        command = [sys.executable, "-c", program]
        pipe = subprocess.PIPE
        with (
            suppress(Exception),  # it cannot be started, or it died: what is left is done without it
            subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL) as self.process,
        ):
            assert self.process.stdin is not None and self.process.stdout is not None
            pickle.dump(self.machine, self.process.stdin, protocol=5)
            while self.todo:
                number = self.todo.pop()
                try:
                    _Writer(self.process.stdin, protocol=5).dump(self.tasks[number]())
                    self.process.stdin.flush()
                    self.found[number], peak = _Reader(self.process.stdout, self.machine).load()
                    note_started(peak)
                except Exception:
                    self.todo.append(number)
                    raise

    def join(self) -> None:
        """Wait until it has done what it took."""
        self.thread.join()

    def close(self) -> None:
        """End the process, whatever it does."""
        if self.process is not None:
            self.process.kill()
        self.thread.join()


class _Writer(pickle.Pickler):
    """Leaves the machine out, which both sides have."""

    def persistent_id(self, obj: Any) -> str | None:
        return "machine" if isinstance(obj, Machine) else None


class _Reader(pickle.Unpickler):
    def __init__(self, file: IO[bytes], machine: Machine) -> None:
        super().__init__(file)
        self.machine = machine

    def persistent_load(self, pid: Any) -> Machine:
        return self.machine


def answer() -> None:
    """
    What the second process does: it answers every task, with the most memory it has held, until there are no
    more.
    """
    tasks, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever is printed does not reach the answers
    machine = pickle.load(tasks)
    while True:
        try:
            messages, wide = _Reader(tasks, machine).load()
        except EOFError:
            return
        _Writer(answers, protocol=5).dump((plan_phase(messages, machine, wide), peak_rss_bytes()))
        answers.flush()

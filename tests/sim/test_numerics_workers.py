# SPDX-License-Identifier: Apache-2.0
"""Work shared out to threads: every item once, none inside of another's work, failures passed on."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from tilewright.machine.numerics import workers


def test_every_item_comes_to_one_thread() -> None:
    done: list[int] = []
    threads: set[int] = set()
    together = threading.Barrier(3, timeout=20)

    def work(items: Iterator[int]) -> None:
        together.wait()
        threads.add(threading.get_ident())
        done.extend(items)

    workers.share(range(1000), work, 3)
    assert sorted(done) == list(range(1000))
    assert len(threads) == 3


def test_no_more_threads_than_items_and_none_for_one() -> None:
    threads: set[int] = set()

    def work(items: Iterator[int]) -> None:
        assert list(items) == [7]
        threads.add(threading.get_ident())

    workers.share([7], work, 4)
    assert threads == {threading.get_ident()}


def test_shared_work_divides_its_own_work_no_further(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    def work(items: Iterator[int]) -> None:
        for _ in items:
            seen.append(workers.count())

    monkeypatch.setattr(workers.os, "sched_getaffinity", lambda process: range(3), raising=False)
    assert workers.count() == 3
    workers.share(range(4), work, 3)
    assert seen == [1, 1, 1, 1]
    assert workers.count() == 3


def test_failures_are_passed_on() -> None:
    def work(items: Iterator[int]) -> None:
        for item in items:
            if item == 5:
                raise ValueError("five")

    with pytest.raises(ValueError, match="five"):
        workers.share(range(9), work, 2)

# SPDX-License-Identifier: Apache-2.0
"""
Who prices plans: this process, or the workers of any `concurrent.futures.Executor`.

A task is a program, known by its digest, and what was decided about it; the answer is the price and the plan
that follows. Tasks go out in batches and answers come back in order, so the plan that is found does not
depend on the number of workers, on the batches, or on who dies: what a worker does not answer is priced here.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from multiprocessing import get_context
from typing import Any

from tilewright.diagnostics import TileError
from tilewright.machine import Machine
from tilewright.planning.graph import Graph, Node, OperatorNode, Placement, RepeatNode
from tilewright.planning.operators.strategy import Choice, offered, read_choice
from tilewright.planning.plan import Plan
from tilewright.planning.search.favourites import Decisions, Planned, choose
from tilewright.planning.search.price import Price, Pricer
from tilewright.planning.unfold import unfold

BATCH = 16
"""Tasks that are sent to the workers at a time."""


class ExecutorError(TileError):
    """An executor that cannot be had."""


@dataclass(frozen=True)
class Program:
    """What does not change during a search."""

    graph: Graph
    machine: Machine
    demanded: Plan
    balanced: bool = True
    row_cap: int | None = None


@dataclass(frozen=True)
class Answer:
    """The price of a program and the plan that it is of; or why there is none."""

    price: Price | None
    planned: Planned | None
    refusal: str = ""


class Evaluator:
    """Prices programs in this process."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.pricer = Pricer(program.machine, balanced=program.balanced, row_cap=program.row_cap)

    def one(self, decisions: Decisions) -> Answer:
        """The price under some decisions."""
        given = self.program
        try:
            planned = choose(
                given.graph, given.machine, given.demanded, decisions=decisions, expander=self.pricer
            )
            unfolded = unfold(given.graph, planned.choices, planned.placements, given.machine, self.pricer)
            return Answer(self.pricer.price(unfolded), planned)
        except TileError as error:
            return Answer(None, None, error.message)

    def many(self, tasks: Sequence[Decisions]) -> list[Answer]:
        """The price under each of several decisions, in order."""
        return [self.one(decisions) for decisions in tasks]


Wire = tuple[dict[str, dict[str, Any]], dict[str, Placement]]
"""Decisions, or a plan, without strategies: those are functions, and known by name."""


class SharedEvaluator(Evaluator):
    """Prices programs by the workers of an executor."""

    def __init__(self, program: Program, executor: Executor, batch: int = BATCH) -> None:
        super().__init__(program)
        self.executor: Executor | None = executor
        self.batch = max(1, batch)
        self.payload = pickle.dumps((_without_places(program), offered()))
        self.digest = hashlib.sha256(self.payload).hexdigest()
        self.operators = {
            node.name: node.operator for node in program.graph.nodes() if isinstance(node, OperatorNode)
        }

    def many(self, tasks: Sequence[Decisions]) -> list[Answer]:
        answers: list[Answer] = []
        for start in range(0, len(tasks), self.batch):
            answers += self._batch(tasks[start : start + self.batch])
        return answers

    def _batch(self, tasks: Sequence[Decisions]) -> list[Answer]:
        if self.executor is None or len(tasks) == 1:
            return super().many(tasks)
        found: list[Answer | None] = [None] * len(tasks)
        try:
            futures = [
                self.executor.submit(_price, self.digest, self.payload, _wire(task.choices, task.layouts))
                for task in tasks
            ]
            for i, future in enumerate(futures):
                found[i] = self._read(future.result())
        except Exception:  # a worker that died, a cluster that went away: only time is lost
            self.executor = None
        return [answer or self.one(task) for answer, task in zip(found, tasks, strict=True)]

    def _read(self, answer: tuple[Price | None, Any, Any, str]) -> Answer:
        price, choices, placements, refusal = answer
        if price is None:
            return Answer(None, None, refusal)
        assert choices is not None
        read = {name: read_choice(self.operators[name], data) for name, data in choices.items()}
        return Answer(price, Planned(read, placements))


_known: dict[str, Evaluator] = {}


def _price(digest: str, payload: bytes, wire: Wire) -> tuple[Any, Any, Any, str]:
    """What a worker does: it remembers the expansions of the program that it was asked about last."""
    evaluator = _known.get(digest)
    if evaluator is None:
        program, strategies = pickle.loads(payload)
        if strategies != offered():
            raise RuntimeError("a worker offers other strategies")  # registered by hand: price them here
        _known.clear()
        evaluator = _known[digest] = Evaluator(program)
    operators = {
        node.name: node.operator for node in evaluator.program.graph.nodes() if isinstance(node, OperatorNode)
    }
    choices = {name: read_choice(operators[name], data) for name, data in wire[0].items()}
    answer = evaluator.one(Decisions(choices, wire[1]))
    if answer.planned is None:
        return None, None, None, answer.refusal
    written, placements = _wire(answer.planned.choices, answer.planned.placements)
    return answer.price, written, placements, ""


def _wire(choices: Mapping[str, Choice], placements: Mapping[Any, Placement]) -> tuple[Any, Any]:
    return {name: choice.to_json() for name, choice in choices.items()}, dict(placements)


def _without_places(program: Program) -> Program:
    """The program without where its text is, which nobody prices."""

    def strip(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
        return tuple(
            replace(node, where=None, body=strip(node.body))
            if isinstance(node, RepeatNode)
            else replace(node, where=None)
            for node in nodes
        )

    graph = program.graph
    return replace(program, graph=Graph(graph.values, graph.arguments, strip(graph.body)))


@contextmanager
def executor_of(spec: str | None) -> Iterator[Executor | None]:
    """
    The executor that a text names: `processes[:N]` (N workers, without it one for each core), or
    `dask://HOST:PORT` (a scheduler of dask.distributed); None for no text. Raises ExecutorError.
    """
    if spec is None:
        yield None
        return
    kind, _, rest = spec.partition(":")
    if kind == "processes" and (not rest or (rest.isdigit() and int(rest) > 0)):
        pool = ProcessPoolExecutor(int(rest) if rest else None, mp_context=get_context("spawn"))
        try:
            yield pool
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
        return
    if kind == "dask" and rest.startswith("//") and len(rest) > 2:
        try:
            from distributed import Client  # pyright: ignore[reportMissingImports]
        except ImportError:
            raise ExecutorError(
                "dask.distributed is not installed", hint="pip install tilewright[dask]"
            ) from None
        try:
            client = Client(f"tcp:{rest}", timeout=10)
        except OSError as error:
            raise ExecutorError(f"no scheduler answers at {rest[2:]}: {error}") from None
        try:
            yield client.get_executor()
        finally:
            client.close()
        return
    raise ExecutorError(f"'{spec}' names no executor", hint="processes, processes:N or dask://HOST:PORT")

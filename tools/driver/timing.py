# SPDX-License-Identifier: Apache-2.0
"""Where the time of a run goes: a tree of steps with wall time, time of the processor, and peak memory."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tilewright.host import peak_rss_bytes
from tilewright.instrumentation import Instrument


@dataclass
class Node:
    """One step: seconds of wall and processor time, and the process's peak memory in bytes when it ended."""

    name: str
    wall: float = 0.0
    processor: float = 0.0
    peak_bytes: int = 0
    children: list[Node] = field(default_factory=list["Node"])


class Timing(Instrument):
    """Times every step, and `scope`s of the tool itself."""

    def __init__(self) -> None:
        self.root = Node("total")
        self._open: list[tuple[Node, float, float]] = []
        self._start(self.root)

    def _start(self, node: Node) -> None:
        if self._open:
            self._open[-1][0].children.append(node)
        self._open.append((node, time.perf_counter(), time.process_time()))

    def _stop(self) -> None:
        node, wall, processor = self._open.pop()
        node.wall = time.perf_counter() - wall
        node.processor = time.process_time() - processor
        node.peak_bytes = peak_rss_bytes()

    @contextmanager
    def scope(self, name: str) -> Generator[None]:
        """A step of the tool, such as reading."""
        self._start(Node(name))
        try:
            yield
        finally:
            self._stop()

    def before(self, step: str, module: object) -> None:
        self._start(Node(step))

    def after(self, step: str, module: object) -> None:
        self._stop()

    def failed(self, step: str, module: object, error: Exception) -> None:
        self._stop()

    def report(self) -> str:
        """The tree, as text."""
        while self._open:
            self._stop()
        lines = ["  wall s   cpu s  share   peak MiB  step"]
        total = max(self.root.wall, 1e-9)

        def show(node: Node, depth: int) -> None:
            lines.append(
                f"{node.wall:8.3f}{node.processor:8.3f}{100 * node.wall / total:6.0f}%"
                f"{node.peak_bytes / 2**20:11.1f}  {'  ' * depth}{node.name}"
            )
            for child in node.children:
                show(child, depth + 1)

        for child in self.root.children:
            show(child, 0)
        show(Node("total", self.root.wall, self.root.processor, self.root.peak_bytes), 0)
        return "\n".join(lines) + "\n"

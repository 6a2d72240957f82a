# SPDX-License-Identifier: Apache-2.0
"""Every rule of a placement: the allocator keeps it, the checker sees it broken."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from tilewright.machine import load
from tilewright.planning.memory.check import check
from tilewright.planning.memory.instances import guillotine
from tilewright.planning.memory.place import Unplaced, allocate
from tilewright.planning.memory.problem import (
    Alternative,
    Buffer,
    Option,
    Problem,
    Region,
    Solution,
    TileClass,
    regions_of,
)

C600 = load("c600")
REGIONS = regions_of(C600)
STANDARD, INTERLEAVED = REGIONS


def problem_of(*buffers: Buffer, **more: object) -> Problem:
    given: dict[str, object] = {"ranges": C600.available(), "regions": REGIONS, **more}
    problem = Problem(buffers, **given)  # type: ignore[arg-type]
    problem.check()
    return problem


def place(problem: Problem) -> dict[str, int]:
    solution = allocate(problem, 50_000, polish=0)
    assert check(problem, solution.addresses, solution.choices) == []
    return {b.name: a for b, a in zip(problem.buffers, solution.addresses, strict=True) if a is not None}


def elements(problem: Problem, name: str, at: int, extra: int = 0) -> set[int]:
    b = problem.buffer(name)
    return set(C600.element_index(np.arange(at, at + b.extent + extra)).tolist())


# -- sequences


def sequence(name: str = "weights", nbytes: int = 8, count: int = 27, **more: object) -> Buffer:
    return Buffer(name, nbytes, 0, 9, count=count, stride=nbytes, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("memory", ["any", "standard", "interleaved"])
def test_a_constrained_sequence_takes_whole_elements_around_it_as_one_unit(memory: str) -> None:
    """27 members with one constraint: the unit rounded to elements, not 27 elements of 16 KiB."""
    weights = sequence(nbytes=2880, exclusive=True, memory=memory)
    others = [Buffer(f"x{i}", 24_000, i, i + 3) for i in range(6)]
    problem = problem_of(weights, *others, separate=(("weights", "x0"),))
    where = place(problem)
    mine = elements(problem, "weights", where["weights"])
    assert len(mine) <= -(-weights.extent // STANDARD.element_bytes) + 1
    assert len(mine) * STANDARD.element_bytes < 442_368
    for other in others:
        assert not mine & elements(problem, other.name, where[other.name])


def test_strides_are_the_same_in_both_regions() -> None:
    for memory, region in (("standard", STANDARD), ("interleaved", INTERLEAVED)):
        weights = sequence(nbytes=1000, memory=memory, exclusive=True)
        at = place(problem_of(weights))["weights"]
        assert region.start <= at and at + 27 * 1000 <= region.end
        assert weights.extent == 27 * 1000


def test_sequences_constrained_on_their_own_keep_individual_spacing() -> None:
    """Independent constraints: each sequence is a unit, and none shares the other's elements."""
    problem = problem_of(sequence("a", 1000, exclusive=True), sequence("b", 1000, exclusive=True))
    where = place(problem)
    assert not elements(problem, "a", where["a"]) & elements(problem, "b", where["b"])


# -- support


def test_code_finds_an_earlier_hole_when_the_tail_is_full() -> None:
    """The end of the executable region is taken by a pinned tensor; code goes before it, with its guard."""
    end = STANDARD.end
    tensor = Buffer("x", 0x1C000, 0, 9, at=end - 0x1C000)
    code = Buffer("code", 8000, 0, 9, memory="executable", kind="code", tail=64)
    problem = problem_of(tensor, code)
    where = place(problem)
    assert where["code"] < tensor.at
    assert not elements(problem, "code", where["code"], 64) & elements(problem, "x", tensor.at)


def test_code_never_shares_an_element_with_a_tensor_but_does_with_data() -> None:
    code = Buffer("code", 8000, 0, 9, memory="executable", kind="code")
    data = Buffer("tables", 4000, 0, 9, kind="data", prefer="standard")
    fill = [Buffer(f"x{i}", 7_000, 0, 9) for i in range(2)]
    problem = problem_of(code, data, *fill, ranges=((STANDARD.start, STANDARD.start + 2 * 16_384),))
    where = place(problem)
    mine = elements(problem, "code", where["code"])
    assert all(not mine & elements(problem, b.name, where[b.name]) for b in fill)
    assert mine & elements(problem, "tables", where["tables"])  # nowhere else is so much left


def test_samples_and_descriptors_use_region_1_without_element_padding() -> None:
    """Plain data lies directly beside a tensor, in the interleaved region when the other is full."""
    full = [Buffer(f"full{i}", b - a, 0, 9, at=a) for i, (a, b) in enumerate(C600.available("standard"))]
    data = [Buffer(f"samples{i}", 1000, 0, 9, kind="data") for i in range(3)]
    tensor = Buffer("x", 1000, 0, 9, memory="interleaved")
    where = place(problem_of(*full, *data, tensor))
    at = sorted(where[n] for n in ("samples0", "samples1", "samples2", "x"))
    assert at[0] >= INTERLEAVED.start
    assert [b - a for a, b in pairwise(at)] == [1000] * 3


@pytest.mark.parametrize("size", [10_000, 300])
def test_a_reserved_hole_in_region_1_is_respected_by_every_class(size: int) -> None:
    """
    A reservation in the middle of the region, also where what is left of it is too small for the buffer.
    """
    start, end = INTERLEAVED.start, INTERLEAVED.start + 2 * size
    hole = (start + size // 2, start + size)
    ranges = ((start, hole[0]), (hole[1], end + size))
    classes = (TileClass(0, 1000), TileClass(1000, 472))
    buffers = [Buffer(f"c{c}", size, 0, 9, classes=(c,)) for c in (0, 1)] + [Buffer("both", size // 4, 0, 9)]
    problem = problem_of(*buffers, ranges=ranges, classes=classes)
    for name, at in place(problem).items():
        b = problem.buffer(name)
        assert at + b.nbytes <= hole[0] or at >= hole[1]


# -- lives, classes, aliases, alternatives


def test_buffers_that_no_class_holds_together_share_bytes() -> None:
    size = INTERLEAVED.end - INTERLEAVED.start - 0x3000
    buffers = [Buffer(f"home{c}", size, 0, 9, memory="interleaved", classes=(c,)) for c in range(3)]
    classes = tuple(TileClass(c, 1) for c in range(3))
    where = place(problem_of(*buffers, classes=classes))
    assert len(set(where.values())) == 1
    with pytest.raises(Unplaced):
        place(problem_of(*(replace(b, classes=()) for b in buffers)))


def test_an_alias_lies_in_its_buffer() -> None:
    root = Buffer("root", 4096, 0, 3)
    view = Buffer("view", 1024, 2, 6, alias="root", offset=512)
    other = Buffer("other", 4096, 5, 6)
    where = place(problem_of(root, view, other))
    assert where["view"] == where["root"] + 512
    assert where["other"] + 4096 <= where["view"] or where["other"] >= where["view"] + 1024


def test_the_first_option_that_fits_is_taken() -> None:
    room = 1000
    buffers = (Buffer("big", 1200, 0, 1), Buffer("small", 400, 0, 1), Buffer("x", 600, 0, 1))
    options = (Option("stream", ("big",)), Option("whole", ("small",)))
    problem = Problem(buffers, ((0, room),), alternatives=(Alternative("weights", options),))
    solution = allocate(problem)
    assert solution.choices == (1,)
    assert solution.addresses[0] is None
    assert check(problem, solution.addresses, solution.choices) == []
    assert check(problem, (0, 400, 0), (1,))[0].rule == "choice"


def test_a_tail_stays_inside_the_region_and_may_lie_over_others() -> None:
    region = (Region("standard", 0, 1024, 256),)
    problem = Problem(
        (Buffer("a", 512, 0, 1, tail=512), Buffer("b", 512, 0, 1)), ((0, 1024),), regions=region
    )
    where = place(problem)
    assert where == {"a": 0, "b": 512}
    assert {f.rule for f in check(problem, (512, 0))} == {"tail"}


def test_results_do_not_depend_on_the_hash_seed() -> None:
    import subprocess
    import sys

    script = (
        "from tilewright.planning.memory.instances import guillotine\n"
        "from tilewright.planning.memory.place import allocate\n"
        "print([allocate(guillotine(30, 0.92, s)[0], 20000).addresses for s in (1, 2)])"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "77")
    }
    assert len(texts) == 1


# -- the checker, against a picture of the bytes


def painted(problem: Problem, addresses: list[int]) -> bool:
    """Whether a placement is legal, found byte by byte at every event on every class."""
    for b, at in zip(problem.buffers, addresses, strict=True):
        if at % b.alignment or not any(a <= at and at + b.extent + b.guard <= e for a, e in problem.ranges):
            return False
        region = problem.region_of(at)
        if region is None or at + b.extent + b.tail > region.end:
            return False
        if b.memory not in ("any", region.name) and not (b.memory == "executable" and region.executable):
            return False
    top = max(r.end for r in problem.regions)
    cuts = [0]
    for region in problem.regions:
        cuts += list(range(region.start, region.end, region.element_bytes))
    element = np.zeros(top + 64, np.int64)
    for cut in cuts:
        element[cut:] += 1
    apart = {frozenset(p) for p in problem.separate}
    for number in range(len(problem.classes)):
        for event in range(max(b.last for b in problem.buffers) + 1):
            live = [
                (b, a)
                for b, a in zip(problem.buffers, addresses, strict=True)
                if b.live_at(event) and (not b.classes or number in b.classes)
            ]
            count = np.zeros(top + 64, np.int64)
            for b, a in live:
                count[a : a + b.extent + b.guard] += 1
            if (count > 1).any():
                return False
            touched = {b.name: set(element[a : a + b.extent + b.tail].tolist()) for b, a in live}
            for i, (a, _) in enumerate(live):
                for b, _ in live[i + 1 :]:
                    never = frozenset((a.name, b.name)) in apart or a.exclusive or b.exclusive
                    never = never or {a.kind, b.kind} == {"code", "tensor"}
                    if never and touched[a.name] & touched[b.name]:
                        return False
    return True


TINY = (Region("standard", 0, 1024, 256, True), Region("interleaved", 1024, 2048, 512))


def tiny(seed: int) -> Problem:
    """A crowded little problem with every kind of rule."""
    rng = random.Random(seed)
    buffers = []
    for i in range(10):
        first = rng.randrange(6)
        code = i == 0
        buffers.append(
            Buffer(
                f"b{i}",
                rng.randrange(4, 200, 4),
                0 if code else first,
                7 if code else min(7, first + rng.randrange(4)),
                alignment=rng.choice((4, 8, 16)),
                memory="executable" if code else rng.choice(("any", "any", "interleaved")),
                kind="code" if code else "data" if i == 1 else "tensor",
                tail=rng.choice((0, 0, 16)),
                guard=16 if code else 0,
                exclusive=i == 2,
                classes=rng.choice(((), (), (0,), (1,))),
            )
        )
    sequence = Buffer("s", 24, 0, 7, count=4, stride=24)
    pairs = tuple((f"b{i}", f"b{i + 1}") for i in range(3, 8, 2))
    return Problem(
        (*buffers, sequence), ((0, 900), (1064, 2000)), pairs, TINY, (TileClass(0, 3), TileClass(3, 1))
    )


@pytest.mark.parametrize("seed", range(10))
def test_a_hundred_mutations_of_each_of_ten_placements_are_caught(seed: int) -> None:
    """
    One buffer, life, range or rule shifted by a unit: the checker says what a picture of the bytes says.
    """
    problem = tiny(seed)
    addresses = [int(a) for a in allocate(problem, 20_000).addresses if a is not None]
    assert painted(problem, addresses) and check(problem, addresses) == []
    rng = random.Random(seed)
    illegal = 0
    for _ in range(100):
        changed, at = problem, list(addresses)
        i = rng.randrange(len(problem.buffers))
        b = problem.buffers[i]
        match rng.randrange(5):
            case 0:
                at[i] = max(0, at[i] + rng.choice((-1, 1)) * b.alignment)
            case 1:
                b = replace(b, first=max(0, b.first - 1), last=min(7, b.last + 1))
            case 2:
                b = replace(
                    b, nbytes=b.nbytes + 4, stride=b.stride + 8 if b.count > 1 else 0, tail=b.tail + 4
                )
            case 3:
                lo, hi = problem.ranges[rng.randrange(2)]
                cut = rng.choice((lo + 4, lo + 64))
                changed = replace(
                    problem, ranges=tuple((cut, e) if a == lo else (a, e) for a, e in problem.ranges)
                )
                del hi
            case _:
                j = rng.randrange(len(problem.buffers))
                if i != j:
                    at[i] = -(-(at[j] + problem.buffers[j].extent - 4) // b.alignment) * b.alignment
        changed = replace(changed, buffers=tuple(b if k == i else x for k, x in enumerate(changed.buffers)))
        legal = painted(changed, at)
        assert (check(changed, at) == []) == legal, [str(f) for f in check(changed, at)]
        illegal += not legal
    assert illegal >= 10


def test_problems_and_solutions_survive_their_files() -> None:
    problem, addresses = guillotine(12, 0.9, 1)
    assert Problem.from_json(problem.to_json()) == problem
    assert Problem.from_json(tiny(3).to_json()) == tiny(3)
    solution = Solution(addresses, (), 5, 4, 3, "area")
    assert Solution.from_json(solution.to_json(problem), problem) == solution


def test_what_fits_nowhere_ends_the_search() -> None:
    """A tail longer than any range: no order can help, and none is tried."""
    others = [Buffer(f"b{i}", 64, 0, 9) for i in range(20)]
    problem = problem_of(*others, Buffer("rows", 64, 0, 9, tail=1 << 31))
    with pytest.raises(Unplaced) as failed:
        allocate(problem, 50_000, polish=0)
    assert failed.value.solution.nodes < 1000
    assert [a is None for a in failed.value.solution.addresses] == [False] * 20 + [True]

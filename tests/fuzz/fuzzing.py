# SPDX-License-Identifier: Apache-2.0
"""
The fuzzer: mutants of programs at every level, of program folders, and of plan, machine, problem and solution
files, through the tools in process.

A mutant may be refused (status 1 and a diagnostic) or be good (status 0). Anything else is a fault: a
traceback, status 70, more than `SECONDS` of processor time, more than `BYTES` of memory. A mutant follows
from its number alone: `python tests/fuzz/fuzzing.py 1234` makes number 1234 again and shows what happens.
"""

from __future__ import annotations

import contextlib
import gc
import io
import multiprocessing
import os
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import mutate
from peak_memory import peak_bytes

SECONDS = 10
"""Processor time that a mutant may take."""
BYTES = 2 << 30
"""Memory that a mutant may take."""

ROOT = Path(__file__).parents[2]

PIPELINES = {
    "tensor": (
        "",
        "tile-plan-layouts",
        "tile-fuse-epilogues,tile-plan-layouts,tile-lower-to-buffers",
        "tile-unroll-repeat",
        "tile-roll-repeat",
        "tile-quantize",
        "tile-plan-layouts{homes=ready},tile-convert-compact-micro-panels,tile-select-homes{check=false}",
        "tile-plan-layouts,tile-unroll-repeat",
        "canonicalize,cse",
        "tile-compile",
    ),
    "placed": (
        "",
        "tile-lower-to-buffers",
        "tile-select-homes{check=false}",
        "tile-unroll-repeat",
        "tile-compile",
    ),
    "buffers": (
        "",
        "tile-merge-phases,tile-schedule-exchange",
        "tile-schedule-exchange,tile-allocate-memory",
        "tile-allocate-sequences",
    ),
    "allocated": ("", "tile-lower-to-asm", "tile-allocate-memory,tile-lower-to-asm"),
    "asm": ("",),
}

MLP = """builtin.module attributes {tile.machine = "t4"} {
  func.func @main(%x: tensor<4x8xf16> {tile_tensor.input = "x"},
      %w: tensor<8x8xf16> {tile_tensor.parameter = "w"}, %g: tensor<8xf16> {tile_tensor.parameter = "g"})
      -> (tensor<4x8xf16> {tile_tensor.output = "y"}) {
    %c = tile_tensor.constant dense<-1.0e9> : tensor<8xf16>
    %m = tile_tensor.matmul %x, %w accumulate f32 : (tensor<4x8xf16>, tensor<8x8xf16>) -> tensor<4x8xf16>
    %n = tile_tensor.rms_norm %m, %g epsilon 1e-05 : (tensor<4x8xf16>, tensor<8xf16>) -> tensor<4x8xf16>
    %s = tile_tensor.slice %n offsets [0, 2] sizes [4, 4] : (tensor<4x8xf16>) -> tensor<4x4xf16>
    %p = tile_tensor.pad %s low [0, 2] high [0, 2] value 1.5 : (tensor<4x4xf16>) -> tensor<4x8xf16>
    %a = tile_tensor.maximum %p, %c : (tensor<4x8xf16>, tensor<8xf16>) -> tensor<4x8xf16>
    %y = tile_tensor.softmax %a scale 0.5 : (tensor<4x8xf16>) -> tensor<4x8xf16>
    func.return %y : tensor<4x8xf16>
  }
}
"""

REPEAT = """builtin.module attributes {tile.machine = "t4"} {
  func.func @main(%x0: tensor<4x8xf16>, %t: tensor<6x8xf16> {tile_tensor.parameter = "t"}, %i: tensor<4xi32>,
      %ws: !tile_repeat.sequence<2 x tensor<8x8xf16>> {tile_tensor.parameter = ["w0", "w1"]})
      -> (tensor<4x8xf16>, !tile_repeat.sequence<2 x tensor<4x8xf16>>) {
    %r = tile_tensor.gather %t, %i : (tensor<6x8xf16>, tensor<4xi32>) -> tensor<4x8xf16>
    %y, %c = tile_repeat.repeat "layers" count 2 carried(%x = %x0 : tensor<4x8xf16>)
        invariant(%b = %r : tensor<4x8xf16>) iterated(%w = %ws : !tile_repeat.sequence<2 x tensor<8x8xf16>>)
        -> (tensor<4x8xf16>, !tile_repeat.sequence<2 x tensor<4x8xf16>>) {
      %m = tile_tensor.matmul %x, %w transpose_b : (tensor<4x8xf16>, tensor<8x8xf16>) -> tensor<4x8xf16>
      %h = tile_tensor.attention %m, %b, %x scale 0.25
          : (tensor<4x8xf16>, tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
      %s = tile_tensor.add %h, %b : (tensor<4x8xf16>, tensor<4x8xf16>) -> tensor<4x8xf16>
      %z = tile_tensor.gelu %s approximate tanh : (tensor<4x8xf16>) -> tensor<4x8xf16>
      tile_repeat.yield %z : tensor<4x8xf16> collect %h : tensor<4x8xf16>
    }
    func.return %y, %c : tensor<4x8xf16>, !tile_repeat.sequence<2 x tensor<4x8xf16>>
  }
}
"""


class Overtime(BaseException):
    """Not an Exception: nobody on the way catches it."""


@dataclass
class Corpus:
    """What mutants are made of."""

    texts: dict[str, list[str]] = field(default_factory=dict)
    """Programs by level."""
    files: dict[str, bytes] = field(default_factory=dict)
    """The files of a program folder, and `plan`, `machine`, `problem`, `solution`."""


def quiet(tool: Callable[[Sequence[str]], int], arguments: Sequence[str]) -> tuple[int, str, str]:
    """Status, standard output and standard error of a tool called in process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = tool(arguments)
    return status, out.getvalue(), err.getvalue()


def make_corpus() -> Corpus:
    """The programs above and those of the lit tests, at every level, and a folder."""
    import numpy as np

    from tilewright.frontends.program_folder import ProgramFolder, Tolerance
    from tilewright.tools import tile_alloc, tile_opt

    corpus = Corpus({level: [] for level in PIPELINES})
    corpus.texts["tensor"] += [MLP, REPEAT]
    levels = {
        "placed": "tile-fuse-epilogues,tile-plan-layouts",
        "buffers": "tile-fuse-epilogues,tile-plan-layouts,tile-lower-to-buffers",
        "allocated": "tile-fuse-epilogues,tile-plan-layouts,tile-lower-to-buffers,tile-merge-phases,"
        "tile-schedule-exchange,tile-allocate-memory",
        "asm": "tile-compile",
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for program in (MLP, REPEAT):
            (folder / "p.mlir").write_text(program, encoding="utf-8")
            for level, passes in levels.items():
                pipeline = f"--pass-pipeline=builtin.module({passes})"
                problems = ["--dump-allocation-problems", name] if level == "allocated" else []
                status, text, err = quiet(tile_opt.main, [str(folder / "p.mlir"), pipeline, *problems])
                assert status == 0, err
                corpus.texts[level].append(text)
        problem = sorted(folder.glob("*.json"))[0]
        status, _, err = quiet(tile_alloc.main, [str(problem), "--json", str(folder / "solution")])
        assert status == 0, err
        corpus.files["problem"], corpus.files["solution"] = (
            problem.read_bytes(),
            (folder / "solution").read_bytes(),
        )
        rng = np.random.default_rng(0)
        x, w = rng.standard_normal((2, 4, 8)), rng.standard_normal((8, 8))
        ProgramFolder(
            MLP,
            {"w": w.astype(np.float16), "g": np.ones(8, np.float32)},
            {"x": x.astype(np.float16)},
            {"y": np.full((2, 4, 8), 0.125, np.float16)},
            tolerance={"y": Tolerance(max_abs_error=1.0)},
            runs=2,
        ).write(folder / "f")
        for path in sorted((folder / "f").iterdir()):
            corpus.files[path.name] = path.read_bytes()
    corpus.files["plan"] = (
        b'{"format": "tilewright-plan", "version": 1, "machine": "t4", "operators": '
        b'{"m": {"grid": [1, 2, 2, 1], "swap": false, "share": 1, "base": 0}, '
        b'"n": {"parts": 0, "split": false}}}'
    )
    corpus.files["machine"] = (ROOT / "machine" / "t4.toml").read_bytes()
    for path in sorted((ROOT / "filecheck").rglob("*.mlir")):
        source = path.read_text(encoding="utf-8")
        if len(source) > 20_000:
            continue
        for chunk in source.split("// -----"):
            if "tile_asm." in chunk:
                corpus.texts["asm"].append(chunk)
            elif "tile.alloc" in chunk:
                corpus.texts["allocated" if "0x" in chunk else "buffers"].append(chunk)
            else:
                corpus.texts["placed" if "tile_layout." in chunk else "tensor"].append(chunk)
    return corpus


# -- one mutant


@dataclass(frozen=True)
class Case:
    """A mutant, written to a folder: the tool and its arguments."""

    tool: str
    arguments: tuple[str, ...]


def write_case(corpus: Corpus, number: int, folder: Path) -> Case:
    """Mutant `number`, its files in `folder`."""
    rng = random.Random(number)
    kind = rng.random()
    if kind < 0.78:
        level = rng.choice(tuple(PIPELINES))
        # the programs made here reach further than those of the lit tests
        texts = corpus.texts[level]
        source = texts[rng.randrange(2)] if rng.random() < 0.5 else rng.choice(texts)
        path = folder / "mutant.mlir"
        path.write_text(mutate.text(source, rng, texts), encoding="utf-8", errors="surrogatepass")
        pipeline = rng.choice(PIPELINES[level])
        machine = [] if rng.random() < 0.2 else ["--machine", rng.choice(("t4", "t4", "t16"))]
        return Case("tile_opt", (str(path), *(["-p", pipeline] if pipeline else []), *machine))
    if kind < 0.86:
        which = rng.choice(("problem", "problem", "solution"))
        paths = {name: folder / f"{name}.json" for name in ("problem", "solution")}
        for name, path in paths.items():
            text = corpus.files[name].decode()
            path.write_text(mutate.json_text(text, rng) if name == which else text, encoding="utf-8")
        check = ("--check", str(paths["solution"])) if which == "solution" else ()
        return Case("tile_alloc", (str(paths["problem"]), "--nodes", "2000", *check))
    return _folder_case(corpus, rng, folder)


def _folder_case(corpus: Corpus, rng: random.Random, folder: Path) -> Case:
    names = [name for name in corpus.files if "." in name]
    where = folder / "program"
    where.mkdir()
    extra: tuple[str, ...] = ()
    which = rng.choice((*names, *names, *("machine code",) * 6, "plan", "machine", "missing"))
    for name in names:
        data = corpus.files[name]
        if name == "program.mlir" and which == "machine code":
            data = mutate.text(corpus.texts["asm"][0], rng, []).encode("utf-8", "surrogatepass")
        elif name == which and name.endswith(".safetensors"):
            data = mutate.safetensors(data, rng)
        elif name == which and name.endswith(".json"):
            data = mutate.json_text(data.decode(), rng).encode()
        elif name == which:
            data = mutate.text(data.decode(), rng, []).encode("utf-8", "surrogatepass")
        (where / name).write_bytes(data)
    if which == "plan":
        (folder / "plan.json").write_text(
            mutate.json_text(corpus.files["plan"].decode(), rng), encoding="utf-8"
        )
        extra = ("--plan", str(folder / "plan.json"))
    elif which == "machine":
        text = mutate.text(corpus.files["machine"].decode(), rng, [])
        (folder / "machine.toml").write_text(text, encoding="utf-8", errors="surrogatepass")
        program = (where / "program.mlir").read_text(encoding="utf-8").replace('tile.machine = "t4"', "")
        (where / "program.mlir").write_text(program, encoding="utf-8")
        extra = ("--machine", str(folder / "machine.toml"))
    elif which == "missing":
        (where / rng.choice(names)).unlink()
    return Case("tile_run", (str(where), *extra))


def run_case(case: Case) -> str | None:
    """What is wrong with how the tool takes the mutant; None where nothing is."""
    from importlib import import_module

    tool = import_module(f"tilewright.tools.{case.tool}")
    start, held = time.process_time(), peak_bytes(anew=True)
    old = signal.signal(signal.SIGPROF, _overtime)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        status, _, err = quiet(tool.main, case.arguments)
    except Overtime:
        where = "".join(traceback.format_exc().splitlines(keepends=True)[-9:-2])
        return f"more than {SECONDS} s\n{where}"
    except BaseException as error:
        return f"{type(error).__name__} escapes: {error}\n{traceback.format_exc()[-1500:]}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, old)
    if "out of memory" in err or peak_bytes() - held > BYTES:
        return f"more than {BYTES} bytes: {err[:300]}"
    if time.process_time() - start > SECONDS:
        return f"more than {SECONDS} s"
    if status not in (0, 1, 2) or "Traceback" in err:
        match = re.search(r"report it with (\S+)", err)
        trace = ""
        if match is not None:
            lines = Path(match[1]).read_text(encoding="utf-8", errors="replace").splitlines()
            trace = "\n".join(line for line in lines if line.startswith("// "))[-1600:]
            os.unlink(match[1])
        return f"status {status}: {err[:400]}\n{trace}"
    if status == 1 and "error: " not in err and not (case.tool == "tile_run" and not err):
        return f"status 1 without a diagnostic: {err[:300]!r}"
    return None


def _overtime(signal_number: int, frame: object) -> None:
    raise Overtime


# -- many


_corpus: Corpus | None = None


def _start(corpus: Corpus) -> None:
    global _corpus
    _corpus = corpus
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def _work(numbers: Sequence[int]) -> list[tuple[int, str]]:
    assert _corpus is not None
    found: list[tuple[int, str]] = []
    for number in numbers:
        folder = Path(tempfile.mkdtemp(prefix="fuzz"))
        try:
            fault = run_case(write_case(_corpus, number, folder))
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        if fault is not None:
            found.append((number, fault))
            if fault.startswith("more than"):
                gc.collect()
    return found


def fuzz(numbers: Iterable[int], workers: int = 2) -> dict[int, str]:
    """The faults of the mutants of these numbers."""
    corpus = make_corpus()
    given = list(numbers)
    batches = [given[i : i + 50] for i in range(0, len(given), 50)]
    context = multiprocessing.get_context("fork")
    faults: dict[int, str] = {}
    with ProcessPoolExecutor(workers, context, _start, (corpus,)) as pool:
        futures = [(batch, pool.submit(_work, batch)) for batch in batches]
        for batch, future in futures:
            try:
                faults.update(future.result())
            except BrokenProcessPool:
                faults[batch[0]] = f"one of the mutants {batch[0]} to {batch[-1]} ended its process"
    return faults


def main(arguments: Sequence[str]) -> None:
    """`fuzzing.py N` shows mutant N, `fuzzing.py N M` runs N to M and prints what it finds, by kind."""
    first = int(arguments[0])
    if len(arguments) == 1:
        folder = Path(tempfile.mkdtemp(prefix="fuzz"))
        case = write_case(make_corpus(), first, folder)
        print(case)
        print(run_case(case))
        return
    faults = fuzz(range(first, int(arguments[1])))
    kinds: dict[str, list[int]] = {}
    for number, fault in faults.items():
        lines = [line for line in fault.splitlines() if "File" in line]
        kinds.setdefault((lines[-1] if lines else "") + fault.splitlines()[0][:150], []).append(number)
    for kind, found in sorted(kinds.items(), key=lambda item: -len(item[1])):
        print(f"== {len(found)} times, {found[:4]}: {kind}\n{faults[found[0]]}")
    print(f"{len(faults)} faults of {len(kinds)} kinds in {int(arguments[1]) - first} mutants")


if __name__ == "__main__":
    main(sys.argv[1:])

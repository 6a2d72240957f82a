# SPDX-License-Identifier: Apache-2.0
"""
Program folders: a program with its parameters, inputs, expected outputs and how exactly to check them.

The files and their meaning are specified in docs/spec/program-folder.md. Tensors are `.safetensors`, read as
read-only memory maps: the parameters of a large model are touched tensor by tensor, never copied as a whole.
(The `safetensors` numpy reader cannot name FP8 and bfloat16 types, `ml_dtypes` can.)
"""

from __future__ import annotations

import json
import mmap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
from safetensors.numpy import save_file

from tilewright.diagnostics import TileError
from tilewright.json_text import read_json, unknown_key
from tilewright.suggestions import near

FORMAT = "tilewright-run"
VERSION = 1

PROGRAM = "program.mlir"
PARAMETERS = "parameters.safetensors"
INPUTS = "inputs.safetensors"
EXPECTED = "expected.safetensors"
LAYERS = "layers.safetensors"
TASK = "task.safetensors"
RUN = "run.json"

RUN_KEYS = ("format", "version", "program", "seed", "precision", "runs", "tolerance", "task", "workload")
TASK_KEYS = ("kind", "output", "file", "labels", "reference_logits")

Tensors = Mapping[str, np.ndarray]


class ProgramFolderError(TileError):
    """A program folder, or one of its files, cannot be read or does not fit the program."""


# safetensors' names of element types (its 0.8 release, `Dtype`).
_DTYPES: dict[str, np.dtype[Any]] = {
    "F64": np.dtype(np.float64),
    "F32": np.dtype(np.float32),
    "F16": np.dtype(np.float16),
    "BF16": np.dtype(ml_dtypes.bfloat16),
    "F8_E4M3": np.dtype(ml_dtypes.float8_e4m3fn),
    "F8_E5M2": np.dtype(ml_dtypes.float8_e5m2),
    "F8_E4M3FNUZ": np.dtype(ml_dtypes.float8_e4m3fnuz),
    "F8_E5M2FNUZ": np.dtype(ml_dtypes.float8_e5m2fnuz),
    "I64": np.dtype(np.int64),
    "I32": np.dtype(np.int32),
    "I16": np.dtype(np.int16),
    "I8": np.dtype(np.int8),
    "U64": np.dtype(np.uint64),
    "U32": np.dtype(np.uint32),
    "U16": np.dtype(np.uint16),
    "U8": np.dtype(np.uint8),
    "BOOL": np.dtype(np.bool_),
}


# ---------------------------------------------------------------------------------------------- tensors


def read_tensors(path: Path) -> dict[str, np.ndarray]:
    """
    The tensors of a `.safetensors` file by name, as read-only views of the mapped file, in the file's order.

    Raises `ProgramFolderError` for a file that is missing, damaged, or holds element types that numpy has no
    name for.
    """
    try:
        with path.open("rb") as file:
            size = path.stat().st_size
            if size < 8:
                raise ProgramFolderError(f"'{path}' is not a safetensors file: it has only {size} bytes")
            data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except OSError as error:
        raise ProgramFolderError(f"cannot read '{path}': {error.strerror or error}") from error

    def damaged(why: str) -> ProgramFolderError:
        return ProgramFolderError(f"'{path}' is not a readable safetensors file: {why}")

    header_bytes = int.from_bytes(data[:8], "little")
    if header_bytes > size - 8:
        raise damaged(f"its header claims {header_bytes} bytes, the file has {size}")
    try:
        header = read_json(bytes(data[8 : 8 + header_bytes]))
    except ValueError as error:
        raise damaged("its header is not JSON") from error
    if not isinstance(header, dict):
        raise damaged("its header is not a JSON object")
    body = data[8 + header_bytes :]
    tensors: dict[str, np.ndarray] = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        try:
            type_name, shape = str(entry["dtype"]), tuple(int(extent) for extent in entry["shape"])
            begin, end = (int(offset) for offset in entry["data_offsets"])
        except (KeyError, TypeError, ValueError) as error:
            raise damaged(f"the entry of tensor '{name}' is malformed") from error
        dtype = _DTYPES.get(type_name)
        if dtype is None:
            raise ProgramFolderError(
                f"tensor '{name}' of '{path}' has element type {type_name}, which is not supported",
                notes=(f"supported: {', '.join(_DTYPES)}",),
            )
        count = int(np.prod(shape, dtype=object))
        if min(shape, default=0) < 0 or not 0 <= begin <= end <= len(body):
            raise damaged(f"tensor '{name}' lies outside the file")
        if end - begin != count * dtype.itemsize:
            raise damaged(
                f"tensor '{name}' has {end - begin} bytes, shape {list(shape)} needs {count * dtype.itemsize}"
            )
        tensors[name] = np.frombuffer(body[begin:end], dtype=dtype).reshape(shape)
    return tensors


def release_tensors(tensors: Iterable[np.ndarray]) -> None:
    """
    Give back the memory that what was read of the files of `read_tensors` takes; whoever asks reads it again.
    Arrays that are no views of a file, and systems without such advice, stay as they are.
    """
    files: dict[int, mmap.mmap] = {}
    for tensor in tensors:
        base: object = tensor
        while isinstance(base, np.ndarray):
            base = base.base
        if isinstance(base, memoryview) and isinstance(base.obj, mmap.mmap):
            files[id(base.obj)] = base.obj
    if hasattr(mmap, "MADV_DONTNEED"):
        for file in files.values():
            file.madvise(mmap.MADV_DONTNEED)


def write_tensors(path: Path, tensors: Tensors) -> None:
    """Write `tensors` to a `.safetensors` file; the bytes depend on names and values only."""
    # renamed into place: an earlier file may be mapped by a reader, perhaps as the very tensors being written
    partial = path.with_name(path.name + ".partial")
    save_file({name: np.asarray(tensors[name], order="C") for name in sorted(tensors)}, partial)
    path.touch()
    partial.chmod(
        path.stat().st_mode
    )  # safetensors writes for the owner alone; a program folder is read like any file
    partial.replace(path)


def require(tensors: Tensors, names: Iterable[str], what: str, path: Path | None = None) -> list[np.ndarray]:
    """
    The tensors called `names`, in order. The error for missing ones lists them all, with the closest present
    names.

    `what` is the role of the tensors in the message: "parameter", "input" or "expected output".
    """
    names = list(names)
    missing = [name for name in names if name not in tensors]
    if missing:
        where = f" in '{path}'" if path is not None else ""
        notes: list[str] = []
        for name in missing[:8]:
            meant = near(name, tensors, limit=1)
            notes.append(f"'{name}' is missing" + (f"; {meant}" if meant else ""))
        if len(missing) > 8:
            notes.append(f"and {len(missing) - 8} more")
        count = f"{what} '{missing[0]}'" if len(missing) == 1 else f"{len(missing)} {what}s"
        hint = None if tensors else f"give --{what}s FILE, or a program folder that has {what}s.safetensors"
        raise ProgramFolderError(f"no tensor for {count}{where}", notes=notes, hint=hint)
    return [tensors[name] for name in names]


def select_run(
    tensors: Tensors, shapes: Mapping[str, tuple[int, ...]], run: int, what: str
) -> dict[str, np.ndarray]:
    """
    The tensors of run number `run` by name, for the program's `shapes`.

    A tensor with a leading axis in addition to the program's shape holds one slice per run; one of just that
    shape is used for every run. Raises `ProgramFolderError` where a tensor is missing, has another shape, or
    has no slice `run`.
    """
    chosen: dict[str, np.ndarray] = {}
    for (name, shape), tensor in zip(shapes.items(), require(tensors, shapes, what), strict=True):
        if tensor.shape == shape:
            chosen[name] = tensor
        elif tensor.shape[1:] == shape:
            if not 0 <= run < tensor.shape[0]:
                raise ProgramFolderError(
                    f"{what} '{name}' has values for {tensor.shape[0]} runs, run {run} was asked for",
                    hint=f"use --runs {tensor.shape[0]} or fewer",
                )
            chosen[name] = tensor[run]
        else:
            raise ProgramFolderError(
                f"{what} '{name}' has shape {list(tensor.shape)}, the program needs {list(shape)}",
                notes=(f"or [N, {', '.join(map(str, shape))}] with one slice per run",),
            )
    return chosen


def runs_in(tensors: Tensors, shapes: Mapping[str, tuple[int, ...]]) -> int | None:
    """How many runs `tensors` hold values for; None when none of them has a runs axis."""
    present = [(tensors[name].shape, shape) for name, shape in shapes.items() if name in tensors]
    return min((have[0] for have, need in present if have != need and have[1:] == need), default=None)


# ---------------------------------------------------------------------------------------- what to check


@dataclass(frozen=True)
class Tolerance:
    """What an output must satisfy against its expected value; None is not checked."""

    max_abs_error: float | None = None
    cosine: float | None = None
    """Least cosine of the whole tensor."""
    min_row_cosine: float | None = None
    """Least cosine of any row (last axis)."""

    def to_json(self) -> dict[str, float]:
        return {key: value for key, value in vars(self).items() if value is not None}


@dataclass(frozen=True, eq=False)
class Task:
    """What an output is for, measured over all runs."""

    kind: str
    """"classification"."""
    output: str
    """The output that holds the logits, (samples, classes) in each run."""
    labels: np.ndarray
    """Integer labels, (samples of all runs,)."""
    reference_logits: np.ndarray
    """Logits of the unquantised model, (samples of all runs, classes)."""

    def measure(self, logits: np.ndarray) -> dict[str, float]:
        """
        Figures of `logits` (all runs; reshaped to (samples, classes)); fewer samples than labels measure the
        first ones.

        accuracy against the labels, agreement of the predicted class with the reference's, relative RMS of
        the logits.
        """
        classes = self.reference_logits.shape[-1]
        values = np.asarray(logits).astype(np.float64).reshape(-1, classes)
        samples = len(values)
        reference = self.reference_logits[:samples].astype(np.float64)
        predicted = values.argmax(-1)
        return {
            "accuracy": float(np.mean(predicted == self.labels[:samples])),
            "agreement": float(np.mean(predicted == reference.argmax(-1))),
            "logits_rel_rms": float(np.sqrt(np.mean((values - reference) ** 2) / np.mean(reference**2))),
        }


# ---------------------------------------------------------------------------------------------- folders


@dataclass(frozen=True, eq=False)
class ProgramFolder:
    """A program and the data that belongs to it. Nothing here looks into the program's text."""

    program: str
    """Text of the module."""
    parameters: Tensors = field(default_factory=dict[str, np.ndarray])
    """
    Logical values by tensor name, usually f16 or f32: quantising and packing is the host's work at load time.
    """
    inputs: Tensors = field(default_factory=dict[str, np.ndarray])
    expected: Tensors = field(default_factory=dict[str, np.ndarray])
    layers: Tensors = field(default_factory=dict[str, np.ndarray])
    """
    What values inside repeats should be, by name (`layers.x_next`), with a leading axis of iterations, behind
    that of runs: for reports of the error by layer, never for the verdict.
    """
    seed: int = 0
    tolerance: Mapping[str, Tolerance] = field(default_factory=dict[str, Tolerance])
    precision: str | None = None
    """The mode that every figure names, such as "f8" or "f8, attention f8"."""
    runs: int | None = None
    """Length of the runs axis of inputs and expected; None without that axis."""
    task: Task | None = None
    workload: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What generated the folder (name and options): a record, read by nobody."""
    program_path: Path | None = None
    """File that `program` was read from: names it in diagnostics."""

    # ------------------------------------------------------------------------------------------ writing

    def write(self, folder: Path) -> None:
        """Write all files, creating `folder`; files of an earlier folder at the same place are replaced."""
        run: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "program": PROGRAM,
            "seed": self.seed,
            "precision": self.precision,
            "runs": self.runs,
            "tolerance": {name: tolerance.to_json() for name, tolerance in self.tolerance.items()},
        }
        if self.task is not None:
            run["task"] = {
                "kind": self.task.kind,
                "output": self.task.output,
                "file": TASK,
                "labels": "labels",
                "reference_logits": "reference_logits",
            }
        if self.workload:
            run["workload"] = dict(self.workload)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / PROGRAM).write_text(self.program, encoding="utf-8")
            write_tensors(folder / PARAMETERS, self.parameters)
            write_tensors(folder / INPUTS, self.inputs)
            write_tensors(folder / EXPECTED, self.expected)
            if self.layers:
                write_tensors(folder / LAYERS, self.layers)
            else:
                (folder / LAYERS).unlink(missing_ok=True)
            if self.task is not None:
                tensors = {"labels": self.task.labels, "reference_logits": self.task.reference_logits}
                write_tensors(folder / TASK, tensors)
            else:
                (folder / TASK).unlink(missing_ok=True)
            (folder / RUN).write_text(json.dumps(run, indent=2) + "\n", encoding="utf-8")
        except OSError as error:
            raise ProgramFolderError(f"cannot write '{folder}': {error.strerror or error}") from error
        except Exception as error:
            if type(error).__module__.startswith("safetensors"):
                raise ProgramFolderError(f"cannot write '{folder}': {error}") from error
            raise

    # ------------------------------------------------------------------------------------------ reading

    @classmethod
    def read(
        cls,
        path: Path | str,
        *,
        parameters: Path | str | None = None,
        inputs: Path | str | None = None,
        expected: Path | str | None = None,
    ) -> ProgramFolder:
        """
        Read a folder, or a program file with the files beside it.

        A file named by a keyword is read instead of the folder's, and must exist. Of the folder's own files
        only the program is required: absent tensor files are empty, an absent run.json leaves the defaults.
        """
        path = Path(path)
        if path.is_dir():
            folder, program_path = path, None
        elif path.exists():
            folder, program_path = path.parent, path
        else:
            raise ProgramFolderError(f"no such file or folder: '{path}'")
        run = _read_run(folder / RUN) if program_path is None or (folder / RUN).exists() else {}
        if program_path is None:
            program_path = inside(folder, _text(run, "program", folder / RUN, PROGRAM), folder / RUN)
        elif (
            run
            and (folder / _text(run, "program", folder / RUN, PROGRAM)).resolve() != program_path.resolve()
        ):
            run = {}  # the folder describes another program
        try:
            program = program_path.read_text(encoding="utf-8")
        except OSError as error:
            raise ProgramFolderError(f"cannot read '{program_path}': {error.strerror or error}") from error
        except UnicodeDecodeError as error:
            raise ProgramFolderError(f"'{program_path}' is not UTF-8 text: {error.reason}") from error

        def tensors(given: Path | str | None, name: str) -> dict[str, np.ndarray]:
            if given is not None:
                return read_tensors(Path(given))
            # a lone program file takes nothing from files that happen to lie beside it
            return read_tensors(folder / name) if run and (folder / name).exists() else {}

        return cls(
            program=program,
            parameters=tensors(parameters, PARAMETERS),
            inputs=tensors(inputs, INPUTS),
            expected=tensors(expected, EXPECTED),
            layers=tensors(None, LAYERS),
            seed=_whole(run, "seed", folder / RUN) or 0,
            tolerance=_tolerances(run, folder / RUN),
            precision=_text(run, "precision", folder / RUN, None),
            runs=_whole(run, "runs", folder / RUN),
            task=_read_task(run, folder),
            workload=run.get("workload") or {},
            program_path=program_path,
        )


def inside(folder: Path, name: str, source: Path) -> Path:
    """
    Path of the file `name` of `folder`; refuses names that leave the folder (absolute, through `..` or a
    link).
    """
    path = folder / name
    if Path(name).is_absolute() or not path.resolve().is_relative_to(folder.resolve()):
        raise ProgramFolderError(
            f"'{source}' names '{name}', which lies outside its folder",
            hint="sidecar files lie in the folder and are named relative to it",
        )
    return path


def _read_run(path: Path) -> dict[str, Any]:
    try:
        run = read_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ProgramFolderError(f"cannot read '{path}': {error.strerror or error}") from error
    except ValueError as error:
        raise ProgramFolderError(f"'{path}' is not JSON: {error}") from error
    if not isinstance(run, dict) or run.get("format") != FORMAT:
        raise ProgramFolderError(
            f"'{path}' is not a run description", notes=(f'its "format" must be "{FORMAT}"',)
        )
    version = run.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise ProgramFolderError(f"'{path}' has no usable \"version\": {json.dumps(version)}")
    if version > VERSION:
        raise ProgramFolderError(
            f"'{path}' has version {version}, this tilewright reads up to version {VERSION}",
            hint="use a newer tilewright, or generate the folder again",
        )
    for table, known, what in (
        (run, RUN_KEYS, f"'{path}'"),
        (run.get("task"), TASK_KEYS, f"\"task\" of '{path}'"),
    ):
        fault = unknown_key(table, known, what) if isinstance(table, dict) else None
        if fault is not None:
            raise ProgramFolderError(fault[0], hint=fault[1])
    if not isinstance(run.get("workload") or {}, dict):
        raise ProgramFolderError(f"'{path}': \"workload\" must be an object")
    return run


def _text(run: Mapping[str, Any], key: str, path: Path, default: Any) -> Any:
    value = run.get(key)
    if value is None:
        return default
    if not isinstance(value, str):
        raise ProgramFolderError(f"'{path}': \"{key}\" must be text, it is {json.dumps(value)}")
    return value


def _whole(run: Mapping[str, Any], key: str, path: Path) -> int | None:
    value = run.get(key)
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
        raise ProgramFolderError(f"'{path}': \"{key}\" must be a whole number, it is {json.dumps(value)}")
    return value


def _tolerances(run: Mapping[str, Any], path: Path) -> dict[str, Tolerance]:
    entries = run.get("tolerance", {})
    names = tuple(Tolerance.__dataclass_fields__)
    if not isinstance(entries, dict):
        raise ProgramFolderError(f"'{path}': \"tolerance\" must be an object by output name")
    tolerances: dict[str, Tolerance] = {}
    for output, entry in entries.items():
        if not isinstance(entry, dict):
            raise ProgramFolderError(f"'{path}': the tolerance of '{output}' must be an object")
        for key, value in entry.items():
            if key not in names:
                raise ProgramFolderError(
                    f"'{path}': the tolerance of '{output}' has an unknown field \"{key}\"",
                    notes=(f"known: {', '.join(names)}",),
                    hint=near(key, names, limit=1),
                )
            if not isinstance(value, int | float) or isinstance(value, bool):
                raise ProgramFolderError(f"'{path}': \"{key}\" of '{output}' must be a number")
        tolerances[output] = Tolerance(**entry)
    return tolerances


def _read_task(run: Mapping[str, Any], folder: Path) -> Task | None:
    entry = run.get("task")
    if entry is None:
        return None
    source = folder / RUN
    if not isinstance(entry, dict) or not all(
        isinstance(entry.get(key), str) for key in ("kind", "output", "file")
    ):
        raise ProgramFolderError(f'\'{source}\': "task" needs the texts "kind", "output" and "file"')
    if entry["kind"] != "classification":
        raise ProgramFolderError(
            f"'{source}': unknown task '{entry['kind']}'", notes=("known: classification",)
        )
    path = inside(folder, entry["file"], source)
    names = [
        _text(entry, "labels", source, "labels"),
        _text(entry, "reference_logits", source, "reference_logits"),
    ]
    labels, logits = require(read_tensors(path), names, "task", path)
    if labels.ndim != 1 or logits.ndim != 2 or len(labels) != len(logits):
        raise ProgramFolderError(
            f"'{path}': labels {list(labels.shape)} and reference logits {list(logits.shape)} do not match"
        )
    return Task(entry["kind"], entry["output"], labels, logits)

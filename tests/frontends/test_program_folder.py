# SPDX-License-Identifier: Apache-2.0
"""Program folders: what is written is read back, and every way a folder can be wrong has its message."""

import json
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from tilewright.frontends.program_folder import (
    ProgramFolder,
    ProgramFolderError,
    Task,
    Tolerance,
    read_tensors,
    release_tensors,
    require,
    runs_in,
    select_run,
    write_tensors,
)

DTYPES = [
    np.float64,
    np.float32,
    np.float16,
    np.int8,
    np.int32,
    np.int64,
    np.uint8,
    np.bool_,
    ml_dtypes.bfloat16,
    ml_dtypes.float8_e4m3fn,
    ml_dtypes.float8_e5m2,
    ml_dtypes.float8_e4m3fnuz,
    ml_dtypes.float8_e5m2fnuz,
]


def folder(**changes: object) -> ProgramFolder:
    fields: dict[str, object] = {
        "program": "builtin.module {}\n",
        "parameters": {"w": np.arange(6, dtype=np.float16).reshape(2, 3)},
        "inputs": {"x": np.ones((4, 2), np.float16)},
        "expected": {"y": np.ones((4, 3), np.float32)},
        "seed": 7,
        "tolerance": {"y": Tolerance(0.5, min_row_cosine=0.99)},
        "precision": "f8",
    }
    return ProgramFolder(**(fields | changes))  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: np.dtype(dtype).name)
def test_tensors_of_every_type_come_back(tmp_path: Path, dtype: type) -> None:
    values = np.array([[0, 1, 3], [2, 0, 1]]).astype(dtype)
    tensors = {"a": values, "scalar": values[0, 1].reshape(()), "empty": values[:, :0], "turned": values.T}
    write_tensors(tmp_path / "t.safetensors", tensors)
    found = read_tensors(tmp_path / "t.safetensors")
    assert set(found) == set(tensors)
    for name, tensor in tensors.items():
        assert found[name].dtype == np.dtype(dtype)
        assert found[name].shape == tensor.shape
        np.testing.assert_array_equal(found[name].astype(np.float32), tensor.astype(np.float32))


def test_a_folder_comes_back(tmp_path: Path) -> None:
    task = Task("classification", "y", np.array([1, 2]), np.eye(2, 3, dtype=np.float32))
    original = folder(task=task, runs=2, workload={"name": "test"})
    original.write(tmp_path / "new" / "folder")
    for path in (tmp_path / "new" / "folder", tmp_path / "new" / "folder" / "program.mlir"):
        found = ProgramFolder.read(path)
        assert found.program == original.program
        assert found.program_path == tmp_path / "new" / "folder" / "program.mlir"
        assert found.tolerance == original.tolerance
        assert (found.seed, found.precision, found.runs) == (7, "f8", 2)
        assert found.workload == {"name": "test"}
        for role in ("parameters", "inputs", "expected"):
            ours, theirs = getattr(found, role), getattr(original, role)
            assert list(ours) == list(theirs)
            for name in theirs:
                np.testing.assert_array_equal(ours[name], theirs[name])
        assert found.task is not None
        np.testing.assert_array_equal(found.task.labels, task.labels)


def test_writing_again_while_the_old_tensors_are_in_use(tmp_path: Path) -> None:
    folder().write(tmp_path)
    first = ProgramFolder.read(tmp_path)
    folder(parameters=first.parameters, inputs={"x": np.zeros((1, 1), np.float16)}).write(tmp_path)
    np.testing.assert_array_equal(first.inputs["x"], np.ones((4, 2)))
    np.testing.assert_array_equal(ProgramFolder.read(tmp_path).parameters["w"], first.parameters["w"])


def test_a_file_given_alone_replaces_the_folders(tmp_path: Path) -> None:
    folder().write(tmp_path)
    write_tensors(tmp_path / "other.safetensors", {"x": np.full((4, 2), 3, np.float16)})
    found = ProgramFolder.read(tmp_path, inputs=tmp_path / "other.safetensors")
    assert found.inputs["x"][0, 0] == 3
    assert found.expected["y"].shape == (4, 3)


def test_a_lone_program_takes_nothing_from_its_neighbours(tmp_path: Path) -> None:
    folder().write(tmp_path)
    (tmp_path / "lone.mlir").write_text("builtin.module {}")
    found = ProgramFolder.read(tmp_path / "lone.mlir", inputs=tmp_path / "inputs.safetensors")
    assert not found.parameters and not found.expected and not found.tolerance
    assert list(found.inputs) == ["x"]


def test_equal_contents_are_equal_bytes(tmp_path: Path) -> None:
    folder(parameters={"a": np.ones(2, np.float16), "b": np.ones(2, np.float32)}).write(tmp_path / "1")
    folder(parameters={"b": np.ones(2, np.float32), "a": np.ones(2, np.float16)}).write(tmp_path / "2")
    for file in sorted((tmp_path / "1").iterdir()):
        assert file.read_bytes() == (tmp_path / "2" / file.name).read_bytes()


def fails(message: str):
    return pytest.raises(ProgramFolderError, match=message)


def edit_run(path: Path, **changes: object) -> None:
    run = json.loads((path / "run.json").read_text())
    (path / "run.json").write_text(json.dumps(run | changes))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": 2}, "has version 2, this tilewright reads up to version 1"),
        ({"version": "1"}, 'no usable "version"'),
        ({"format": "something"}, "is not a run description"),
        ({"program": "../program.mlir"}, "lies outside its folder"),
        ({"program": "/etc/hosts"}, "lies outside its folder"),
        ({"program": 3}, "must be text"),
        ({"program": "other.mlir"}, "cannot read '.*other.mlir'"),
        ({"seed": -1}, "must be a whole number"),
        ({"tolerance": []}, "by output name"),
        ({"tolerance": {"y": {"max_error": 1}}}, 'unknown field "max_error"'),
        ({"tolerance": {"y": {"cosine": "high"}}}, "must be a number"),
        ({"task": {"kind": "classification"}}, "needs the texts"),
        ({"task": {"kind": "ranking", "output": "y", "file": "t"}}, "unknown task 'ranking'"),
        ({"task": {"kind": "classification", "output": "y", "file": "../t"}}, "lies outside its folder"),
        ({"task": {"kind": "classification", "output": "y", "file": "no"}}, "cannot read '.*no'"),
    ],
)
def test_what_is_wrong_with_run_json(tmp_path: Path, changes: dict[str, object], message: str) -> None:
    folder().write(tmp_path)
    edit_run(tmp_path, **changes)
    with fails(message):
        ProgramFolder.read(tmp_path)


def test_a_link_does_not_lead_out_of_the_folder(tmp_path: Path) -> None:
    folder().write(tmp_path / "f")
    (tmp_path / "outside.mlir").write_text("builtin.module {}")
    (tmp_path / "f" / "link.mlir").symlink_to(tmp_path / "outside.mlir")
    edit_run(tmp_path / "f", program="link.mlir")
    with fails("lies outside its folder"):
        ProgramFolder.read(tmp_path / "f")


def test_missing_and_unreadable_files(tmp_path: Path) -> None:
    with fails("no such file or folder"):
        ProgramFolder.read(tmp_path / "nothing")
    with fails("cannot read '.*run.json'"):
        ProgramFolder.read(tmp_path)
    folder().write(tmp_path)
    (tmp_path / "program.mlir").write_bytes(b"\xff\xfe")
    with fails("is not UTF-8"):
        ProgramFolder.read(tmp_path)
    (tmp_path / "run.json").write_text("{")
    with fails("is not JSON"):
        ProgramFolder.read(tmp_path)
    folder().write(tmp_path)
    with fails("cannot read '.*absent.safetensors'"):
        ProgramFolder.read(tmp_path / "program.mlir", inputs=tmp_path / "absent.safetensors")


def header(text: str, body: bytes = b"") -> bytes:
    return len(text).to_bytes(8, "little") + text.encode() + body


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "has only 0 bytes"),
        (b"\xff" * 16, "header claims"),
        (header("{no"), "header is not JSON"),
        (header("[]"), "not a JSON object"),
        (header('{"a": {"dtype": "F32"}}'), "entry of tensor 'a' is malformed"),
        (header('{"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}'), "lies outside the file"),
        (
            header('{"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}}', b"1234"),
            r"has 4 bytes, .*needs 8",
        ),
        (header('{"a": {"dtype": "F4", "shape": [1], "data_offsets": [0, 4]}}', b"1234"), "element type F4"),
    ],
)
def test_damaged_tensor_files(tmp_path: Path, data: bytes, message: str) -> None:
    (tmp_path / "t.safetensors").write_bytes(data)
    with fails(message):
        read_tensors(tmp_path / "t.safetensors")


def test_missing_parameters_are_all_named() -> None:
    tensors = {"layers.0.weight": np.zeros(1), "layers.1.weight": np.zeros(1)}
    assert require(tensors, ["layers.1.weight"], "parameter")[0] is tensors["layers.1.weight"]
    with fails("no tensor for parameter 'layers.2.weight'") as caught:
        require(tensors, ["layers.2.weight"], "parameter")
    assert "did you mean `layers." in caught.value.notes[0]
    with fails("no tensor for 12 parameters") as caught:
        require(tensors, [f"q{n}" for n in range(12)], "parameter", Path("p.safetensors"))
    assert caught.value.notes[-1] == "and 4 more"


def test_runs() -> None:
    tensors = {"x": np.arange(12).reshape(3, 4), "same": np.arange(4)}
    shapes = {"x": (4,), "same": (4,)}
    assert runs_in(tensors, shapes) == 3
    assert runs_in({"same": tensors["same"]}, shapes) is None
    chosen = select_run(tensors, shapes, 2, "input")
    np.testing.assert_array_equal(chosen["x"], [8, 9, 10, 11])
    np.testing.assert_array_equal(chosen["same"], [0, 1, 2, 3])
    with fails("has values for 3 runs, run 3 was asked for"):
        select_run(tensors, shapes, 3, "input")
    with fails(r"has shape \[3, 4\], the program needs \[5\]"):
        select_run(tensors, {"x": (5,)}, 0, "input")
    with fails("no tensor for input 'z'"):
        select_run(tensors, {"z": (5,)}, 0, "input")


def test_task_figures() -> None:
    reference = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 0.0], [0.0, 1.0]])
    task = Task("classification", "y", np.array([0, 1, 1, 1]), reference)
    figures = task.measure(reference.reshape(2, 2, 2))
    assert figures == {"accuracy": 0.75, "agreement": 1.0, "logits_rel_rms": 0.0}
    figures = task.measure(np.array([[0.0, 1.0], [0.0, 1.0]]))  # the first two samples only
    assert figures["accuracy"] == figures["agreement"] == 0.5
    assert figures["logits_rel_rms"] == pytest.approx(1.0)


def resident(path: Path) -> int:
    """Kilobytes of a mapped file that are in this process's memory, as the system counts them."""
    lines = Path("/proc/self/smaps").read_text("utf-8").splitlines()
    starts = [i for i, line in enumerate(lines) if line.endswith(str(path))]
    return sum(next(int(line.split()[1]) for line in lines[i:] if line.startswith("Rss:")) for i in starts)


def test_released_tensors_are_read_again(tmp_path: Path) -> None:
    values = np.arange(1 << 20, dtype=np.float32)
    write_tensors(tmp_path / "t.safetensors", {"x": values})
    own, found = np.ones(3), read_tensors(tmp_path / "t.safetensors")["x"]
    assert np.array_equal(found, values)
    if sys.platform == "linux":
        assert resident(tmp_path / "t.safetensors") >= 4096
    release_tensors([found.reshape(1024, 1024)[3], own])
    if sys.platform == "linux":
        assert resident(tmp_path / "t.safetensors") == 0
    assert np.array_equal(found, values) and own.sum() == 3

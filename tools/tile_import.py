# SPDX-License-Identifier: Apache-2.0
"""
`tile-import FILE`: reads a model of another framework and writes it as a program folder.

FILE is StableHLO (`.mlir`): text, pretty or generic, or bytecode, for which jaxlib is needed; ONNX (`.onnx`),
for which the extra `onnx` is needed; what `torch.export.save` wrote (`.pt2`); or `MODULE:NAME`, a function
without arguments of a module or file of Python that returns `module, x` of torch or `function, x` of JAX.
Parameters, sample inputs and expected outputs are written beside the program, so that `tile-run DIR` checks
it at once.

Exit status: 0 good; 1 the model cannot be read or has no meaning on tiles; 2 unknown flags.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tilewright.diagnostics import TileError
from tilewright.tools.driver.arguments import ToolParser
from tilewright.tools.driver.main import current_sources, run_tool

if TYPE_CHECKING:
    from tilewright.frontends.importing import Imported
    from tilewright.frontends.middle import Model


def _parser() -> ToolParser:
    parser = ToolParser("tile-import", __doc__)
    parser.add_argument(
        "model", type=Path, metavar="FILE", help="the model: .mlir (StableHLO), .onnx, .pt2, MODULE:NAME"
    )
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="DIR", help="folder to write")
    parser.add_argument(
        "--sample",
        type=Path,
        metavar="FILE",
        help="values of arguments by name or as in0, .. and of outputs as out0, .. (.npz, .safetensors)",
    )
    parser.add_argument(
        "--parameters",
        default="",
        metavar="LIST",
        help="arguments that are parameters, by name, position or range: w,b or 1-12",
    )
    parser.add_argument(
        "--bind",
        default=[],
        action="append",
        metavar="NAME=N",
        help="the extent of an axis that has a name instead of one (ONNX): batch=1",
    )
    parser.add_argument(
        "--outputs",
        default="",
        metavar="LIST",
        help="values inside of the graph that are wanted instead of its outputs (ONNX)",
    )
    parser.add_argument(
        "--precision",
        default="source",
        metavar="source|f16|f8",
        help="of stored values: the source's, f16 for f32, or that with products in FP8 scaled by the sample",
    )
    parser.add_argument("--no-roll", action="store_true", help="leave repeated layers as they are written")
    parser.add_argument(
        "--report", type=Path, metavar="FILE", help="write what was raised, folded, kept as JSON"
    )
    parser.add_argument(
        "--seed", type=int, default=0, metavar="N", help="of random inputs, where there is no sample"
    )
    return parser


def read_model(path: Path) -> Model:
    """The model in a file, by the ending of its name. Raises `TileError`."""
    from tilewright.dialects.text.parser import decode
    from tilewright.frontends.stablehlo import read_stablehlo

    if path.suffix in (".mlir", ".mlirbc", ".txt", ".stablehlo"):
        try:
            data = path.read_bytes()
        except OSError as error:
            raise TileError(f"cannot read '{path}': {error.strerror or error}") from None
        if data.startswith(b"ML\xefR"):
            from tilewright.frontends.jax import text_of_bytecode

            return read_stablehlo(text_of_bytecode(data), str(path), current_sources())
        return read_stablehlo(decode(data, str(path)), str(path), current_sources())
    raise TileError(
        f"'{path}' is no kind of model that is known",
        notes=(
            "known: .mlir, .stablehlo (text or bytecode of StableHLO), .onnx, .pt2 (torch's), MODULE:NAME",
        ),
    )


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _sample(path: Path | None) -> Mapping[str, Any]:
    from tilewright.frontends import importing

    return importing.read_sample(path) if path is not None else {}


def _from_stablehlo(options: Any) -> Imported:
    from tilewright.frontends import importing

    model = read_model(options.model)
    importing.make_parameters(model, _words(options.parameters))
    sample = _sample(options.sample)
    values = importing.arguments_of(model, sample, options.seed)
    outputs = importing.output_names(model.function)
    results = [sample[name] for name in outputs] if all(name in sample for name in outputs) else None
    return importing.import_with_values(
        model, values, results, precision=options.precision, roll=not options.no_roll
    )


def _from_onnx(options: Any) -> Imported:
    from tilewright.frontends import from_onnx

    return from_onnx(
        options.model,
        bind=bindings(options.bind),
        outputs=_words(options.outputs),
        sample=_sample(options.sample),
        precision=options.precision,
        seed=options.seed,
        roll=not options.no_roll,
    )


def _from_python(options: Any) -> Imported:
    """A file of `torch.export.save`, or what `MODULE:NAME` gives."""
    from tilewright.frontends import from_torch
    from tilewright.frontends.objects import from_object

    roll = not options.no_roll
    if options.model.suffix == ".pt2":
        sample = _sample(options.sample)
        return from_torch(options.model, sample=sample, precision=options.precision, roll=roll)
    positions = [int(word) for word in _words(options.parameters) if word.isdigit()]
    return from_object(str(options.model), parameters=positions, precision=options.precision, roll=roll)


def _imported(options: Any) -> Imported:
    from tilewright.frontends.objects import is_named_object

    if options.model.suffix == ".onnx":
        return _from_onnx(options)
    if options.model.suffix == ".pt2" or is_named_object(str(options.model)):
        return _from_python(options)
    return _from_stablehlo(options)


def bindings(words: Sequence[str]) -> dict[str, int]:
    """Extents by name of `batch=1` or `batch=1,tokens=16`. Raises `TileError`."""
    found: dict[str, int] = {}
    for word in _words(",".join(words)):
        name, equals, extent = word.partition("=")
        if not equals or not extent.isdigit() or not int(extent):
            raise TileError(f"--bind takes NAME=N, not '{word}'")
        found[name] = int(extent)
    return found


def run(arguments: Sequence[str]) -> None:
    """Do what the command line says. Raises `TileError`."""
    options = _parser().parse_args(arguments)
    imported = _imported(options)
    imported.write(options.output)
    report = imported.report()
    if options.report is not None:
        options.report.parent.mkdir(parents=True, exist_ok=True)
        options.report.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    raised = ", ".join(f"{count} {name}" for name, count in report["raised"].items()) or "nothing raised"
    total = sum(report["operations"].values())
    if not options.quiet:
        print(f"{options.output}: {total} operations ({raised}), {len(imported.parameters)} parameters")


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point of the console script."""
    return run_tool("tile-import", run, argv)


if __name__ == "__main__":
    sys.exit(main())

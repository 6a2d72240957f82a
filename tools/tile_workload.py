# SPDX-License-Identifier: Apache-2.0
"""
`tile-workload NAME -o DIR`: writes a founding workload as a program folder (docs/spec/program-folder.md).

Exit status: 0 good; 1 what the user asked for does not exist or cannot be written; 2 unknown flags.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tilewright.diagnostics import TileError
from tilewright.tools.driver import progress
from tilewright.tools.driver.arguments import ToolParser
from tilewright.tools.driver.main import run_tool

if TYPE_CHECKING:
    from tilewright.frontends.program_folder import ProgramFolder
    from tilewright.frontends.workloads.encoder import Shape

SIZES = {
    "tokens": "tokens of one sample",
    "width": "width of the residual stream",
    "heads": "attention heads",
    "mlp": "hidden width of the MLP",
    "layers": "encoder layers",
    "batch": "samples in one run",
    "patch": "values in one patch (siglip, vit)",
}


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        # not argparse's own error: that would end with the status of an unknown flag
        raise TileError(f"'{text}' is not a whole number") from None


def _parser() -> ToolParser:
    parser = ToolParser("tile-workload", __doc__)
    parser.add_argument("workload", metavar="NAME", help="siglip, digits, vit, dinov2 or minilm")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="DIR", help="folder to write")
    for name, what in SIZES.items():
        parser.add_argument(f"--{name}", type=_whole, default=argparse.SUPPRESS, metavar="N", help=what)
    parser.add_argument(
        "--precision",
        default="f8",
        metavar="f16|f8",
        help="QKV, projection, MLP and head matmuls (default: f8)",
    )
    parser.add_argument(
        "--attention",
        default=argparse.SUPPRESS,
        metavar="f16|f8",
        help="operands of the products in attention (default: f16; siglip: f8 with --precision f8 and"
        " heads wider than 32 columns)",
    )
    parser.add_argument(
        "--accumulate",
        default="auto",
        metavar="auto|f16|f32",
        help="running sums of all products (default: auto, f16 for f8 operands, else f32)",
    )
    parser.add_argument(
        "--classes",
        type=_whole,
        default=0,
        metavar="N",
        help="vit: a head on the first token (default: 0, none)",
    )
    parser.add_argument(
        "--images", action="store_true", help="siglip: take images, not patches cut by the host"
    )
    parser.add_argument(
        "--seed", type=_whole, default=0, metavar="N", help="of random weights and inputs (default: 0)"
    )
    return parser


def _build(arguments: argparse.Namespace) -> ProgramFolder:
    # the workloads import numpy and ml_dtypes: not for --help
    from dataclasses import replace

    from tilewright.frontends.workloads import digits, dinov2, minilm, siglip, vit
    from tilewright.frontends.workloads.encoder import Mode, WorkloadError, default_attention

    sizes = {name: value for name, value in vars(arguments).items() if name in SIZES}
    free = {"siglip": siglip.DEFAULT, "vit": vit.DEFAULT}
    shape = replace(free[arguments.workload], **sizes) if arguments.workload in free else None
    attention = getattr(arguments, "attention", None)
    founding = shape if arguments.workload == "siglip" else None
    attention = attention or default_attention(arguments.precision, founding)
    mode = Mode(arguments.precision, attention, arguments.accumulate)
    if arguments.seed < 0:
        raise WorkloadError(f"--seed must not be negative, it is {arguments.seed}")
    if arguments.classes < 0 or (arguments.classes and arguments.workload != "vit"):
        raise WorkloadError("--classes is a positive number of classes, and for vit only")
    if arguments.images and arguments.workload != "siglip":
        raise WorkloadError("--images is for siglip only")
    match arguments.workload:
        case "siglip":
            assert shape is not None
            return siglip.build(shape, mode, arguments.seed, images=arguments.images)
        case "vit":
            assert shape is not None
            return vit.build(shape, mode, arguments.seed, classes=arguments.classes)
        case "digits":
            _refuse_other("digits", sizes, digits.SHAPE, free=("batch",))
            return digits.build(sizes.get("batch", digits.SHAPE.batch), mode)
        case "dinov2":
            _refuse_other("dinov2", sizes, dinov2.SHAPE)
            return dinov2.build(mode)
        case "minilm":
            _refuse_other("minilm", sizes, minilm.DEFAULT, free=("tokens",))
            return minilm.build(sizes.get("tokens", minilm.DEFAULT.tokens), mode)
        case name:
            raise WorkloadError(
                f"unknown workload '{name}'", notes=("known: siglip, digits, vit, dinov2, minilm",)
            )


def _refuse_other(workload: str, sizes: dict[str, int], shape: Shape, free: Sequence[str] = ()) -> None:
    """A trained model has one shape but for the sizes that are `free`."""
    from tilewright.frontends.workloads.encoder import WorkloadError

    for name, value in sizes.items():
        if name not in free and value != getattr(shape, name):
            raise WorkloadError(
                f"{workload} is a trained model: its --{name} is {getattr(shape, name)}",
                hint="tile-workload vit has any shape, with random weights",
            )


def run(arguments: Sequence[str]) -> None:
    """Do what the command line says. Raises `TileError`; unknown flags exit with status 2."""
    options = _parser().parse_args(arguments)
    with progress.shown(options):
        with progress.step("build"):
            folder = _build(options)
        with progress.step("write"):
            folder.write(options.output)
    if options.quiet:
        return
    values = sum(tensor.size for tensor in folder.parameters.values())
    runs = f", {folder.runs} runs" if folder.runs is not None else ""
    print(f"{options.output}: {options.workload}, precision {folder.precision}, {values:,} parameters{runs}")


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point of the console script."""
    return run_tool("tile-workload", run, argv)


if __name__ == "__main__":
    sys.exit(main())

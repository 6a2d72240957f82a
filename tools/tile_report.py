# SPDX-License-Identifier: Apache-2.0
"""
`tile-report PROFILE`: shows what `tile-run --profile` recorded: as one page of HTML, tables, CSV files or a
trace.

Without an option for the output it writes PROFILE with the ending .html.

Exit status: 0 good; 1 what is given is no profile, or cannot be shown as asked; 2 unknown flags.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tilewright.tools.driver import progress
from tilewright.tools.driver.arguments import ToolParser
from tilewright.tools.driver.main import run_tool

if TYPE_CHECKING:
    from tilewright.profile import Profile


def _parser() -> ToolParser:
    parser = ToolParser("tile-report", __doc__)
    parser.add_argument(
        "profile", type=Path, nargs="?", metavar="PROFILE", help="what tile-run --profile wrote"
    )
    parser.add_argument("-o", dest="page", type=Path, metavar="FILE", help="write one page of HTML to FILE")
    parser.add_argument("--open", action="store_true", help="open the page in the browser")
    parser.add_argument("--text", action="store_true", help="print tables")
    parser.add_argument("--csv", type=Path, metavar="DIR", help="write a file for every table to DIR")
    parser.add_argument("--trace", type=Path, metavar="FILE", help="write a trace for Perfetto or Chrome")
    parser.add_argument(
        "--compare", type=Path, nargs=2, metavar=("A", "B"), help="two profiles, operator by operator"
    )
    return parser


def run(arguments: Sequence[str]) -> int:
    """Do what the command line says; returns the exit status."""
    from rich.console import Console

    from tilewright.profile import Profile, ProfileError
    from tilewright.tools.report import tables, trace
    from tilewright.tools.report.compare import compare
    from tilewright.tools.run_checks import check_writable

    parser = _parser()
    options = parser.parse_args(arguments)
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 200)
    if options.compare is None and options.profile is None:
        parser.error("a profile is needed, or --compare A B")
    if options.compare is not None and options.profile is not None:
        parser.error("--compare names both profiles: leave the first argument out")
    check_writable({"-o": options.page, "--trace": options.trace}, {"--csv": options.csv})
    if options.compare is not None:
        if options.trace is not None or options.csv is not None:
            parser.error("--compare prints tables, or writes a page with -o")
        a, b = (Profile(path) for path in options.compare)
        found = compare(a, b)
        if options.page is not None:
            _write_page(options.page, (a, b), tuple(map(str, options.compare)), options)
        else:
            tables.print_tables(console, found)
        return 0
    assert options.profile is not None  # parser.error said so
    profile = Profile(options.profile)
    page = options.page
    if page is None and not (options.text or options.csv or options.trace):
        page = options.profile.with_suffix(".html")
    if options.text:
        tables.print_tables(console, tables.tables(profile))
    if options.csv is not None:
        for path in tables.write_csv(profile, options.csv):
            print(path)
    if options.trace is not None:
        if not profile.ran:
            raise ProfileError(
                "there is no trace: the compilation ended with an error", location=str(options.profile)
            )
        options.trace.parent.mkdir(parents=True, exist_ok=True)
        trace.write_trace(profile, options.trace)
    if page is not None:
        _write_page(page, (profile,), (str(options.profile),), options)
    return 0


def _write_page(
    path: Path, profiles: tuple[Profile, ...], labels: tuple[str, ...], options: argparse.Namespace
) -> None:
    from tilewright.tools.report.html import write_page

    with progress.shown(options), progress.step("page"):
        write_page(path, profiles, labels)
    if not options.quiet:
        print(f"the report is in {path}")
    if options.open:
        import webbrowser

        webbrowser.open(path.resolve().as_uri())


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point of the console script."""
    return run_tool("tile-report", run, argv)


if __name__ == "__main__":
    sys.exit(main())

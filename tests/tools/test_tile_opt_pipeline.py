# SPDX-License-Identifier: Apache-2.0
"""Pipeline text: what is accepted, what its options become, what an error says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass, PassPipeline

from tilewright.diagnostics import TileError
from tilewright.dialects.text.sources import Source
from tilewright.tools.driver.pipeline import SOURCE_NAME, build_pipeline, parse_pipeline


@dataclass(frozen=True)
class ProbePass(ModulePass):
    """A pass with an option of every kind."""

    name = "probe"

    by: int = 2
    ratio: float = 1.0
    fast: bool = False
    label: str | None = None
    tiles: tuple[int, ...] = ()
    mode: Literal["a", "b"] = "a"
    sizes: tuple[int, ...] | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None: ...


@dataclass(frozen=True)
class StrictPass(ModulePass):
    """A pass that must be told something."""

    name = "strict"

    depth: int

    def apply(self, ctx: Context, op: ModuleOp) -> None: ...


TABLE: dict[str, Any] = {"probe": lambda: ProbePass, "strict": lambda: StrictPass}


def build(text: str) -> tuple[ModulePass, ...]:
    return build_pipeline(Source(SOURCE_NAME, text), TABLE)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("probe", ProbePass()),
        ("builtin.module(probe)", ProbePass()),
        ("  builtin.module ( probe { } ) ", ProbePass()),
        ("probe{by=3 ratio=2}", ProbePass(by=3, ratio=2.0)),
        ("probe{ratio=1e-5}", ProbePass(ratio=1e-5)),
        ("probe{ratio=-.5}", ProbePass(ratio=-0.5)),
        ("probe{fast}", ProbePass(fast=True)),
        ("probe{fast by=1}", ProbePass(fast=True, by=1)),
        ("probe{fast=false}", ProbePass(fast=False)),
        ("probe{label=t16}", ProbePass(label="t16")),
        ("probe{label=16}", ProbePass(label="16")),
        ("probe{label=plans/a-b_c.json}", ProbePass(label="plans/a-b_c.json")),
        ('probe{label="two words, {}"}', ProbePass(label="two words, {}")),
        (r'probe{label="a \"quoted\" word"}', ProbePass(label='a "quoted" word')),
        ("probe{tiles=1,2,3}", ProbePass(tiles=(1, 2, 3))),
        ("probe{tiles=7}", ProbePass(tiles=(7,))),
        ("probe{sizes=4,5 mode=b}", ProbePass(sizes=(4, 5), mode="b")),
        ("strict{depth=0}", StrictPass(depth=0)),
    ],
)
def test_options(text: str, expected: ModulePass) -> None:
    (made,) = build(text)
    assert made == expected


@pytest.mark.parametrize("text", ["builtin.module()", "", "builtin.module( )"])
def test_nothing_to_do(text: str) -> None:
    assert parse_pipeline(text) == ()


def test_order_is_kept() -> None:
    assert [made.name for made in build("builtin.module(probe, strict{depth=1},probe)")] == [
        "probe",
        "strict",
        "probe",
    ]


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("prob", 1, "unknown pass `prob`"),
        ("probe{bye=1}", 7, "pass `probe` has no option `bye`"),
        ("probe{by=x}", 10, "option `by` of pass `probe` cannot be `x`"),
        ("probe{by=true}", 10, "option `by` of pass `probe` cannot be `true`"),
        ("probe{by=1.5}", 10, "option `by` of pass `probe` cannot be `1.5`"),
        ("probe{by}", 7, "option `by` needs a value (an integer)"),
        ("probe{by=1,2}", 12, "option `by` of pass `probe` takes one value"),
        ("probe{by=1 by=2}", 12, "option `by` is given twice"),
        ("probe{mode=c}", 12, "option `mode` of pass `probe` cannot be `c`"),
        ("probe{by=3,ratio=2}", 11, "options are separated by blanks, not commas"),
        ("probe{fast,by=2}", 11, "options are separated by blanks, not commas"),
        ("probe{by=}", 10, "expected a value"),
        ('probe{label="x}', 13, "text without its closing quote"),
        ("probe{by=1", 11, "`{` without `}`"),
        ("probe,", 7, "expected a pass name"),
        ("probe{by=1 !}", 12, "expected the name of an option, or `}`"),
        ("probe[a", 6, "`[` without `]`"),
        ("builtin.module(probe probe)", 22, "expected `,` or `)` after a pass, found `p`"),
        ("builtin.module(probe", 21, "expected `,` or `)`"),
        ("builtin.module(probe))", 22, "expected the end of the pipeline"),
        ("strict", 1, "pass `strict` needs the option `depth`"),
    ],
)
def test_errors_point_into_the_text(text: str, column: int, message: str) -> None:
    with pytest.raises(TileError) as caught:
        build(text)
    assert (caught.value.message, str(caught.value.location)) == (message, f"{SOURCE_NAME}:1:{column}")


@given(st.text(alphabet="ab.{}()=,\"' 1-probestrict", max_size=30))
def test_any_text_is_a_pipeline_or_a_diagnostic(text: str) -> None:
    try:
        build(text)
    except TileError as error:
        assert error.location is not None


@given(
    st.builds(
        ProbePass,
        by=st.integers(-(10**6), 10**6),
        fast=st.booleans(),
        label=st.text(alphabet="abc 0123/.,{}=", min_size=1, max_size=8),
        tiles=st.lists(st.integers(0, 99), min_size=2, max_size=4).map(tuple),
    )
)
def test_what_a_pass_prints_reads_back(made: ProbePass) -> None:
    """A pipeline as xDSL prints it means the same here."""
    assert build(str(made)) == (made,)
    assert PassPipeline.parse_spec(TABLE, str(made)).passes == (made,)

# SPDX-License-Identifier: Apache-2.0
"""tile_repeat: construction, accessors, isolation. Syntax and messages: filecheck/dialects/tile_repeat."""

from io import StringIO

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import FileLineColLoc, TensorType, f16
from xdsl.dialects.test import TestOp as AnyOp
from xdsl.ir import Block, Region
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.parsing import context, parse_module
from tilewright.dialects.tile_repeat import MemberOp, PackOp, RepeatOp, SequenceType, YieldOp
from tilewright.dialects.tile_tensor import AddOp, MatmulOp

T = TensorType(f16, [4, 4])


def build() -> RepeatOp:
    state, mask, weights = AnyOp(result_types=[T, T, SequenceType(3, T)]).results
    body = Block(arg_types=[T, T, T])
    x, m, w = body.args
    product = MatmulOp(x, w, f16)
    total = AddOp(product, m)
    body.add_ops([product, total, YieldOp([total], [product])])
    return RepeatOp("layers", 3, [state], [mask], [weights], Region(body), [T])


def test_construction_and_accessors() -> None:
    repeat = build()
    repeat.verify()
    x, m, w = repeat.body_block.args
    assert (repeat.carried_args, repeat.invariant_args, repeat.iterated_args) == ((x,), (m,), (w,))
    assert [value.type for value in repeat.carried_results] == [T]
    assert [value.type for value in repeat.collected_results] == [SequenceType(3, T)]
    assert repeat.iterations == 3
    assert repeat.yield_op.collected[0] is repeat.body_block.first_op.results[0]


def test_nested_sequences() -> None:
    nested = SequenceType(2, SequenceType(3, T))
    assert nested.counts == (2, 3)
    assert nested.tensor == T
    assert str(nested) == "!tile_repeat.sequence<2 x !tile_repeat.sequence<3 x tensor<4x4xf16>>>"
    with pytest.raises(VerifyException, match="holds tensors or sequences"):
        SequenceType(2, f16)
    with pytest.raises(VerifyException, match="zero or more"):
        SequenceType(-1, T)


def test_pack_and_member() -> None:
    a, b = AnyOp(result_types=[T, T]).results
    pack = PackOp([a, b], T)
    pack.verify()
    member = MemberOp(pack, 1)
    member.verify()
    assert member.result.type == T


@pytest.mark.parametrize("foreign", ["other.region", "test.op"])
def test_a_capture_inside_a_foreign_region_is_found(foreign) -> None:
    source = f"""
    func.func @main(%x0: tensor<8xf16>, %outside: tensor<8xf16>) {{
      %y = tile_repeat.repeat "layers" count 3 carried(%x = %x0 : tensor<8xf16>) -> (tensor<8xf16>) {{
        "{foreign}"() ({{
          "test.termop"(%outside) : (tensor<8xf16>) -> ()
        }}) : () -> ()
        tile_repeat.yield %x : tensor<8xf16>
      }}
      func.return
    }}"""
    ctx: Context = context()
    ctx.allow_unregistered = True
    with pytest.raises(VerifyException, match=r"test.termop in the body uses %outside from outside"):
        parse_module(source, ctx=ctx)


def test_argument_locations_survive_printing() -> None:
    source = """
    func.func @main(%x0: tensor<8xf16>) {
      %y = tile_repeat.repeat "l" count 3
          carried(%x = %x0 : tensor<8xf16> loc("m.py":3:5)) -> (tensor<8xf16>) {
        tile_repeat.yield %x : tensor<8xf16>
      }
      func.return
    }"""
    stream = StringIO()
    Printer(stream, print_debuginfo=True).print_op(parse_module(source))
    again = parse_module(stream.getvalue())
    (repeat,) = (op for op in again.walk() if isinstance(op, RepeatOp))
    location = repeat.carried_args[0].location
    assert isinstance(location, FileLineColLoc)
    assert (location.filename.data, location.line.data, location.column.data) == ("m.py", 3, 5)

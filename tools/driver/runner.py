# SPDX-License-Identifier: Apache-2.0
"""Running a pipeline: instruments are told, the IR is verified, errors say in which pass they came up."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import IsolatedFromAbove
from xdsl.utils.exceptions import DiagnosticException

from tilewright import instrumentation
from tilewright.diagnostics import TileError
from tilewright.tools.driver.errors import ContextNote, DriverError, InvalidIR
from tilewright.tools.driver.pipeline import ANY, NestedPipeline
from tilewright.tools.driver.timing import Timing
from tilewright.tools.driver.verify import reason, verify_module


@dataclass
class Runner:
    """Runs passes on modules. `verify`: the input and the result; `verify_each`: after every pass as well."""

    context: Context
    verify: bool = False
    verify_each: bool = True
    verify_memory: bool = False
    timing: Timing | None = None

    def run(self, passes: Sequence[ModulePass], module: ModuleOp) -> None:
        """Run a pipeline on a whole module. Raises what its passes raise, with a note that names the pass."""
        self._verify(module)
        if self.verify_memory and not passes:
            self._look_at_memory(module)
        for index, made in enumerate(passes):
            self._run_one(made, module, self.verify_each or index + 1 == len(passes))

    def run_nested(self, nested: NestedPipeline, module: ModuleOp) -> None:
        """Run a nested pipeline on what its anchor names in the module's own block."""
        for op in tuple(module.ops):
            if op.name != nested.name and not (nested.name == ANY and _is_isolated(op)):
                continue
            if isinstance(op, ModuleOp):
                self._run_all(nested.passes, op, self.verify_each)
            else:
                self._run_alone(nested.passes, op, module)

    def _run_all(self, passes: Sequence[ModulePass], module: ModuleOp, verify: bool) -> None:
        for made in passes:
            self._run_one(made, module, verify)

    def _run_alone(self, passes: Sequence[ModulePass], op: Operation, module: ModuleOp) -> None:
        """
        Passes work on modules: the operation gets one of its own for the time, with the attributes of the
        module it is from (its machine), and whatever became of it takes its place.
        """
        following = op.next_op
        alone = ModuleOp([], dict(module.attributes))
        alone.location = module.location
        op.detach()
        alone.body.block.add_op(op)
        try:
            # not verified before it is back: what it calls is elsewhere
            self._run_all(passes, alone, verify=False)
        finally:
            made = list(alone.ops)
            for each in made:
                each.detach()
            place = (
                InsertPoint.before(following)
                if following is not None
                else InsertPoint.at_end(module.body.block)
            )
            Rewriter.insert_op(made, place)

    def _run_one(self, made: ModulePass, module: ModuleOp, verify: bool) -> None:
        with _named(made.name), instrumentation.step(made.name, module):
            if isinstance(made, NestedPipeline):
                self.run_nested(made, module)
            else:
                made.apply(self.context, module)
            if verify:
                try:
                    self._verify(module)
                except InvalidIR as error:
                    error.culprit = made.name
                    note = ContextNote(f"the IR is invalid after pass `{made.name}`")
                    error.notes = (*error.notes, note)
                    raise
            if self.verify_memory:
                try:
                    self._look_at_memory(module)
                except TileError as error:
                    note = ContextNote(f"the memory is wrong after pass `{made.name}`")
                    error.notes = (*error.notes, note)
                    raise

    def _verify(self, module: ModuleOp) -> None:
        if self.verify:
            with self._timed("(verify)"):
                verify_module(module)

    def _timed(self, name: str) -> AbstractContextManager[object]:
        return self.timing.scope(name) if self.timing is not None else nullcontext()

    def _look_at_memory(self, module: ModuleOp) -> None:
        from tilewright.passes.ir.memory_verify import verify_memory

        verify_memory(module)


def _is_isolated(op: Operation) -> bool:
    return isinstance(op, ModuleOp) or op.has_trait(IsolatedFromAbove)


@contextmanager
def _named(name: str) -> Generator[None]:
    """Errors of a pass say in which pass they came up, once."""
    try:
        yield
    except InvalidIR:
        raise
    except TileError as error:
        if not any(isinstance(note, ContextNote) for note in error.notes):
            error.notes = (*error.notes, ContextNote(f"in pass `{name}`"))
        raise
    except DiagnosticException as error:
        # xDSL's exceptions carry the whole module as a note; ours say where.
        raise DriverError(reason(error), notes=(ContextNote(f"in pass `{name}`"),)) from error

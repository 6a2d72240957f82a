# SPDX-License-Identifier: Apache-2.0
"""
Pass pipelines as MLIR writes them: `builtin.module(a{x=1 y=2,3 fast},b)`, with or without the anchor.

Anchors nest: `builtin.module(func.func(a),any(b),c)` runs a on every function, b on every operation that is
isolated from above, c on the module.

Differences from xDSL's own reader: anchors, blanks anywhere between tokens, a bare option means true, an
integer where a float is meant, values such as paths without quotes, and errors that point into the text and
name what is near.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Any, Literal, NoReturn, Union, get_args, get_origin, get_type_hints

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.traits import IsolatedFromAbove
from xdsl.utils.arg_spec import ArgSpec, parse_spec
from xdsl.utils.exceptions import ArgSpecParseError

from tilewright.dialects.text.sources import Source
from tilewright.options import out_of_range, range_of
from tilewright.suggestions import near
from tilewright.tools.driver.errors import DriverError

PassTable = Mapping[str, Callable[[], type[ModulePass]]]

SOURCE_NAME = "<pass-pipeline>"

ANY = "any"
"""The anchor that stands for every operation."""

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\-]*")
_BARE_VALUE = re.compile(r"[^\s,{}=()\"']+")
_INTEGER = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?([0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))([eE][-+]?[0-9]+)?")
_BLANKS = re.compile(r"\s*")


@dataclass(frozen=True)
class Value:
    """One value of an option; `quoted` text is never taken for a number."""

    text: str
    quoted: bool
    at: int


@dataclass(frozen=True)
class Option:
    name: str
    values: tuple[Value, ...]
    at: int


@dataclass(frozen=True)
class Element:
    """
    A pass with its options, (`foreign`) the text of an `mlir-opt[...]` element, or (`nested`) an anchor with
    the pipeline of what it names.
    """

    name: str
    options: tuple[Option, ...]
    at: int
    foreign: str | None = None
    nested: tuple[Element, ...] | None = None


@dataclass(frozen=True)
class NestedPipeline(ModulePass):
    """
    Passes that run on operations inside of a module, each alone: on those called `name`, or, with the name
    `any`, on all that are isolated from above. `run_passes` of the driver runs it.
    """

    name: str  # pyright: ignore[reportIncompatibleVariableOverride]
    passes: tuple[ModulePass, ...]

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        from tilewright.tools.driver.runner import Runner

        Runner(ctx).run_nested(self, op)

    def __str__(self) -> str:
        return f"{self.name}({','.join(map(str, self.passes))})"


class _Reader:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.text = source.text
        self.at = 0

    def fail(self, message: str, at: int | None = None, hint: str | None = None) -> NoReturn:
        raise pipeline_error(self.source, self.at if at is None else at, message, hint)

    def skip(self) -> None:
        match = _BLANKS.match(self.text, self.at)
        assert match is not None
        self.at = match.end()

    def peek(self) -> str:
        self.skip()
        return self.text[self.at : self.at + 1]

    def take(self, punctuation: str) -> bool:
        if self.peek() != punctuation:
            return False
        self.at += 1
        return True

    def match(self, pattern: re.Pattern[str]) -> str | None:
        self.skip()
        if (match := pattern.match(self.text, self.at)) is None:
            return None
        self.at = match.end()
        return match.group()

    def pipeline(self) -> tuple[Element, ...]:
        self.skip()
        start = self.at
        anchor = self.match(_NAME)
        if anchor in (ModuleOp.name, ANY) and self.take("("):
            elements = self.elements(")")
            if not self.take(")"):
                self.fail("expected `,` or `)` after a pass")
            if anchor == ModuleOp.name or not self.peek():
                if self.peek():
                    self.fail("expected the end of the pipeline")
                return elements
        self.at = start
        elements = self.elements("")
        if self.peek():
            self.fail("expected a pass name")
        return elements

    def elements(self, end: str) -> tuple[Element, ...]:
        elements: list[Element] = []
        if self.peek() == end:
            return ()
        while True:
            elements.append(self.element())
            if not self.take(","):
                break
        if (following := self.peek()) != end:
            expected = "`,` or `)`" if end else "`,`"
            self.fail(
                f"expected {expected} after a pass, found `{following}`"
                if following
                else f"expected {expected}"
            )
        return tuple(elements)

    def element(self) -> Element:
        self.skip()
        start = self.at
        if (name := self.match(_NAME)) is None:
            self.fail("expected a pass name")
        following = self.peek()
        if following == "(":
            self.take("(")
            nested = self.elements(")")
            if not self.take(")"):
                self.fail("expected `,` or `)` after a pass")
            return Element(name, (), start, nested=nested)
        if following == "[":
            if (end := self.text.find("]", self.at)) < 0:
                self.fail("`[` without `]`")
            self.at = end + 1
            return Element(name, (), start, foreign=self.text[start : end + 1])
        if not self.take("{"):
            return Element(name, (), start)
        options: list[Option] = []
        while not self.take("}"):
            options.append(self.option())
            if self.peek() == "":
                self.fail("`{` without `}`")
        return Element(name, tuple(options), start)

    def option(self) -> Option:
        self.skip()
        start = self.at
        if (name := self.match(_NAME)) is None:
            self.fail("expected the name of an option, or `}`")
        if self.text[self.at : self.at + 1] != "=":
            if self.peek() == ",":
                self.fail("options are separated by blanks, not commas")
            return Option(name, (), start)
        self.at += 1
        values = [self.value()]
        while self.text[self.at : self.at + 1] == ",":
            self.at += 1
            values.append(self.value())
            if self.text[self.at : self.at + 1] == "=":
                self.fail("options are separated by blanks, not commas", values[-1].at - 1)
        return Option(name, tuple(values), start)

    def value(self) -> Value:
        start = self.at
        quote = self.text[start : start + 1]
        if quote in ("'", '"'):
            at = start + 1
            characters: list[str] = []
            while at < len(self.text) and self.text[at] != quote:
                if self.text[at] == "\\" and at + 1 < len(self.text):
                    at += 1
                characters.append(self.text[at])
                at += 1
            if at >= len(self.text):
                self.fail("text without its closing quote", start)
            self.at = at + 1
            return Value("".join(characters), True, start)
        match = _BARE_VALUE.match(self.text, start)
        if match is None:
            self.fail("expected a value")
        self.at = match.end()
        return Value(match.group(), False, start)


def pipeline_error(source: Source, at: int, message: str, hint: str | None = None) -> DriverError:
    """An error that points into the pipeline's text."""
    return DriverError(message, location=source.position(at), hint=hint)


def parse_pipeline(text: str) -> tuple[Element, ...]:
    """The elements of a pipeline; `DriverError` with the place of the fault."""
    return _Reader(Source(SOURCE_NAME, text)).pipeline()


def build_pipeline(
    source: Source, available: PassTable, context: Context | None = None
) -> tuple[ModulePass, ...]:
    """
    Parse `source` and make its passes; unknown names and options are errors with near names. With a context,
    anchors have to be operations that passes can run on.
    """
    return _build_all(source, _Reader(source).pipeline(), available, context)


def _build_all(
    source: Source, elements: tuple[Element, ...], available: PassTable, context: Context | None
) -> tuple[ModulePass, ...]:
    passes: list[ModulePass] = []
    for element in elements:
        if element.nested is not None:
            _check_anchor(source, element, available, context)
            passes.append(
                NestedPipeline(element.name, _build_all(source, element.nested, available, context))
            )
            continue
        if element.name not in available:
            raise pipeline_error(
                source,
                element.at,
                f"unknown pass `{element.name}`",
                near(element.name, available) or "`--list-passes` prints the passes there are",
            )
        passes.append(_build(source, element, available[element.name]()))
    return tuple(passes)


COMPILE = "tile-compile"
"""The pass whose stages are steps as well."""


def step_names(passes: Sequence[ModulePass]) -> list[str]:
    """Names of the passes of a pipeline, of what they nest, and of the stages of a compilation in it."""
    names: list[str] = []
    for made in passes:
        names.append(made.name)
        if isinstance(made, NestedPipeline):
            names += step_names(made.passes)
        elif made.name == COMPILE:
            names += _stage_names()
    return names


def cut_pipeline(
    passes: tuple[ModulePass, ...], start_after: str | None, stop_after: str | None
) -> tuple[ModulePass, ...]:
    """The passes behind the first called `start_after`, to the first called `stop_after`, or stages."""
    first, first_stage = (0, None) if start_after is None else _find(passes, start_after)
    if first_stage is not None:
        cut = dataclasses.replace(passes[first], **{"start_after": first_stage})
        passes = (*passes[:first], cut, *passes[first + 1 :])
    elif start_after is not None:
        first += 1
    passes = passes[first:]
    if stop_after is None:
        return passes
    last, last_stage = _find(passes, stop_after)
    if last_stage is not None:
        cut = dataclasses.replace(passes[last], **{"stop_after": last_stage})
        return (*passes[:last], cut)
    return passes[: last + 1]


def _find(passes: Sequence[ModulePass], name: str) -> tuple[int, str | None]:
    """The index of a pass, and the stage in it where `name` is one."""
    for index, made in enumerate(passes):
        if made.name == name:
            return index, None
        if made.name == COMPILE and name in _stage_names():
            return index, name
    known = step_names(passes)
    raise DriverError(
        f"the pipeline has no pass or stage `{name}`",
        hint=near(name, known) or f"it has: {', '.join(known) or 'none'}",
    )


def describe_pipeline(passes: Sequence[ModulePass]) -> str:
    """The pipeline as `--pass-pipeline` takes it, then what its compilations consist of."""
    text = f"builtin.module({','.join(map(str, passes))})\n"
    for made in passes:
        if made.name == COMPILE:
            names = _stage_names()
            start = getattr(made, "start_after", None)
            stop = getattr(made, "stop_after", None)
            names = names[names.index(start) + 1 if start in names else 0 :]
            names = names[: names.index(stop) + 1 if stop in names else len(names)]
            text += f"{made.name} runs: {', '.join(names)}\n"
    return text


def _stage_names() -> list[str]:
    from tilewright.passes.pipeline import STAGES

    return [stage.name for stage in STAGES]


def _check_anchor(source: Source, element: Element, available: PassTable, context: Context | None) -> None:
    name = element.name
    if name in available:
        raise pipeline_error(
            source, element.at, f"`{name}` is a pass, not an operation", "options of a pass stand in braces"
        )
    if name in (ANY, ModuleOp.name) or context is None:
        return
    operation = context.get_optional_op(name)
    if operation is None:
        raise pipeline_error(
            source,
            element.at,
            f"unknown operation `{name}` before a nested pipeline",
            near(name, ("func.func", ModuleOp.name, ANY)) or "such as func.func, builtin.module, or any",
        )
    if not operation.has_trait(IsolatedFromAbove):
        raise pipeline_error(
            source,
            element.at,
            f"no pass runs on `{name}` alone: it uses values from around it",
            "anchors are isolated from above: func.func, builtin.module",
        )


def _build(source: Source, element: Element, cls: type[ModulePass]) -> ModulePass:
    if element.foreign is not None:
        try:
            return cls.from_spec(parse_spec(element.foreign))
        except ArgSpecParseError as error:
            raise pipeline_error(source, element.at, f"in `{element.foreign}`: {error}") from None
    hints = get_type_hints(cls)
    fields = {field.name: field for field in dataclasses.fields(cls) if field.init and field.name != "name"}
    parameters: dict[str, tuple[Any, ...]] = {}
    for option in element.options:
        name = option.name.replace("-", "_")
        if name not in fields:
            known = ", ".join(f"`{field}`" for field in fields) or "none"
            raise pipeline_error(
                source,
                option.at,
                f"pass `{element.name}` has no option `{option.name}`",
                near(name, fields) or f"its options: {known}",
            )
        if name in parameters:
            raise pipeline_error(source, option.at, f"option `{option.name}` is given twice")
        parameters[name] = _convert(source, element, option, hints[name])
        for value, written in zip(parameters[name], option.values, strict=False):
            if out_of_range(fields[name], value):
                raise pipeline_error(
                    source,
                    written.at,
                    f"option `{option.name}` of pass `{element.name}` cannot be {written.text}",
                    f"its range: {range_of(fields[name])}",
                )
    for name in sorted(cls.required_fields() - parameters.keys()):
        raise pipeline_error(source, element.at, f"pass `{element.name}` needs the option `{name}`")
    try:
        return cls.from_spec(ArgSpec(cls.name, parameters))
    except ValueError as error:
        raise pipeline_error(source, element.at, f"pass `{element.name}`: {error}") from error


def _convert(source: Source, element: Element, option: Option, hint: Any) -> tuple[Any, ...]:
    """The option's values in the Python types that its field accepts."""
    accepted = _leaves(hint)
    if not option.values:
        if bool in accepted:
            return (True,)
        if NoneType in accepted:
            return ()
        raise pipeline_error(
            source, option.at, f"option `{option.name}` needs a value ({describe_type(hint)})"
        )
    converted: list[Any] = []
    for value in option.values:
        result = _convert_one(value, accepted)
        if result is None:
            raise pipeline_error(
                source,
                value.at,
                f"option `{option.name}` of pass `{element.name}` cannot be `{value.text}`",
                f"expected {describe_type(hint)}",
            )
        converted.append(result)
    if len(converted) > 1 and not _is_list(hint):
        raise pipeline_error(
            source, option.values[1].at, f"option `{option.name}` of pass `{element.name}` takes one value"
        )
    return tuple(converted)


def _convert_one(value: Value, accepted: tuple[Any, ...]) -> Any:
    text = value.text
    if not value.quoted:
        if bool in accepted and text in ("true", "false"):
            return text == "true"
        if int in accepted and _INTEGER.fullmatch(text):
            return int(text)
        if float in accepted and (_FLOAT.fullmatch(text) or _INTEGER.fullmatch(text)):
            return float(text)
    literals = [leaf for leaf in accepted if not isinstance(leaf, type) and str(leaf) == text]
    if literals:
        return literals[0]
    return text if str in accepted else None


def _leaves(hint: Any) -> tuple[Any, ...]:
    """Basic types and literal values that a field's type is made of."""
    origin = get_origin(hint)
    if origin in (Union, UnionType, tuple):
        return tuple(leaf for part in get_args(hint) if part is not Ellipsis for leaf in _leaves(part))
    if origin is Literal:
        return get_args(hint)
    return (hint,)


def _is_list(hint: Any) -> bool:
    origin = get_origin(hint)
    if origin is tuple:
        return True
    return origin in (Union, UnionType) and any(_is_list(part) for part in get_args(hint))


_WORDS = {int: "an integer", float: "a number", bool: "true or false", str: "text"}


def describe_type(hint: Any) -> str:
    """The values that an option takes, in words."""
    words = [_WORDS.get(leaf, f"`{leaf}`") for leaf in _leaves(hint) if leaf is not NoneType]
    text = " or ".join(dict.fromkeys(words))
    return f"a list of {text.removeprefix('an ').removeprefix('a ')} values" if _is_list(hint) else text

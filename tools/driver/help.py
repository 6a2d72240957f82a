# SPDX-License-Identifier: Apache-2.0
"""What `tile-opt` says about itself: options, passes, dialects, operations. Documents are made from it."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Mapping, Sequence
from typing import Any, get_type_hints

from xdsl.context import Context
from xdsl.irdl import IRDLOperation
from xdsl.passes import ModulePass

from tilewright.options import meaning_of, range_of
from tilewright.suggestions import near
from tilewright.tools.driver.arguments import ToolParser, describe, format_options, help_of, spelling
from tilewright.tools.driver.errors import DriverError
from tilewright.tools.driver.pipeline import PassTable, describe_type

SECTIONS: Mapping[str, str] = {
    "input and output": (
        "input_file output_file split_input_file allow_unregistered_dialect sidecar_dir inputs"
    ),
    "passes": (
        "passes pass_pipeline dump_pass_pipeline start_after stop_after machine plan search executor"
        " plan_report exchange_cap exchange_items"
    ),
    "printing": (
        "print_op_generic print_debuginfo print_layouts print_ir_before print_ir_after print_ir_before_all"
        " print_ir_after_all print_ir_after_change print_ir_after_failure print_ir_diff print_ir_tree_dir"
    ),
    "checking": "verify_each verify_diagnostics verify_memory",
    "looking": (
        "remarks remarks_file timing pass_statistics steps home_report dump_layouts dump_allocation_problems"
        " crash_reproducer run_reproducer"
    ),
    "help": "help help_all list_passes list_dialects list_ops quiet verbose completion version",
}
"""Options in the order in which help lists them, by what they are for. What is in none is xDSL's."""

WORDS: Mapping[str, str] = {
    "input_file": "file to read; without it, or as `-`, standard input",
    "output_file": "file to write, in one step and only if the run succeeds; may be the input",
    "passes": "passes, as in --pass-pipeline without `builtin.module(...)`",
    "split_input_file": "take pieces between lines `// -----` one by one, also behind one that fails",
    "allow_unregistered_dialect": "accept operations of dialects that are not known",
    "print_op_generic": "print operations in their generic form",
    "print_debuginfo": "print locations",
    "target": "form of the output: {targets}",
    "frontend": "form of the input: {frontends}",
    "no_implicit_module": "the text has to be one module",
    "disable_verify": "verify nothing at all",
    "time_passes": "print the seconds of passes to stdout, as xdsl-opt does",
    "print_between_passes": "print the IR between passes to stdout, as xdsl-opt does",
    "parsing_diagnostics": "print errors of the parser to stdout, and go on",
    "print_no_properties": "print properties as attributes",
    "syntax_highlight": "colour the output",
    "shrink": "exit 0 if a pass says that the input can shrink",
    "version": "print the version",
    "help": "print this, or with `--help PASS` or `--help DIALECT.OP` what that is",
}


def short_help(parser: ToolParser) -> str:
    """The options that matter, by section."""
    by_name = {action.dest: action for action in parser.actions()}
    text = "tile-opt [FILE] [OPTION...]: reads textual IR, runs passes, prints the result.\n"
    for title, names in SECTIONS.items():
        known = [by_name[name] for name in names.split() if name in by_name]
        text += "\n" + format_options(title, known, WORDS)
    return text + "\nOptions and passes of xDSL: --help-all. Our passes with their options: --list-passes.\n"


def long_help(parser: ToolParser, available: PassTable, formats: Mapping[str, Sequence[str]]) -> str:
    """Everything: xDSL's options and the names of all passes as well."""
    listed = {name for names in SECTIONS.values() for name in names.split()}
    others = [action for action in parser.actions() if action.dest not in listed]
    words = {
        k: v.format(**{name: ", ".join(names) for name, names in formats.items()}) if "{" in v else v
        for k, v in WORDS.items()
    }
    return f"{short_help(parser)}\n{format_options('of xdsl-opt', others, words)}\n{list_passes(available)}"


def option_table(parser: ToolParser) -> str:
    """The options as a table of Markdown, for the document of the tool."""
    by_name = {action.dest: action for action in parser.actions()}
    lines = ["| option | does |", "|---|---|"]
    for names in SECTIONS.values():
        for name in names.split():
            if name in by_name and by_name[name].option_strings:
                action = by_name[name]
                name_ = spelling(action).replace("|", "\\|")
                lines.append(f"| `{name_}` | {help_of(action, WORDS).replace('|', chr(92) + '|')} |")
    return "\n".join(lines) + "\n"


def pass_table() -> str:
    """Our passes and their options as a table of Markdown."""
    from tilewright.universe import UNIVERSE

    lines = ["| pass | does | options |", "|---|---|---|"]
    for name, factory in UNIVERSE.all_passes.items():
        cls = factory()
        options = [
            f"`{option}`: {_type_and_default(cls, field)}"
            + (f", {limits}" if (limits := range_of(field)) is not None else "")
            for option, field in _options(cls).items()
        ]
        row = (f"`{name}`", _summary(cls), "; ".join(options) or "none")
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |")
    return "\n".join(lines) + "\n"


def stage_table() -> str:
    """The stages of a compilation as a table of Markdown."""
    from tilewright.passes.pipeline import STAGES

    lines = ["| stage | does |", "|---|---|"]
    lines += [f"| `{stage.name}` | {stage.description} |" for stage in STAGES]
    return "\n".join(lines) + "\n"


def list_passes(available: PassTable) -> str:
    """
    Our passes with the first line of their documentation and their options, the stages of a compilation, and
    the names of the other passes.
    """
    from tilewright.passes.pipeline import STAGES
    from tilewright.universe import UNIVERSE

    lines: list[str] = []
    for name, factory in UNIVERSE.all_passes.items():
        cls = factory()
        lines.append(f"{name}: {_summary(cls)}")
        lines.extend(
            f"    {option}: {_type_and_default(cls, field)}" for option, field in _options(cls).items()
        )
    lines.append("stages of tile-compile and tile-run, in order:")
    lines.extend(f"    {stage.name}: {stage.description}" for stage in STAGES)
    others = sorted(set(available) - set(UNIVERSE.all_passes))
    lines.append("passes of xDSL and of other plugins:")
    lines.extend(f"    {name}" for name in others)
    return "\n".join(lines) + "\n"


def help_on(topic: str, available: PassTable, context: Context) -> str:
    """What a pass, an operation or a dialect is. `DriverError` with near names for anything else."""
    if topic in available:
        return _describe_pass(topic, available[topic]())
    operation = context.get_optional_op(topic) if "." in topic else None
    if operation is not None:
        return _describe_operation(operation)
    if topic in context.registered_dialect_names:
        return list_operations(context, topic)
    names = [*available, *context.registered_dialect_names]
    if "." in topic and (dialect := context.get_optional_dialect(topic.partition(".")[0])) is not None:
        names = [operation.name for operation in dialect.operations]
    raise DriverError(
        f"there is no pass, operation or dialect `{topic}`",
        hint=near(topic, names) or "`--list-passes`, `--list-ops` and `--list-dialects` name them",
    )


def list_dialects(context: Context) -> str:
    """The names of all dialects: ours, then the others."""
    from tilewright.universe import DIALECTS

    lines = list(DIALECTS)
    lines += sorted(set(context.registered_dialect_names) - set(DIALECTS))
    return "\n".join(lines) + "\n"


def list_operations(context: Context, only: str | None = None) -> str:
    """The operations of our dialects, or of one dialect, with what they do."""
    from tilewright.universe import DIALECTS

    lines: list[str] = []
    for name in DIALECTS if only is None else (only,):
        dialect = context.get_optional_dialect(name)
        if dialect is None:
            raise DriverError(
                f"there is no dialect `{name}`", hint=near(name, context.registered_dialect_names)
            )
        lines += [
            describe(operation.name, _summary(operation), indent=0, column=34)
            for operation in sorted(dialect.operations, key=lambda op: op.name)
        ]
    return "\n".join(lines) + "\n"


def _options(cls: type[ModulePass]) -> dict[str, dataclasses.Field[Any]]:
    return {
        field.name.replace("_", "-"): field
        for field in dataclasses.fields(cls)
        if field.init and field.name != "name"
    }


def _type_and_default(cls: type[ModulePass], field: dataclasses.Field[Any]) -> str:
    kind = describe_type(get_type_hints(cls)[field.name])
    default = field.default
    told = str(default).lower() if isinstance(default, bool) else str(default)
    shown = "" if default in (None, (), dataclasses.MISSING) else f" (default {told})"
    if default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
        shown = " (must be given)"
    return kind + shown


def _describe_pass(name: str, cls: type[ModulePass]) -> str:
    lines = [f"{name}: {_summary(cls)}"]
    module = inspect.getmodule(cls)
    details = inspect.getdoc(module) if cls.__module__.startswith("tilewright.") else inspect.getdoc(cls)
    if details:
        lines += ["", details]
    options = _options(cls)
    lines += ["", "options:" if options else "no options"]
    for option, field in options.items():
        text = _type_and_default(cls, field)
        if (limits := range_of(field)) is not None:
            text += f"; {limits}"
        if (meaning := meaning_of(field)) is not None:
            text += f". {meaning[0].upper()}{meaning[1:]}."
        lines.append(describe(option, text))
    return "\n".join(lines) + "\n"


def _describe_operation(cls: Any) -> str:
    lines = [f"{cls.name}: {_summary(cls)}"]
    details = inspect.getdoc(cls)
    if details and "\n\n" in details:
        lines += ["", details.partition("\n\n")[2].strip()]
    if not issubclass(cls, IRDLOperation):
        return "\n".join(lines) + "\n"
    definition = cls.get_irdl_definition()
    for title, parts in (
        ("operands", definition.operands),
        ("results", definition.results),
        ("regions", definition.regions),
        ("successors", definition.successors),
    ):
        if parts:
            lines += ["", f"{title}:"]
            lines += [describe(name, _constraint(part)) for name, part in parts]
    for title, named in (("properties", definition.properties), ("attributes", definition.attributes)):
        if named:
            lines += ["", f"{title}:"]
            lines += [describe(name, _constraint(part)) for name, part in named.items()]
    traits = sorted(type(trait).__name__ for trait in cls.traits)
    if traits:
        lines += ["", f"traits: {', '.join(traits)}"]
    form = getattr(cls, "assembly_format", None)
    if form:
        lines += ["", f"form: {form}"]
    return "\n".join(lines) + "\n"


def _constraint(part: Any) -> str:
    """How many, and of what, where the definition says it in a readable way."""
    kind = type(part).__name__
    count = "any number of " if kind.startswith("Var") else "optional, " if kind.startswith("Opt") else ""
    constraint = getattr(part, "constr", None)
    inner = getattr(constraint, "constr", constraint)  # of a range of operands, that of each
    base = getattr(inner, "attr", None) or getattr(inner, "base_attr", None)
    name = getattr(base, "name", None)
    if isinstance(name, str):
        return count + name
    options = [
        getattr(getattr(c, "attr", getattr(c, "base_attr", None)), "name", None)
        for c in getattr(inner, "attr_constrs", ())
    ]
    if options and all(isinstance(option, str) for option in options):
        return count + " or ".join(str(option) for option in options)
    return count + "any" if count else "any"


def _summary(cls: type) -> str:
    return " ".join((inspect.getdoc(cls) or "").strip().split("\n\n")[0].split())

# SPDX-License-Identifier: Apache-2.0
"""
Completion of command lines for bash, zsh and fish: scripts that know a tool's options and, for `tile-opt`,
the names of passes.
"""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.tools.driver.arguments import ToolParser, help_of, metavar

PIPELINE_OPTIONS = (
    "-p",
    "--passes",
    "--start-after",
    "--stop-after",
    "--print-ir-before",
    "--print-ir-after",
)
"""Options whose value names passes."""


def completion(shell: str, tool: str, parser: ToolParser, passes: Sequence[str] = ()) -> str:
    """The script for a shell, to be sourced (bash, zsh) or put into its folder of completions (fish)."""
    flags = sorted({flag for flag in parser.flags() if flag.startswith("--")})
    if shell == "fish":
        lines = [f"complete -c {tool} -f -a '(__fish_complete_suffix .mlir)'"]
        for action in parser.actions():
            long = [flag for flag in action.option_strings if flag.startswith("--")]
            if not long:
                continue
            text = help_of(action, {}).replace("\\", "\\\\").replace("'", "\\'")
            takes = " -r" if metavar(action) is not None and action.nargs != "?" else ""
            values = " ".join(map(str, action.choices or ()))
            if set(action.option_strings) & set(PIPELINE_OPTIONS) and passes:
                values = " ".join(passes)
            given = f" -xa '{values}'" if values else takes
            lines += [f"complete -c {tool} -l {flag[2:]}{given} -d '{text}'" for flag in long]
        return "\n".join(lines) + "\n"
    name = f"_{tool.replace('-', '_')}"
    chosen = "\n".join(
        f"    {'|'.join(action.option_strings)}) COMPREPLY=($(compgen -W"
        f" '{' '.join(map(str, action.choices))}'"
        ' -- "$word")); return;;'
        for action in parser.actions()
        if action.choices and action.option_strings and action.nargs != "?"
    )
    named = (
        f'    {"|".join(PIPELINE_OPTIONS)}) COMPREPLY=($(compgen -P "${{word%"${{word##*,}}"}}"'
        f" -W '{' '.join(passes)}' -- \"${{word##*,}}\")); return;;\n"
        if passes
        else ""
    )
    head = "autoload -U +X bashcompinit && bashcompinit\n" if shell == "zsh" else ""
    return f"""{head}{name}() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}"
  case "$before" in
{chosen}
{named}  esac
  case "$word" in
    -*) COMPREPLY=($(compgen -W '{" ".join(flags)}' -- "$word"));;
    *) COMPREPLY=($(compgen -f -- "$word"));;
  esac
}}
complete -o filenames -F {name} {tool}
"""

# SPDX-License-Identifier: Apache-2.0
"""
Error messages of the code that stand in no test: `python tests/messages.py` (`make test-messages`).

A message is the text given to an exception of ours (also where one is made to be raised later), to
`VerifyException`, `ParseError`, or to a function whose name says that it refuses. Fields of f-strings divide
it into literal fragments. A test names a message if one of its texts (string constants of pytest files, check
lines of lit files, regular expressions taken apart) holds a whole fragment of two words, or a piece of one
that no more than two other messages have. Exit status 1 if a message is in no test and not in `INTERNAL`.
"""

from __future__ import annotations

import ast
import re
import sys
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = ("backends", "dialects", "frontends", "machine", "passes", "planning", "sim", "tilewright", "tools")

REFUSING = re.compile(
    r"(Error|Finding|Exception|Refusal|Refused|IllegalProgram|MemoryFault|UnknownName|InvalidIR)$"
)
CALLS = frozenset(
    "fail _fail refuse _refuse illegal damaged _wrong pipeline_error raise_error emit_error error".split()
)
PYTHON = frozenset("AssertionError IndexError KeyError NotImplementedError RuntimeError TypeError".split())
PIECE = 8
"""Characters from which on a piece of a message is telling."""

INTERNAL: dict[str, str] = {
    "the result of a conversion needs a layout": "the verifier of tile_layout.convert refuses it first",
    "a value has no known magnitude": "every result was evaluated before",
    "the mask's layout cannot be broadcast": "an axis of extent 1 can be left out of every view",
    "a 4-byte conversion does not move whole words": "words move as they are; its hint calls it a fault",
    "tile_tensor.{} has no planner yet": "every operation has one: tests/passes/test_refusals.py",
    "kernel {} registered twice": "the registry is code of the project and is built at import",
    "no kernel is known for the measurement {}": "measurements.json is part of the package",
    "an exchange figure is compared by {}": "measurements.json is part of the package",
    "the exchange figure {} is not compared": "measurements.json is part of the package",
    "an instruction of {} supervisor words exceeds the format's 2^24": "takes 64 MiB of supervisor program",
    "a program has at most 65,536 scalar names, '{}' is one more": "takes more calls than a tile holds",
    "expected an integer of 64 bits": "the bound of the parser's own numbers comes first",
    "memory must be one contiguous array": "the executor makes the array",
    "the record of written words must be one contiguous array": "the executor makes the array",
}
"""Text of a message, fields as `{}`: why no test can or should produce it."""


@dataclass(frozen=True)
class Message:
    """A message in the code: its place and its literal text, fields as `{}`."""

    path: str
    line: int
    text: str

    rule: bool = False
    """Whether it has a class (rule) by which tests know it."""

    hint: str = ""
    """What the code says is to be done, where it does."""

    @property
    def fragments(self) -> list[str]:
        """Literal text between fields, longest first."""
        return sorted((f.strip(" '\"():,;") for f in self.text.split("{}")), key=len, reverse=True)

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.text}"


def template(node: ast.expr) -> str | None:
    """The text of a string expression, fields as `{}`; None if it has no literal text."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(v.value if isinstance(v, ast.Constant) else "{}" for v in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = template(node.left), template(node.right)
        return None if left is None and right is None else (left or "{}") + (right or "{}")
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        text = template(node.func.value)
        return None if text is None else re.sub(r"\{[^{}]*\}", "{}", text)
    return None


def _alternatives(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.IfExp):
        return [*_alternatives(node.body), *_alternatives(node.orelse)]
    return [node]


def _name(call: ast.Call) -> str:
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


class _Calls(ast.NodeVisitor):
    """
    Calls that refuse something (not of what Python raises at a caller's fault), each with what is assigned to
    names in the functions around it, innermost first.
    """

    def __init__(self) -> None:
        self.scopes: list[dict[str, list[ast.expr]]] = [{}]
        self.found: list[tuple[ast.Call, tuple[dict[str, list[ast.expr]], ...]]] = []

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.scopes.insert(0, {})
        self.generic_visit(node)
        del self.scopes[0]

    def visit_Assign(self, node: ast.Assign) -> None:
        if isinstance(node.targets[0], ast.Name):
            self.scopes[0].setdefault(node.targets[0].id, []).append(node.value)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        name = _name(node)
        if name not in PYTHON and (REFUSING.search(name) or name in CALLS):
            self.found.append((node, tuple(self.scopes)))
        self.generic_visit(node)


def _assigned(name: str, call: ast.Call, scopes: tuple[dict[str, list[ast.expr]], ...]) -> list[ast.expr]:
    """What was assigned to the name last before the call."""
    for scope in scopes:
        values = [value for value in scope.get(name, []) if value.lineno <= call.lineno]
        if values:
            return _alternatives(max(values, key=lambda value: value.lineno))
    return []


def _hint(call: ast.Call, scopes: tuple[dict[str, list[ast.expr]], ...]) -> str:
    """The texts of the call's hint, alternatives apart by a semicolon."""
    found: list[str] = []
    for keyword in call.keywords:
        if keyword.arg == "hint":
            value = keyword.value
            given = _assigned(value.id, call, scopes) if isinstance(value, ast.Name) else _alternatives(value)
            for option in given:
                for part in option.values if isinstance(option, ast.BoolOp) else [option]:
                    found.append(template(part) or "")
    return "; ".join(dict.fromkeys(text for text in found if text.strip("{} ")))


@cache
def messages() -> list[Message]:
    """Every message of the code, by place; one text of one file once."""
    found: dict[tuple[str, str], Message] = {}
    for folder in FOLDERS:
        for file in sorted((ROOT / folder).rglob("*.py")):
            path = file.relative_to(ROOT).as_posix()
            calls = _Calls()
            calls.visit(ast.parse(file.read_text("utf-8")))
            for call, scopes in calls.found:
                # a refusal has its class (rule) before or beside its text; what a variable or a condition
                # may hold is one message each
                given: list[list[str]] = []
                hint = _hint(call, scopes)
                for argument in (
                    *call.args,
                    *(k.value for k in call.keywords if k.arg in ("message", "rule")),
                ):
                    options = _alternatives(argument)
                    if isinstance(argument, ast.Name):
                        options = _assigned(argument.id, call, scopes)
                    texts = [text for text in map(template, options) if text is not None]
                    if texts:
                        given.append(texts)
                chosen = ["{}".join(texts) for texts in product(*given)] if given else []
                for text in chosen:
                    if re.search(r"[a-z]{3}", text.replace("{}", "")):
                        message = Message(path, call.lineno, text, len(given) > 1, hint)
                        found.setdefault((path, text), message)
    return list(found.values())


def _unescaped(text: str) -> list[str]:
    """Literal pieces of a regular expression, a check line or a plain string."""
    text = re.sub(r"\{\{.*?\}\}", "\0", text)
    pieces = re.split(r"\0|\\[dwsSWD][+*]?|\.[*+]\??|\[\^?[^\]]*\][+*?]?|\{[^{}]*\}|\n|\(\?:|\$$|^\^", text)
    plain = [text, *pieces]
    return [re.sub(r"\\(.)", r"\1", piece) for piece in plain]


def test_texts() -> list[str]:
    """Literal pieces of every test."""
    found: list[str] = []
    for file in sorted((ROOT / "tests").rglob("*.py")):
        if file.name == "messages.py":
            continue
        tree = ast.parse(file.read_text("utf-8"))
        nodes = list(ast.walk(tree))
        said = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}  # docstrings
        for node in nodes:
            if isinstance(node, (ast.Constant, ast.JoinedStr)) and id(node) not in said:
                text = template(node)
                if text is not None and len(text) >= PIECE:
                    for line in text.splitlines():
                        found += _unescaped(line)
    for file in sorted((ROOT / "filecheck").rglob("*")):
        if file.suffix in (".mlir", ".test"):
            for line in file.read_text("utf-8").splitlines():
                if match := re.match(r"\s*(?://|#|;)\s*[A-Z][A-Z0-9_-]*:\s*(.*)", line):
                    found += _unescaped(match[1])
                if match := re.search(r"expected-(?:error|note)[^{]*\{\{(.*)\}\}", line):
                    found += _unescaped(match[1])
    return list(dict.fromkeys(piece.strip() for piece in found if len(piece.strip()) >= PIECE))


@cache
def exact_texts() -> frozenset[str]:
    """Whole string constants of the pytest files of model and planning: rules are compared with them."""
    files = [f for folder in ("sim", "planning", "backends") for f in (ROOT / "tests" / folder).rglob("*.py")]
    return frozenset(
        node.value
        for file in files
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def untested() -> list[Message]:
    """Messages that no test names."""
    everything, pieces = messages(), test_texts()
    corpus = "\n".join(pieces)
    exact = exact_texts()
    fragments = [f for m in everything for f in m.fragments if len(f) >= PIECE]
    joined = "\n".join(fragments)
    telling = [p for p in pieces if 1 <= joined.count(p) <= 3]
    lines = [words for words in map(_words, pieces) if len(words) > 2]
    found: list[Message] = []
    for message in everything:
        whole = [f for f in message.fragments if len(f) >= PIECE and " " in f] or message.fragments[:1]
        if any(f in corpus for f in whole):
            continue
        if any(p in f for f in message.fragments for p in telling):
            continue
        if message.rule and any(f in exact for f in message.fragments):
            continue
        if not _in_full(message, lines):
            found.append(message)
    return found


def _words(text: str) -> list[str]:
    return re.findall(r"[A-Za-z][A-Za-z-]+", text)


def _in_full(message: Message, lines: list[list[str]]) -> bool:
    """Whether a test holds the message with values in its fields: nearly all of its words, in order."""
    wanted = _words(message.text)
    enough = max(3, 0.75 * len(wanted))
    for line in lines:
        if len(set(wanted) & set(line)) < min(enough, len(set(wanted))):
            continue
        position = matched = 0
        for word in wanted:
            if word in line[position:]:
                position = line.index(word, position) + 1
                matched += 1
        if matched >= enough:
            return True
    return False


def main() -> int:
    left = untested()
    missing = [m for m in left if m.text not in INTERNAL]
    for message in missing:
        print(message)
    count = len(messages())
    print(f"{count} messages, {len(left) - len(missing)} allowed without a test, {len(missing)} in no test")
    return int(bool(missing))


if __name__ == "__main__":
    sys.exit(main())

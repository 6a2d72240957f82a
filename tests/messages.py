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
from collections.abc import Iterator
from dataclasses import dataclass
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
PIECE = 9
"""Characters from which on a piece of a message is telling."""

INTERNAL: dict[str, str] = {}
"""Text of a message, fields as `{}`: why no test can or should produce it."""


@dataclass(frozen=True)
class Message:
    """A message in the code: its place and its literal text, fields as `{}`."""

    path: str
    line: int
    text: str

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


def _calls(body: ast.AST) -> Iterator[tuple[ast.Call, dict[str, list[ast.expr]]]]:
    """
    Calls that refuse something (not of what Python raises at a caller's fault), with what is assigned to each
    name in the function around them.
    """
    scopes: list[ast.AST] = [body]
    for node in ast.walk(body):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            scopes.append(node)
    seen: set[ast.Call] = set()
    for scope in reversed(scopes):  # inner functions first
        assigned: dict[str, list[ast.expr]] = {}
        for node in ast.walk(scope):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                assigned.setdefault(node.targets[0].id, []).append(node.value)
        for node in ast.walk(scope):
            if isinstance(node, ast.Call) and node not in seen:
                name = _name(node)
                if name not in PYTHON and (REFUSING.search(name) or name in CALLS):
                    seen.add(node)
                    yield node, assigned


def messages() -> list[Message]:
    """Every message of the code, by place; one text of one file once."""
    found: dict[tuple[str, str], Message] = {}
    for folder in FOLDERS:
        for file in sorted((ROOT / folder).rglob("*.py")):
            path = file.relative_to(ROOT).as_posix()
            for call, assigned in _calls(ast.parse(file.read_text("utf-8"))):
                texts: list[str] = []
                for argument in [
                    *call.args,
                    *(k.value for k in call.keywords if k.arg in ("message", "rule")),
                ]:
                    options = _alternatives(argument)
                    if isinstance(argument, ast.Name):  # what was assigned to it last
                        values = [v for v in assigned.get(argument.id, []) if v.lineno <= call.lineno]
                        options = _alternatives(max(values, key=lambda v: v.lineno)) if values else []
                    texts += [t for t in map(template, options) if t is not None]
                # a refusal has its class before its text; a variable stands for one message per value
                if texts and any(isinstance(a, ast.Name) for a in call.args[:1]):
                    chosen = texts
                else:
                    chosen = ["{}".join(texts)] if texts else []
                for text in chosen:
                    if re.search(r"[a-z]{3}", text.replace("{}", "")):
                        found.setdefault((path, text), Message(path, call.lineno, text))
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
        said = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
        for node in ast.walk(tree):
            if isinstance(node, (ast.Constant, ast.JoinedStr)) and node not in said:
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


def untested() -> list[Message]:
    """Messages that no test names."""
    everything, pieces = messages(), test_texts()
    corpus = "\n".join(pieces)
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

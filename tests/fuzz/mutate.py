# SPDX-License-Identifier: Apache-2.0
"""Mutations of texts, JSON files and safetensors files. Everything follows from the given generator."""

from __future__ import annotations

import copy
import json
import random
import re
from typing import Any

TOKEN = re.compile(
    r"//[^\n]*|0x[0-9a-fA-F]+|[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?|[%@#!^]?[A-Za-z_$][\w.$]*|->|\s+|."
)
NUMBERS = (
    *("0", "1", "-1", "2", "3", "5", "7", "16", "255", "256", "-128", "1000", "4097", "65537", "1000000"),
    *("2147483647", "2147483648", "4294967296", "-2147483649", "9223372036854775807", "9223372036854775808"),
    *(
        "18446744073709551616",
        "1" + "0" * 30,
        "-1" + "0" * 30,
        "0xFF800000",
        "0x7FC00000",
        "1.0e400",
        "1e-05",
    ),
    *("-0.0", "0.5", "1.0e-400"),
)
TYPES = (
    *(
        "f64",
        "ui8",
        "si32",
        "i1",
        "i4",
        "i64",
        "index",
        "f16",
        "bf16",
        "f32",
        "f8E4M3FNUZ",
        "f8E5M2",
        "i8",
        "i32",
    ),
    *("none", "tensor<4xf16>", "tensor<*xf16>", "tensor<?x4xf16>", "tensor<f32>", "tensor<0x4xf16>"),
    *("complex<f32>", "i9999999999", "vector<4xf16>", "!tile_repeat.sequence<2 x tensor<4xf16>>"),
    *('!tile.buffer<f16, "[4/1@1, 8] %4">', 'tensor<4x8xf16, #tile_layout.at<"[4/1@1, 8] %4">>'),
)
ATTRIBUTES = (
    *(
        "{plan = {}}",
        "{plan = 1}",
        "{plan = {grid = array<i64: 0, 0, 0, 0>}}",
        '{tile_tensor.paramter = "w"}',
    ),
    *(
        '{tile_tensor.parameter = "w"}',
        "{tile_tensor.scale = 99 : i32}",
        "{tile.machine = 3}",
        "{}",
        "{x = }",
    ),
    *("{tile_tensor.parameter = []}", "attributes {tile.support = {}}", "{inptu = 1}", "loc(unknown)"),
)
WORDS = (
    *("accumulate f16", "accumulate f8E5M2", "transpose_a", "saturate = false", "epsilon 1e-05", "scale -3"),
    *("pinned", "collect", "carried", "interleaved", "standard", "chunk 0", "%0", "dense<>", "dense<[1, 2]>"),
    *(
        "dense<0.0>",
        "axis 9",
        "axes [5]",
        "permutation [0, 0]",
        "count 1000000",
        "low [-1]",
        "{",
        "}",
        "(",
        ")",
    ),
)


def text(source: str, rng: random.Random, others: list[str]) -> str:
    """The text after one to four mutations; `others` are texts to take lines from."""
    tokens = TOKEN.findall(source)
    for _ in range(rng.choice((1, 1, 1, 1, 1, 1, 2, 2, 3))):
        if not tokens:
            break
        tokens = _one(tokens, rng, others)
    return "".join(tokens)


def _one(tokens: list[str], rng: random.Random, others: list[str]) -> list[str]:
    at = rng.randrange(len(tokens))
    kind = rng.choices(range(3, 14), (45, 5, 4, 2, 10, 4, 4, 10, 8, 1, 1))[0]
    if kind == 3:  # numbers are where the interesting faults are
        places = [i for i, token in enumerate(tokens) if token[0].isdigit()]
        if places:
            tokens[rng.choice(places)] = _number(tokens[rng.choice(places)], rng)
    elif kind == 4:
        end = at + rng.choice((1, 1, 1, 2, 3, 8, 20))
        del tokens[at:end]
    elif kind == 5:
        end = at + rng.choice((1, 2, 4, 12))
        tokens[at:at] = tokens[at:end]
    elif kind == 6:
        other = rng.randrange(len(tokens))
        tokens[at], tokens[other] = tokens[other], tokens[at]
    elif kind == 7:
        places = [
            i for i, token in enumerate(tokens) if token in TYPES or re.fullmatch(r"x?(b?f\d.*|i\d+)", token)
        ]
        if places:
            place = rng.choice(places)
            tokens[place] = ("x" if tokens[place].startswith("x") else "") + rng.choice(TYPES)
    elif kind == 8:
        tokens.insert(at, " " + rng.choice(ATTRIBUTES) + " ")
    elif kind == 9:
        tokens.insert(at, " " + rng.choice(WORDS) + " ")
    elif kind == 10:  # another name
        places = [i for i, token in enumerate(tokens) if token[0].isalpha() or token[0] in "%@#!"]
        if len(places) > 1:
            tokens[rng.choice(places)] = tokens[rng.choice(places)]
    elif kind == 11:  # lines
        lines = "".join(tokens).split("\n")
        line = rng.randrange(len(lines))
        other = rng.choice(others).split("\n") if others and rng.random() < 0.5 else lines
        action = rng.randrange(3)
        if action == 0:
            del lines[line]
        elif action == 1:
            lines.insert(line, rng.choice(other))
        else:
            lines[line] = rng.choice(other)
        return TOKEN.findall("\n".join(lines))
    elif kind == 12:
        character = rng.choice('"<>[]{}():,=*@|%#!^-.\\\0\u00e9 \n0')
        tokens.insert(at, character)
    else:
        del tokens[at + rng.randrange(1, 200) :]
    return tokens


def _number(old: str, rng: random.Random) -> str:
    if rng.random() < 0.5:
        return rng.choice(NUMBERS)
    try:
        value = int(old, 0)
    except ValueError:
        return rng.choice(NUMBERS)
    return str(rng.choice((value + 1, value - 1, value * 2, value // 2, value * 1000, -value, value + 8)))


def json_text(source: str, rng: random.Random) -> str:
    """JSON with one to three values, keys or characters changed."""
    if rng.random() < 0.15:
        return text(source, rng, [])
    data = json.loads(source)
    for _ in range(rng.choice((1, 1, 2, 3))):
        data = _json(data, rng)
    return json.dumps(data)


VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 7, 65537, 2**31, 2**40, 2**63 - 1, 2**63, 10**30, -(10**30), 0.5, 1e308),
    *("", "main", "/etc/passwd", "../x", "any", [], {}, [0], [[]], {"x": 1}, [1, 2], "f16", float("nan")),
)


def _json(data: Any, rng: random.Random) -> Any:
    places: list[tuple[Any, Any]] = []

    def walk(value: Any) -> None:
        items = (
            value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        )
        for key, inner in list(items):
            places.append((value, key))
            walk(inner)

    walk(data)
    if not places or rng.random() < 0.02:
        return copy.deepcopy(rng.choice(VALUES))
    holder, key = rng.choice(places)
    kind = rng.randrange(6)
    if kind == 0:
        del holder[key]
    elif kind == 1 and isinstance(holder, dict):
        name = str(key)
        cut = rng.randrange(len(name) + 1)
        holder[name[:cut] + rng.choice("aez_") + name[cut + 1 :]] = holder.pop(key)
    elif kind == 2:
        _, other = rng.choice(places)
        holder[key] = copy.deepcopy(rng.choice([h[k] for h, k in places if k == other and _has(h, k)] or [0]))
    elif kind == 3 and isinstance(holder, list):
        holder.append(copy.deepcopy(holder[key]))
    elif kind == 4 and isinstance(holder[key], int) and not isinstance(holder[key], bool):
        holder[key] = rng.choice((holder[key] + 1, holder[key] - 1, -holder[key], holder[key] * 1000))
    else:
        holder[key] = copy.deepcopy(rng.choice(VALUES))
    return data


def _has(holder: Any, key: Any) -> bool:
    return key in holder if isinstance(holder, dict) else key < len(holder)


def safetensors(source: bytes, rng: random.Random) -> bytes:
    """A safetensors file with its length, header or body changed."""
    size = int.from_bytes(source[:8], "little")
    header, body = source[8 : 8 + size], source[8 + size :]
    kind = rng.randrange(6)
    if kind <= 2:
        header = json_text(header.decode(), rng).encode()
    elif kind == 3:
        body = body[: rng.randrange(len(body) + 1)]
    elif kind == 4:
        return rng.choice((0, 1, 2**31, 2**63, 2**64 - 1, size + 1)).to_bytes(8, "little") + header + body
    else:
        changed = bytearray(source)
        for _ in range(rng.choice((1, 4, 30))):
            changed[rng.randrange(len(changed))] = rng.randrange(256)
        return bytes(changed)
    return len(header).to_bytes(8, "little") + header + body

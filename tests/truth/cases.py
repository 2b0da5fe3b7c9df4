"""Reads a case: its metadata, and its cells."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tomllib

HERE = Path(__file__).resolve().parent
HALVES = ("seen", "unseen")
QUESTIONS = ("reach", "asked", "hides", "grows", "unused")
STYLES = ("short", "long")
MIB = 1 << 20

_MARKER = re.compile(r"^# %%(?P<rest>.*)$")
_ALWAYS = {"question": str, "style": str, "needs": list, "thread": str}
_OF_LEAKS = {
    "leaked": str,
    "cause_cell": int,
    "cause_line": str,
    "holder": list,
    "repair": str,
}
_OPTIONAL = {"order": list}


class BadCase(Exception):
    """The file is no case. The text says what to mend."""


@dataclass(frozen=True)
class Cell:
    """A code cell, numbered from 1 as its reader counts."""

    number: int
    source: str


@dataclass(frozen=True)
class Leak:
    """What a leaking case declares."""

    bytes: int
    cause_cell: int
    cause_line: str
    holders: tuple[str, ...]
    repair: str


@dataclass(frozen=True)
class Case:
    """One notebook with what is true of it."""

    path: Path
    question: str
    style: str
    needs: tuple[str, ...]
    thread: str
    cells: tuple[Cell, ...]
    order: tuple[int, ...]
    leak: Leak | None
    # Markdown and code in the order of the file, for who makes a notebook of it.
    parts: tuple[tuple[str, str], ...] = field(repr=False)

    @property
    def slug(self) -> str:
        return self.path.stem

    @property
    def needs_torch(self) -> bool:
        return "torch" in self.needs

    @property
    def executed(self) -> tuple[Cell, ...]:
        return tuple(self.cells[number - 1] for number in self.order)

    def is_cause(self, number: int | None, line: int | None) -> bool:
        """Whether that line of that cell, both counted from 1, is the guilty one."""
        if self.leak is None or number != self.leak.cause_cell or line is None:
            return False
        lines = self.cells[number - 1].source.splitlines()
        return line <= len(lines) and self.leak.cause_line in lines[line - 1]


def read(path: Path) -> Case:
    """The case in the file; BadCase says what is wrong with it."""
    text = path.read_text(encoding="utf-8")
    metadata, body = _split(text)
    parts = tuple(_parts(body))
    sources = [source for kind, source in parts if kind == "code"]
    cells = tuple(Cell(number, source) for number, source in enumerate(sources, start=1))
    if not cells:
        raise BadCase("has no code cell")
    _check_keys(metadata)
    leak = _leak(metadata, cells) if "leaked" in metadata else None
    return Case(
        path,
        _one_of(metadata, "question", QUESTIONS),
        _one_of(metadata, "style", STYLES),
        _words(metadata, "needs"),
        metadata["thread"],
        cells,
        _order(metadata, len(cells)),
        leak,
        parts,
    )


def all_paths(half: str) -> list[Path]:
    """The files of one half, leaking ones first."""
    return [
        path for kind in ("leaking", "clean") for path in sorted((HERE / half / kind).glob("*.py"))
    ]


def arithmetic(expression: str) -> int:
    """The value of an expression of sizes, for example `8 * 2000 * 5000`."""
    try:
        value = _value(ast.parse(expression, mode="eval").body)
    except (SyntaxError, ZeroDivisionError) as error:
        raise BadCase(f"`leaked` is {expression!r}, which cannot be computed: {error}") from None
    return round(value)


def _value(node: ast.expr) -> float:
    match node:
        case ast.Constant(value=int() | float() as number):
            return number
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand)
        case ast.BinOp(left=left, op=operator, right=right):
            return _combined(operator, _value(left), _value(right))
        case ast.Call(func=ast.Name(id="sum"), args=[ast.List() | ast.Tuple() as items]):
            return sum(_value(item) for item in items.elts)
    raise BadCase(
        f"`leaked` holds {ast.unparse(node)!r}; only numbers, + - * / // % ** << and sum([…]) count"
    )


def _combined(operator: ast.operator, left: float, right: float) -> float:
    match operator:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult():
            return left * right
        case ast.Div():
            return left / right
        case ast.FloorDiv():
            return left // right
        case ast.Mod():
            return left % right
        case ast.LShift():
            return int(left) << int(right)
        case ast.Pow():
            return float(left**right) if right < 0 else left ** int(right)
    raise BadCase(f"`leaked` has an operator that is no arithmetic: {type(operator).__name__}")


def _split(text: str) -> tuple[dict[str, Any], list[str]]:
    lines = text.splitlines()
    if not lines or lines[0].strip() != "# /// truth":
        raise BadCase("does not begin with the line '# /// truth'")
    ends = [at for at, line in enumerate(lines) if at and line.strip() == "# ///"]
    if not ends:
        raise BadCase("has no line '# ///' that ends the metadata")
    block = lines[1 : ends[0]]
    if strays := [line for line in block if not line.startswith("#")]:
        raise BadCase(f"has a line in its metadata that is no comment: {strays[0]!r}")
    try:
        metadata = tomllib.loads("\n".join(line[1:].removeprefix(" ") for line in block))
    except tomllib.TOMLDecodeError as error:
        raise BadCase(f"has metadata that are no TOML: {error}") from None
    return metadata, lines[ends[0] + 1 :]


def _parts(lines: list[str]) -> Iterator[tuple[str, str]]:
    kind, gathered = "", list[str]()
    for line in lines:
        if not (marker := _MARKER.match(line)):
            if not kind and line.strip():
                raise BadCase(f"has a line before its first cell: {line!r}")
            gathered.append(line)
            continue
        if kind:
            yield kind, _source(kind, gathered)
        kind = "markdown" if marker["rest"].strip().startswith("[markdown]") else "code"
        gathered = []
    if kind:
        yield kind, _source(kind, gathered)


def _source(kind: str, lines: list[str]) -> str:
    if kind == "markdown":
        if strays := [line for line in lines if line.strip() and not line.startswith("#")]:
            raise BadCase(f"has a line in a markdown cell that is no comment: {strays[0]!r}")
        lines = [line[1:].removeprefix(" ") for line in lines]
    source = "\n".join(lines).strip("\n")
    if not source.strip():
        raise BadCase(f"has an empty {kind} cell")
    return source


def _check_keys(metadata: dict[str, Any]) -> None:
    is_leaking = any(key in metadata for key in _OF_LEAKS)
    wanted = {**_ALWAYS, **(_OF_LEAKS if is_leaking else {})}
    if missing := [key for key in wanted if key not in metadata]:
        raise BadCase(f"lacks {', '.join(f'`{key}`' for key in missing)} in its metadata")
    known = {**wanted, **_OPTIONAL}
    if unknown := [key for key in metadata if key not in known]:
        raise BadCase(f"has metadata that nobody reads: {', '.join(unknown)}")
    for key, value in metadata.items():
        if type(value) is not known[key]:
            kind = {str: "a text", int: "a whole number", list: "a list"}[known[key]]
            raise BadCase(f"`{key}` is to be {kind}, and is {value!r}")
    if not metadata["thread"].strip() or re.search(r"https?:|www\.", metadata["thread"]):
        raise BadCase("`thread` is to name the report that it follows in words, without an address")


def _one_of(metadata: dict[str, Any], key: str, allowed: tuple[str, ...]) -> str:
    value: str = metadata[key]
    if value not in allowed:
        raise BadCase(f"`{key}` is {value!r}, and is to be one of {', '.join(allowed)}")
    return value


def _words(metadata: dict[str, Any], key: str) -> tuple[str, ...]:
    words: list[object] = metadata[key]
    if wrong := [word for word in words if not isinstance(word, str) or not word.strip()]:
        raise BadCase(f"`{key}` is to hold texts, and holds {wrong[0]!r}")
    return tuple(str(word) for word in words)


def _order(metadata: dict[str, Any], count: int) -> tuple[int, ...]:
    numbers: list[object] = metadata.get("order", [*range(1, count + 1)])
    order = tuple(number for number in numbers if isinstance(number, int))
    if len(order) < len(numbers) or not all(1 <= number <= count for number in order):
        raise BadCase(f"`order` names a cell that does not exist; there are 1 to {count}")
    if left := sorted({*range(1, count + 1)} - {*order}):
        raise BadCase(f"`order` never runs cell {left[0]}")
    return order


def _leak(metadata: dict[str, Any], cells: tuple[Cell, ...]) -> Leak:
    cell, line = metadata["cause_cell"], metadata["cause_line"]
    if not 1 <= cell <= len(cells):
        raise BadCase(f"`cause_cell` is {cell}, and there are code cells 1 to {len(cells)}")
    if not line.strip() or "\n" in line:
        raise BadCase("`cause_line` is to be text of one line")
    if line not in cells[cell - 1].source:
        others = [other.number for other in cells if line in other.source]
        where = f"; it is in cell {others[0]}" if others else ", nor in any other"
        raise BadCase(f"`cause_line` {line!r} is not in cell {cell}{where}")
    holders = _words(metadata, "holder")
    if not holders:
        raise BadCase("`holder` is empty: say what a right answer may name")
    if not metadata["repair"].strip():
        raise BadCase("`repair` is empty")
    return Leak(arithmetic(metadata["leaked"]), cell, line, holders, metadata["repair"])

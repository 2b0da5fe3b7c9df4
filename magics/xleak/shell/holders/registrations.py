"""How the code of the cells hands a function to native code, `con.create_function("km", 2, distance)`: what takes it,
and the words by which it is used later."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from xleak import _native
from xleak.shell.fields import class_fields, is_instance
from xleak.shell.heap import user_names
from xleak.shell.holders.calls import dotted, nodes_of
from xleak.shell.holders.executed import definitions_around
from xleak.shell.holders.look import Look
from xleak.shell.holders.origin import plain_function

_WORD = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True)
class Registration:
    """A call that has the function among its arguments."""

    call: ast.Call
    argument: ast.expr

    @property
    def taker(self) -> str:
        """What is called: `con.create_function`."""
        return dotted(self.call.func)

    @property
    def words(self) -> list[str]:
        """By which code has it called later."""
        return [it for it in self._constants if type(it) is str and _WORD.fullmatch(it)]

    @property
    def has_parameters(self) -> bool:
        """Whether the call says how many the function has."""
        return any(type(it) is int for it in self._constants)

    @property
    def _constants(self) -> list[object]:
        given = [*self.call.args, *(it.value for it in self.call.keywords)]
        return [it.value for it in given if isinstance(it, ast.Constant)]


def registration_of(look: Look, callback: object) -> Registration | None:
    """None where no cell shows it, or more than one call could be it."""
    function = plain_function(callback)
    code = getattr(function, "__code__", None)
    if code is None:
        return None
    found = [
        Registration(call, argument)
        for source in dict.fromkeys(look.sources.values())
        for call in nodes_of(source)
        if isinstance(call, ast.Call)
        for argument in [*call.args, *(it.value for it in call.keywords)]
        if _is_it(argument, code.co_name, code.co_firstlineno)
    ]
    return found[0] if len(found) == 1 else None


def taking_back(look: Look, registration: Registration) -> str:
    """Code by which SQLite lets go of the function; empty for what else takes one, or where the connection is not
    known."""
    entries = _native.entries_of(look.watcher.shell.user_ns)
    names = user_names(look.watcher)
    found = [it for it in names if is_instance(entries.get(it), "sqlite3", "Connection")]
    call, argument = registration.call, registration.argument
    others = [it for it in call.args if it is not argument]
    is_plain = all(isinstance(it, ast.Constant) for it in others) and argument in call.args
    if len(found) != 1 or not is_plain or not isinstance(call.func, ast.Attribute):
        return ""
    if call.func.attr not in class_fields(type(entries[found[0]])):
        return ""
    arguments = ("None" if it is argument else ast.unparse(it) for it in call.args)
    return f"{found[0]}.{call.func.attr}({', '.join(arguments)})"


def _is_it(argument: ast.expr, name: str, line: int) -> bool:
    if isinstance(argument, ast.Lambda):
        return name == "<lambda>" and argument.lineno == line
    return (
        isinstance(argument, (ast.Name, ast.Attribute))
        and name == dotted(argument).rpartition(".")[2]
    )


def is_used_after(look: Look, registration: Registration, cell: int) -> bool:
    """Whether a later cell has one of its words, or mentions a function or a class that has."""
    if not registration.words:
        return False
    # By how many parameters it has, it is said to be called: a column may have its name too.
    call = r"\s*\(" if registration.has_parameters else r"\b"
    use = re.compile(rf"\b(?:{'|'.join(registration.words)}){call}")
    users: set[str] = set()
    for source in look.sources.values():
        for number, line in enumerate(source.splitlines(), 1):
            if use.search(line):
                users |= definitions_around(source, number)
    later = [source for index, source in look.sources.items() if index > cell]
    return any(use.search(it) or not users.isdisjoint(_WORD.findall(it)) for it in later)

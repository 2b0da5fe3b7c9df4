"""The command line: arguments to commands, problems to one sentence and a code."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NoReturn

from xleak.cli import output
from xleak.cli.problem import Problem, Unwritten

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

    _Commands = argparse._SubParsersAction[argparse.ArgumentParser]

BAD_USAGE, INTERRUPTED, UNWRITTEN = 2, 3, 4

_UNWRITTEN = """\
  4  the output could not be written: stdout is closed, or its disk full
"""
_OTHER_EXIT_CODES = f"""\
exit codes:
  0  done
  2  bad usage
{_UNWRITTEN}"""

_LINT_EXIT_CODES = f"""\
exit codes:
  0  clean
  1  findings at or above --fail-on; code that Python does not parse is an error
  2  bad usage, and nothing was linted; or a file could not be read, and the others are clean
{_UNWRITTEN}"""

_FIX_EXIT_CODES = f"""\
exit codes:
  0  done, or nothing to do
  2  bad usage; or a file could not be read, or a cell does not parse and was left as it is
{_UNWRITTEN}"""

_EXIT_CODES = f"""\
exit codes:
  0  clean
  1  findings at or above --fail-on
  2  bad usage or input; nothing was run or overwritten
  3  the notebook failed: a cell raised or timed out, the kernel died, or the run was
     interrupted; the report of what ran is still written
{_UNWRITTEN}"""

_POSTMORTEM_EXIT_CODES = f"""\
exit codes:
  0  a record was shown
  1  there is none
  2  bad usage, or a file that is no record
{_UNWRITTEN}"""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit code."""
    output.take_standard_streams()
    command = "xleak"
    try:
        arguments = _parsed(argv)
        if isinstance(arguments, int):
            return arguments
        command = f"xleak {arguments.command}"
        return _commands()[arguments.command](arguments)
    except Problem as problem:
        output.say(f"{command}: {problem}")
        return BAD_USAGE
    except Unwritten as unwritten:
        output.say(f"{command}: {unwritten}")
        return UNWRITTEN
    except KeyboardInterrupt:
        output.say(f"{command}: interrupted")
        return INTERRUPTED


def _parsed(argv: Sequence[str] | None) -> argparse.Namespace | int:
    """The arguments, or the exit code where they are wrong or ask for help alone."""
    arguments: argparse.Namespace | int = 0
    with output.to_stdout():
        try:
            arguments = _parser().parse_args(argv)
        except SystemExit as stop:
            arguments = stop.code if isinstance(stop.code, int) else BAD_USAGE
    return arguments


def _commands() -> dict[str, Callable[[argparse.Namespace], int]]:
    return {
        "run": _run,
        "postmortem": _postmortem,
        "lint": _lint,
        "fix": _fix,
        "rules": _rules,
        "explain": _explain,
        "install": _install,
        "build-torch": _build_torch,
    }


# Each command imports what it needs: `xleak explain` must not wait for nbclient.


def _run(arguments: argparse.Namespace) -> int:
    from xleak.cli.run import run

    return run(arguments)


def _postmortem(arguments: argparse.Namespace) -> int:
    from xleak.cli.postmortem import postmortem

    return postmortem(arguments)


def _lint(arguments: argparse.Namespace) -> int:
    from xleak.cli.lint import lint

    return lint(arguments)


def _fix(arguments: argparse.Namespace) -> int:
    from xleak.cli.fix import fix

    return fix(arguments)


def _rules(arguments: argparse.Namespace) -> int:
    from xleak.cli.rules import rules

    return rules(arguments)


def _install(arguments: argparse.Namespace) -> int:
    from xleak.cli.install import install

    return install(arguments)


def _build_torch(arguments: argparse.Namespace) -> int:
    from xleak.cli.build_torch import build_torch

    return build_torch(arguments)


def _explain(arguments: argparse.Namespace) -> int:
    from xleak.explain import explanation

    try:
        text = explanation(arguments.rule)
    except LookupError as unknown:
        raise Problem(str(unknown.args[0])) from None
    with output.to_stdout() as stream:
        print(text, file=stream)
    return 0


class _Version(argparse.Action):
    """Reads the version when it is asked for: that takes longer than all else here."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option: str | None = None,
    ) -> None:
        from xleak import __version__

        print(f"xleak {__version__}")
        parser.exit()


class _Parser(argparse.ArgumentParser):
    """One whose complaints cannot drive a terminal, whatever the arguments hold."""

    def print_help(self, file: SupportsWrite[str] | None = None) -> None:
        # argparse says nothing where it cannot write.
        (file or sys.stdout).write(self.format_help())

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        output.say(f"{self.prog}: error: {message}")
        sys.exit(BAD_USAGE)


def _parser() -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = _Parser(
        prog="xleak",
        description="Says which cell kept your memory, who holds it, and how to get it back.",
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and end")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_run(commands)
    _add_postmortem(commands)
    _add_lint(commands)
    _add_fix(commands)
    rules = _plain(commands, "rules", help="list the rules")
    rules.add_argument("--format", choices=("text", "json"), default="text")
    _add_install(commands)
    build = _plain(
        commands,
        "build-torch",
        help="build the module that counts tensors, for the torch of this environment",
        description="Builds xleak's module for the torch of this environment, version 2.4 or later.",
    )
    build.add_argument("--force", action="store_true", help="build it though there is one")
    explain = _plain(commands, "explain", help="say what a rule means")
    explain.add_argument("rule", metavar="CODE", help="a rule's code or slug, such as XL401")
    return parser


def _plain(
    commands: _Commands, name: str, help: str, description: str | None = None
) -> argparse.ArgumentParser:
    """A command without exit codes of its own."""
    return commands.add_parser(
        name,
        help=help,
        description=description,
        epilog=_OTHER_EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def _add_run(commands: _Commands) -> None:
    run = commands.add_parser(
        "run",
        help="run a notebook and report what its cells kept",
        description="Runs a notebook from top to bottom and reports what its cells kept.",
        epilog=_EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    run.add_argument("notebook", metavar="NOTEBOOK", help="an .ipynb, or a .py with # %%%% cells")
    run.add_argument("--kernel", default="xleak", metavar="NAME", help="default: xleak")
    run.add_argument("--format", choices=("text", "json", "html"), default="text")
    run.add_argument(
        "--output",
        metavar="FILE",
        help="write the report there in --format; stdout then shows it as text",
    )
    run.add_argument(
        "--fail-on",
        choices=("note", "warning", "error", "never"),
        default="warning",
        help="lowest severity that makes the exit code 1 (default: warning)",
    )
    run.add_argument("--timeout", type=_seconds, metavar="SECONDS", help="limit for each cell")
    run.add_argument("--allow-errors", action="store_true", help="go on after a cell that raised")
    run.add_argument(
        "--save-executed",
        metavar="FILE",
        help="write the notebook with its outputs and the facts of each cell",
    )


def _add_postmortem(commands: _Commands) -> None:
    postmortem = commands.add_parser(
        "postmortem",
        help="say how the last kernel died: its cell, its memory, the cause",
        description="Says in which cell the last kernel died, what memory it held and why it ended.",
        epilog=_POSTMORTEM_EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    postmortem.add_argument(
        "record", nargs="?", metavar="PATH|PID", help="this record, or those of this process"
    )
    postmortem.add_argument("--all", action="store_true", help="all that died, newest first")
    postmortem.add_argument("--format", choices=("text", "json"), default="text")


def _add_selection(command: argparse.ArgumentParser) -> None:
    command.add_argument("paths", nargs="+", metavar="PATH", help=".ipynb, .py, or a folder")
    codes = "codes or their beginnings, such as XL203,XL4"
    command.add_argument("--select", metavar="CODES", help=f"only these rules: {codes}")
    command.add_argument("--ignore", metavar="CODES", help=f"not these rules: {codes}")
    command.add_argument(
        "--per-file-ignores",
        action="append",
        metavar="PATTERN:CODES",
        help="not these rules in files that match; may be given again",
    )


def _add_lint(commands: _Commands) -> None:
    lint = commands.add_parser(
        "lint",
        help="say what the source of notebooks and scripts does to memory, without running it",
        description="Reads notebooks and scripts and says what in them will keep memory. "
        "[tool.xleak] in pyproject.toml holds select, ignore and per-file-ignores; "
        "`# xleak: ignore[XL203]` on a line, or as a tag of a cell, keeps a finding quiet. "
        "Code that Python does not parse is reported as invalid-syntax, whatever is selected.",
        epilog=_LINT_EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_selection(lint)
    lint.add_argument("--format", choices=("text", "json", "sarif", "github"), default="text")
    lint.add_argument("--statistics", action="store_true", help="count findings by rule")
    lint.add_argument("--notes", action="store_true", help="tell hygiene and speed too")
    lint.add_argument(
        "--fail-on",
        choices=("note", "warning", "error", "never"),
        default="warning",
        help="lowest severity that makes the exit code 1 (default: warning)",
    )
    lint.add_argument(
        "-j", "--jobs", type=_count, metavar="N", help="files at a time (default: one a core)"
    )


def _add_fix(commands: _Commands) -> None:
    fix = commands.add_parser(
        "fix",
        help="repair what lint says, where the repair is local",
        description="Edits the source of notebooks and scripts. All else in a notebook, its outputs "
        "among it, stays as it is, byte for byte. A cell that Python does not parse is left alone.",
        epilog=_FIX_EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_selection(fix)
    fix.add_argument("--diff", action="store_true", help="show the edits and write nothing")
    fix.add_argument(
        "--unsafe-fixes", action="store_true", help="also edits that may change what the code does"
    )


def _add_install(commands: _Commands) -> None:
    install = _plain(commands, "install", help="tell Jupyter about the kernel")
    where = install.add_mutually_exclusive_group()
    where.add_argument("--user", action="store_true", help="for this user")
    where.add_argument(
        "--sys-prefix",
        action="store_const",
        const=sys.prefix,
        dest="prefix",
        help="into this Python environment",
    )
    where.add_argument("--prefix", metavar="P", help="under P/share/jupyter/kernels")
    install.add_argument("--name", default="xleak", metavar="N", help="default: xleak")
    install.add_argument("--display-name", metavar="D", help="what the launcher shows")
    install.add_argument(
        "--env",
        action="append",
        nargs=2,
        default=[],
        metavar=("K", "V"),
        help="a variable for the kernel; may be given again",
    )


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"takes a whole number from 1, got {text!r}")
    return int(text)


def _seconds(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"takes whole seconds from 1, got {text!r}")
    return int(text)

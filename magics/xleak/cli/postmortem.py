"""`xleak postmortem`: what the records of kernels that died say."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from xleak import _native
from xleak.cli import output
from xleak.cli.problem import Problem
from xleak.flight import files
from xleak.flight.files import Kept
from xleak.render import dead_kernels as render
from xleak.render.table import printable

SHOWN, NONE = 0, 1


def postmortem(arguments: argparse.Namespace) -> int:
    """Shows the newest record, or those asked for. Returns one of the codes that --help lists."""
    records = _chosen(arguments.record, arguments.all)
    if arguments.format == "json":
        text = json.dumps(render.to_json(records), indent=2)
    else:
        text = render.report(records) if records else _none(arguments.record)
    with output.to_stdout() as stream:
        print(text, file=stream)
    return SHOWN if records else NONE


def _chosen(which: str | None, everything: bool) -> list[Kept]:
    if which is not None and not which.isdecimal():
        return [_at(Path(which))]
    records = files.dead()
    if which is not None:
        records = [it for it in records if it.record.pid == int(which)]
    return records if everything else records[:1]


def _at(path: Path) -> Kept:
    try:
        record = _native.read_flight_record(path)
    except _native.MonitorError as refused:
        raise Problem(str(refused)) from None
    if record.living:
        raise Problem(
            f"the process of {path}, {record.pid}, is running. Ask again once it has ended."
        )
    return Kept(path, record)


def _none(which: str | None) -> str:
    if files.is_foreign():
        return f"{printable(str(files.folder()))} is no folder of this user's, so no record in it is read."
    of_whom = f"There is no record of a process {which} that died" if which else "No kernel died"
    return f"{of_whom}: none left a record in {printable(str(files.folder()))}."

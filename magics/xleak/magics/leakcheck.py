"""`%leakcheck` and `%%leakcheck`: what the session, or one cell, keeps that nobody uses."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, line_cell_magic, magics_class
from IPython.display import display

from xleak.cell_names import Naming
from xleak.explain import explanation
from xleak.magics.asked import asked
from xleak.magics.diagnose import Diagnoser
from xleak.magics.live import cell_sources, live_verdict, live_watcher
from xleak.magics.marked_cell import MARK, MarkedCells, is_marked, without_mark
from xleak.magics.suspicions import Suspicion, listed, source_of_session
from xleak.render import account as accounts
from xleak.render import html, table, text
from xleak.render.units import counted, human_bytes
from xleak.shell.torch_modes import mode_line
from xleak.shell.watcher import watcher
from xleak.verdict import Finding, Verdict, to_json

_USAGE = (
    "%leakcheck takes --json, --all, --notes, --diagnose, --by WHAT, --html FILE or --explain CODE"
)
# What each finding says of its rule.
_KINDS = ("category", "scope", "effect")
# More would hide the first ones.
_MOST_SHOWN = 10


@dataclass(frozen=True)
class Request:
    """What one `%leakcheck` line asks for."""

    as_json: bool = False
    all_of_them: bool = False
    notes: bool = False
    rule: str | None = None
    diagnose: bool = False
    by: str | None = None
    """Of _KINDS, what findings are grouped by."""
    page: str | None = None
    """The file that the report is to be written to."""


def parse(line: str) -> Request:
    """The request of a line. Raises UsageError."""
    words = line.split()
    if words[:1] == ["--explain"]:
        if len(words) != 2:
            raise UsageError("%leakcheck --explain takes one rule, such as XL401")
        return Request(rule=words[1])
    if words[:1] == ["--html"]:
        file = " ".join(line.split(maxsplit=1)[1:]).strip()
        # What another name holds may be somebody's work.
        if not file.endswith(".html"):
            raise UsageError("%leakcheck --html takes the file to write, such as report.html")
        return Request(page=file)
    if words[:1] == ["--by"]:
        if len(words) != 2 or words[1] not in _KINDS:
            raise UsageError("%leakcheck --by takes category, scope or effect")
        return Request(by=words[1])
    if "--diagnose" in words and not {"--diagnose", "--json"}.issuperset(words):
        raise UsageError("%leakcheck --diagnose takes --json or nothing else")
    options = ("--json", "--all", "--notes", "--diagnose")
    if unknown := [word for word in words if word not in options]:
        raise UsageError(f"{_USAGE}, got {' '.join(unknown)!r}")
    as_json, diagnose = "--json" in words, "--diagnose" in words
    return Request(as_json, "--all" in words, "--notes" in words, diagnose=diagnose)


@magics_class
class LeakcheckMagic(Magics):
    """Shows findings; a cell that starts with `%%leakcheck` gets its own below it."""

    def __init__(self, shell: InteractiveShell) -> None:
        super().__init__(shell)
        shell.input_transformers_cleanup.append(without_mark)
        watching = watcher()
        if watching is not None:
            marked = MarkedCells()
            watching.before_run.append(marked.before_run)
            watching.after_cells.append(marked.after_cell)
            watching.showing.append(is_marked)
        self._diagnoser = Diagnoser(shell)

    @line_cell_magic
    @asked
    def leakcheck(self, line: str, cell: str | None = None) -> None:
        """Report what the session keeps that nobody uses.

        %leakcheck [--all]         the findings that keep most; --all shows all: notes, and what was
                                   dismissed in the panel, too, and where all memory of the process is
        %leakcheck --notes         also what the source of the cells says and was not measured
        %leakcheck --by WHAT       findings by category, scope or effect of their rules
        %leakcheck --diagnose      the questions of a leak hunt, answered by what was measured;
                                   with --json as xleak.diagnosis/1
        %leakcheck --json          the verdict as xleak.verdict/1
        %leakcheck --html FILE     all of it as a page that needs no network
        %leakcheck --explain CODE  what a rule means
        %%leakcheck                as first line: run the cell and report what it kept
        %%leakcheck --profile [trace.json]  the same under torch's profiler: time and memory by phase
        """
        if cell is not None:
            # A marked cell never comes here: its first line is gone before IPython reads it.
            raise UsageError(
                f"{MARK} stands alone on the first line, or with --profile and a file for the trace "
                f"that ends in .json, got {line.strip()!r}"
            )
        request = parse(line)
        if request.rule is not None:
            print(_explained(request.rule))
            return
        if request.diagnose:
            self._diagnoser.show(request.as_json)
            return
        whole = request.as_json or request.page is not None or request.all_of_them
        verdict = live_verdict(names=not request.as_json, with_dismissed=whole, settled=True)
        suspicions: list[Suspicion] = []
        if verdict.findings or request.notes:
            read = source_of_session(self.shell, verdict)
            verdict = read.confirming(verdict)
            suspicions = read.unconfirmed(verdict)
        if request.page is not None:
            print(_written(request.page, html.page(verdict, cell_sources(self.shell, verdict))))
        elif request.as_json:
            print(json.dumps(to_json(verdict), indent=2))
        else:
            self._show(verdict, request, suspicions)

    def _show(self, verdict: Verdict, request: Request, suspicions: list[Suspicion]) -> None:
        watching = live_watcher()
        hidden = (
            0 if request.all_of_them else len(watching.findings()) - len(watching.undismissed())
        )
        report = session_report(verdict, request.all_of_them, request.by, hidden)
        account = verdict.account if request.all_of_them else None
        if request.notes:
            report.below.append(listed(suspicions))
        if modes := mode_line():
            report.below.append(modes)
        if watching.settings.policy == "off":
            report.below.append("Cells are not watched now; %xleak policy report starts it again.")
        page, plain = report.html(cell_sources(self.shell, verdict)), report.plain()
        if account is not None:
            page, plain = page + accounts.fragment(account), f"{plain}\n\n{accounts.plain(account)}"
        display({"text/plain": plain, "text/html": page}, raw=True)


def _explained(rule: str) -> str:
    try:
        return explanation(rule)
    except LookupError as unknown:
        raise UsageError(str(unknown.args[0])) from None


def _written(file: str, page: str) -> str:
    # The command line has more to import than a kernel should wait for.
    from xleak.cli.output import replace
    from xleak.cli.problem import Problem

    target = Path(file).expanduser()
    try:
        replace(target, page)
    except Problem as refused:
        raise UsageError(f"%leakcheck --html: {refused}") from None
    return f"written to {table.printable(str(target))}"


@dataclass(frozen=True)
class SessionReport:
    """What `%leakcheck` shows: the verdict in a line, findings, and what is said below them."""

    head: str
    shown: list[Finding]
    below: list[str]
    named: Naming
    by: str | None = None

    def plain(self) -> str:
        """Findings by rule and holder, below what they are grouped by."""
        parts = [self.head]
        for kind, found in self._by_kind().items():
            parts += [kind and f"{self.by}: {kind}", text.grouped(found, self.named)]
        return "\n\n".join(part for part in [*parts, *self.below] if part)

    def html(self, sources: Mapping[int, str]) -> str:
        """A fragment for a notebook. `sources`: the code of a cell by its index."""
        if self.by is None:
            return html.findings_fragment(self.head, self.shown, sources, self.below, self.named)
        parts = [html.findings_fragment(self.head, [], sources, [], self.named)]
        parts += [
            html.findings_fragment(f"{self.by}: {kind}", found, sources, [], self.named)
            for kind, found in self._by_kind().items()
        ]
        return "".join([*parts, html.findings_fragment("", [], sources, self.below, self.named)])

    def _by_kind(self) -> dict[str, list[Finding]]:
        groups: dict[str, list[Finding]] = {} if self.by else {"": self.shown}
        for found in self.shown if self.by else []:
            groups.setdefault(str(getattr(found, str(self.by))), []).append(found)
        return groups


def session_report(
    verdict: Verdict, all_of_them: bool, by: str | None = None, dismissed: int = 0
) -> SessionReport:
    """Findings of the session and its totals; what is not shown is counted. dismissed: how many
    findings the verdict leaves out."""
    notes = [] if all_of_them else [it for it in verdict.findings if it.severity == "note"]
    serious = table.by_size(it for it in verdict.findings if it not in notes)
    shown = serious if all_of_them else serious[:_MOST_SHOWN]
    below = [] if serious else [table.kept_openly(verdict)]
    below += [table.totals(verdict), _left_out(serious[len(shown) :], notes, dismissed)]
    below = [line for line in below if line]
    return SessionReport(table.verdict_line(serious), shown, below, verdict.name_of, by)


def _left_out(smaller: list[Finding], notes: list[Finding], dismissed: int) -> str:
    kept = human_bytes(table.total_bytes(smaller))
    counts = [f"{len(smaller)} more that keep {kept}"] if smaller else []
    counts += [counted(len(notes), "note")] if notes else []
    counts += [f"{dismissed} dismissed"] if dismissed else []
    return f"{', '.join(counts)} not shown; %leakcheck --all shows them too" if counts else ""

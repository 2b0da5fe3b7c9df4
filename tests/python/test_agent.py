"""What goes by itself, by which policy, what never does, and what the journal says of it."""

from __future__ import annotations

import json
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from allocators import malloc_bytes
from IPython.core.error import UsageError
from shells import MIB, Session
from stand_ins import module_of
from traitlets import TraitError
from traitlets.config import Config, Configurable
from xleak.agent import releases
from xleak.shell import install
from xleak.shell.journal import Entry
from xleak.shell.readings import DeviceReading
from xleak.shell.settings import RELEASABLE, settings_of

LARGE = "memoryview(bytearray(8 << 20))"
FAIL = "def fail():\n    big = bytearray(8 << 20)\n    1 / 0"
CYCLE = """
class Node:
    def __init__(self): self.data, self.me = bytearray(24 << 20), self
"""


def push_down(session: Session) -> None:
    """Shows enough for the values before to leave `_`, `__` and `___`."""
    for _ in range(3):
        session.run("'filler'")


def shown(session: Session, value: str = LARGE) -> int:
    """The number of the entry of a large value that a cell showed and nothing names."""
    session.run(value)
    return int(session.entry()[4:-1])


def by_agent(session: Session) -> list[Entry]:
    return [it for it in session.watcher.journal.entries if it.who == "agent"]


def magic(session: Session, line: str) -> None:
    session.shell.run_line_magic("xleak", line)


# --- policies ------------------------------------------------------------------------------------


def test_a_rule_of_its_own_policy_goes_where_the_session_only_reports(session: Session) -> None:
    magic(session, "policy auto XL401")
    session.run(FAIL)
    session.run("fail()")
    number = shown(session)
    push_down(session)
    assert number not in session.shell.user_ns["Out"]
    assert [it.what for it in by_agent(session)] == [f"Out[{number}]"]
    assert sys.last_value is not None


def test_a_rule_that_only_reports_stays_where_the_session_is_auto(session: Session) -> None:
    magic(session, "policy auto")
    magic(session, "policy report XL401")
    number = shown(session)
    push_down(session)
    assert number in session.shell.user_ns["Out"]
    assert by_agent(session) == []


def test_a_rule_that_is_off_finds_nothing_until_it_is_taken_back(session: Session) -> None:
    shown(session)
    push_down(session)
    assert len(session.leaks()) == 1
    magic(session, "policy off XL401")
    assert session.leaks() == {}
    magic(session, "policy default XL401")
    assert len(session.leaks()) == 1


def test_the_policies_of_session_and_rules_are_shown(
    session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    magic(session, "policy auto XL402")
    magic(session, "policy ask XL401")
    capsys.readouterr()
    magic(session, "policy")
    assert capsys.readouterr().out == "policy: report\nXL401: ask\nXL402: auto\n"


@pytest.mark.parametrize(
    "line",
    [
        "policy sometimes",
        "policy XL401",
        "policy auto XL999",
        "policy auto XL501",
        "policy sometimes XL401",
        "policy default",
        "policy auto XL401 XL402",
        "journal all",
        "journal --undo",
        "journal --undo 1",
        "journal --undo -1",
        "journal --keep-undo many",
        "journal --keep-undo 1001",
    ],
)
def test_what_cannot_be_is_one_sentence(session: Session, line: str) -> None:
    with pytest.raises(UsageError, match=r"^%xleak \w+[^\n]+$"):
        magic(session, line)
    assert session.watcher.settings.rule_policies == {}


def test_a_slip_in_the_configuration_is_said_and_the_default_is_used(
    capsys: pytest.CaptureFixture[str],
) -> None:
    config = Config(Xleak={"rule_policies": {"XL501": "auto"}})
    assert settings_of(Configurable(config=config)).rule_policies == {}
    assert "XL501 cannot be auto" in capsys.readouterr().err
    config = Config(Xleak={"rule_policies": {"XL401": "auto"}, "keep_undo": 2})
    settings = settings_of(Configurable(config=config))
    assert (settings.policy_of("XL401"), settings.policy_of("XL402")) == ("auto", "report")
    assert settings.keep_undo == 2


def test_the_rules_that_can_be_auto_are_those_that_the_agent_can_release(session: Session) -> None:
    codes = [it for codes, _, _ in releases.Releases(session.watcher).kinds() for it in codes]
    assert sorted(codes) == RELEASABLE
    with pytest.raises(TraitError):
        session.watcher.settings.rule_policies = {"XL101": "auto"}


# --- what stays ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "use",
    [
        "eval('Out[{0}]');",
        "_{0};",
        "def later(): return _oh[{0}]",
        "everything = Out",
        "def latest(): return Out[max(Out)]",
        "ask = lambda n: globals()['Out'][n]",
        "ask = lambda n: eval('Out[%d]' % n)",
        "ask = lambda n: eval(f'_{{n}}')",
        "ask = lambda n: globals()['_' + str(n)]",
        "ask = lambda n: get_ipython().user_ns['_oh'][n]",
    ],
)
def test_an_entry_that_a_cell_mentions_in_any_way_stays(session: Session, use: str) -> None:
    magic(session, "policy auto")
    session.run(use.format(session.shell.execution_count + 1))
    number = shown(session)
    push_down(session)
    assert number in session.shell.user_ns["Out"]


def test_an_entry_that_a_cell_mentioned_while_nothing_was_watched_stays(session: Session) -> None:
    number = shown(session)
    magic(session, "policy off")
    session.run(f"type(Out[{number}]);")
    magic(session, "policy auto")
    push_down(session)
    assert number in session.shell.user_ns["Out"]


def test_what_the_display_hook_would_call_underscore_again_stays(session: Session) -> None:
    magic(session, "policy auto")
    number = shown(session)
    session.run("_ = __ = ___ = 'mine';")
    session.run("more = 1")
    assert number in session.shell.user_ns["Out"]


def test_an_entry_whose_value_a_weak_reference_leads_to_stays(session: Session) -> None:
    magic(session, "policy auto")
    session.run(
        "import weakref\nclass Box:\n    def __init__(self): self.data = bytearray(8 << 20)"
    )
    number = shown(session, "box = Box()\nseen = weakref.ref(box)\nbox")
    session.run("del box")
    push_down(session)
    assert f"Out[{number}]" in session.leaks()
    session.run("assert seen() is not None; del seen")
    session.run("1 + 1")
    assert f"Out[{number}]" not in session.leaks()


@pytest.mark.parametrize("watch", ["ref", "proxy", "finalize"])
@pytest.mark.parametrize("value", ["array", "array[1:]", "[array]"])
def test_an_entry_whose_array_a_weak_reference_leads_to_stays(
    session: Session, value: str, watch: str
) -> None:
    magic(session, "policy auto")
    session.run("import weakref, numpy\narray = numpy.ones(1 << 20)")
    number = shown(session, f"seen = weakref.{watch}(array, id)\n{value}")
    session.run("del array")
    push_down(session)
    assert number in session.shell.user_ns["Out"]
    assert by_agent(session) == []


@pytest.mark.parametrize("inside", ["shown.untyped_storage()", "middle"])
def test_an_entry_stays_where_a_weak_reference_leads_to_what_torch_alone_keeps(
    session: Session, inside: str
) -> None:
    magic(session, "policy auto")
    session.run(
        "import weakref, torch\nmiddle = torch.ones(1 << 20, requires_grad=True).exp()\n"
        "shown = middle.sin() * middle"
    )
    number = shown(session, f"seen = weakref.ref({inside})\nshown")
    session.run("del shown, middle")
    push_down(session)
    assert number in session.shell.user_ns["Out"]
    session.run("assert seen() is not None; del seen")
    session.run("1 + 1")
    assert number not in session.shell.user_ns["Out"]


def test_garbage_with_an_array_that_a_weak_reference_leads_to_stays(session: Session) -> None:
    magic(session, "policy auto")
    session.run(f"import weakref, numpy\n{CYCLE}\nnode = Node()\nnode.more = numpy.ones(9)")
    session.run("seen = weakref.ref(node.more)\ndel node")
    push_down(session)
    session.run("assert seen() is not None")
    assert by_agent(session) == []


def test_weak_references_of_the_watcher_itself_keep_no_garbage(session: Session) -> None:
    magic(session, "policy auto")
    session.run(
        "import torch\nclass Trainer:\n    def __init__(self):\n"
        "        self.net = torch.nn.Linear(1 << 10, 1 << 10)\n        self.stop = lambda: self.net\n"
        "trainer = Trainer()\ntrainer.net(torch.ones(1 << 10)).sum().backward()"
    )
    for cell in ("del trainer", "1", "2"):
        session.run(cell)
    [released] = by_agent(session)
    assert (released.what, released.freed["malloc"] >= 8 << 20) == (
        "Trainer: garbage in a cycle",
        True,
    )


@pytest.mark.parametrize(
    "before",
    [
        "Node.__del__ = lambda self: None",
        "import weakref; nodes = weakref.WeakSet()\n"
        "Node.__init__, old = lambda self: (old(self), nodes.add(self))[0], Node.__init__",
        "gc.disable()",
        "gc.callbacks.append(print)",
        "gc.set_debug(gc.DEBUG_UNCOLLECTABLE)",
    ],
)
def test_garbage_stays_where_code_would_notice_or_the_collector_is_the_users(
    session: Session, before: str
) -> None:
    magic(session, "policy auto")
    try:
        session.run(f"import gc\n{CYCLE}")
        session.run(f"{before}\nnode = Node()")
        for cell in ("del node", "1", "2"):
            session.run(cell)
        assert by_agent(session) == []
    finally:
        session.run("gc.enable(); gc.callbacks[:] = []; gc.set_debug(0); gc.collect();")


def test_an_exception_that_the_user_put_away_keeps_its_frames(session: Session) -> None:
    magic(session, "policy auto")
    session.run(FAIL)
    session.run(
        "kept = []\n"
        "try: fail()\n"
        "except ZeroDivisionError as error:\n"
        "    kept.append(error)\n"
        "    big = bytearray(8 << 20)\n"
        "    def again(): other = bytearray(8 << 20); raise KeyError from error\n"
        "    again()"
    )
    for cell in ("1", "2"):
        session.run(cell)
    assert session.shell.user_ns["kept"][0].__traceback__ is not None


@pytest.mark.parametrize(
    "cell",
    [
        "import sys\nseen = lambda: sys.last_value",
        "%debug?",
        "import traceback\nshow = traceback.print_last",
        "def look(): get_ipython().run_line_magic('tb', '')",
    ],
)
def test_a_traceback_that_a_cell_asks_for_stays(session: Session, cell: str) -> None:
    magic(session, "policy auto")
    session.run(FAIL)
    session.run(cell)
    session.run("fail()")
    session.run("1")
    assert sys.last_value is not None


# --- what goes -----------------------------------------------------------------------------------


def test_the_traceback_goes_once_another_cell_has_ended_well_and_nothing_else_does(
    session: Session,
) -> None:
    magic(session, "policy auto XL402")
    number = shown(session)
    push_down(session)
    session.run(FAIL)
    session.run("fail()")
    assert sys.last_value is not None
    before = malloc_bytes()
    session.run("1")
    assert not hasattr(sys, "last_value")
    assert before - malloc_bytes() == pytest.approx(8 * MIB, rel=0.05)
    assert number in session.shell.user_ns["Out"]
    assert [sum(it.freed.values()) for it in by_agent(session)] == [
        pytest.approx(8 * MIB, rel=0.05)
    ]


class Backend:
    """A framework's module for devices, with a cache of 512 MiB."""

    def __init__(self, busy: bool) -> None:
        self.reserved, self._busy = 512 * MIB, busy

    def current_stream(self, device: str) -> Any:
        return SimpleNamespace(query=lambda: not self._busy)

    def empty_cache(self) -> None:
        self.reserved = 2 * MIB


@pytest.mark.parametrize(("busy", "freed"), [(False, [{"cuda:0": 510 * MIB}]), (True, [])])
def test_a_cache_of_a_device_is_emptied_unless_something_runs_there(
    busy: bool, freed: list[dict[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = Backend(busy)
    functions = {name: getattr(backend, name) for name in ("current_stream", "empty_cache")}
    monkeypatch.setitem(sys.modules, "torch.cuda", module_of(**functions))
    monkeypatch.setattr(
        releases,
        "device_readings",
        lambda: [DeviceReading("cuda:0", 0, backend.reserved, 0, 0, 0)],
    )
    finding: Any = SimpleNamespace(key="cache of cuda:0")
    done = releases._device_caches([finding], lambda: False)
    assert [it.freed for it in done] == freed


# --- the journal ---------------------------------------------------------------------------------


def test_what_the_user_releases_is_in_the_journal_too_and_a_dry_run_is_not(
    session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    session.run("big = bytearray(8 << 20)")
    session.run("%xdel --dry-run big")
    session.run("%release_cache --dry-run")
    session.run("%xdel big")
    capsys.readouterr()
    magic(session, "journal --json")
    [entry] = json.loads(capsys.readouterr().out)
    assert (entry["who"], entry["what"], entry["why"]) == ("you", "big", "%xdel")
    assert entry["freed"]["malloc"] == pytest.approx(8 * MIB, rel=0.02)
    assert entry["undo"] is False


def test_a_button_of_the_panel_is_one_entry(session: Session) -> None:
    shown(session)
    push_down(session)
    assert install._installed is not None and install._installed.panel is not None
    panel = install._installed.panel
    [finding] = [key for key, it in panel._told.by_id().items() if it.code == "XL401"]
    panel._run_fix(finding, 0)
    [entry] = session.watcher.journal.entries
    assert (entry.who, entry.why) == ("you", "XL401, in the panel")
    assert entry.freed["malloc"] == pytest.approx(8 * MIB, rel=0.02)


def test_an_empty_journal_says_so(session: Session, capsys: pytest.CaptureFixture[str]) -> None:
    magic(session, "journal")
    assert capsys.readouterr().out == "Nothing was released in this session.\n"


def test_undo_puts_the_very_object_back_where_it_was(session: Session) -> None:
    magic(session, "journal --keep-undo 1")
    magic(session, "policy auto")
    number = shown(session)
    out, identity = session.shell.user_ns["Out"], id(session.shell.user_ns["_"])
    before = malloc_bytes()
    push_down(session)
    assert number not in out and f"_{number}" not in session.shell.user_ns
    assert before - malloc_bytes() < MIB
    [entry] = by_agent(session)
    assert (entry.freed, entry.undo) == ({}, True)
    assert entry.kept_bytes == pytest.approx(8 * MIB, rel=0.02)
    magic(session, f"journal --undo {entry.number}")
    assert id(out[number]) == identity == id(session.shell.user_ns[f"_{number}"])
    assert list(out) == sorted(out)
    push_down(session)
    assert number in out, "what was put back stays"
    with pytest.raises(UsageError, match="is undone already"):
        magic(session, f"journal --undo {entry.number}")


def test_what_falls_out_of_undo_is_freed_and_its_bytes_are_noted_then(session: Session) -> None:
    session.watcher.settings.keep_undo = 1
    magic(session, "policy auto")
    first = shown(session)
    push_down(session)
    shown(session)
    push_down(session)
    old, new = by_agent(session)
    assert old.what == f"Out[{first}]"
    assert old.freed["malloc"] == pytest.approx(8 * MIB, rel=0.02)
    assert (old.undo, new.undo, new.freed) == (False, True, {})
    with pytest.raises(UsageError, match=rf"Out\[{first}\] is freed$"):
        magic(session, f"journal --undo {old.number}")
    before = malloc_bytes()
    magic(session, "journal --keep-undo 0")
    assert before - malloc_bytes() == pytest.approx(8 * MIB, rel=0.05)
    assert new.freed["malloc"] == pytest.approx(8 * MIB, rel=0.02)


def test_undo_overwrites_nothing_that_has_the_place_by_now(session: Session) -> None:
    session.watcher.settings.keep_undo = 1
    magic(session, "policy auto")
    number = shown(session)
    push_down(session)
    session.shell.user_ns[f"_{number}"] = "mine"
    [entry] = by_agent(session)
    with pytest.raises(UsageError, match=r"is something else by now$"):
        magic(session, f"journal --undo {entry.number}")
    assert number not in session.shell.user_ns["Out"]
    assert entry.undo

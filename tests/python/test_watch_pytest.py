"""The mark and the fixture of the pytest plugin, in sessions of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TRAINERS_PYTHON = os.environ.get("XLEAK_TRAINERS_PYTHON")
HEAD = "import pytest, torch\nCACHE = {}\n"


class Session:
    """pytest in a process of its own, which loads the plugin alone."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.python = sys.executable

    def run(self, source: str, *arguments: str) -> tuple[int, str]:
        """(exit status, what it printed)."""
        (self.folder / "test_it.py").write_text(source)
        own = ["-p", "xleak.pytest_plugin", "-p", "no:cacheprovider", "-q", *arguments]
        done = subprocess.run(
            [self.python, "-m", "pytest", *own, "test_it.py"],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            # Where xleak is installed it would be loaded a second time.
            env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        )
        return done.returncode, done.stdout + done.stderr


@pytest.fixture
def session(tmp_path: Path) -> Session:
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --strict-markers\n")
    return Session(tmp_path)


def test_a_test_that_keeps_a_tensor_fails_and_says_who_holds_it(session: Session) -> None:
    status, text = session.run(f"""{HEAD}
@pytest.mark.xleak(max_kept="1MiB")
def test_load():
    CACHE["weights"] = torch.zeros(1 << 20)
""")
    assert status == 1
    assert "'test_it.py::test_load' kept 4 MiB of tensors on the host; it may 1 MiB." in text
    assert "4 MiB float32 (1048576,) on cpu, held by CACHE['weights']" in text
    assert "Traceback" not in text and "pytest_plugin" not in text


def test_a_test_that_keeps_arrays_fails_and_says_who_holds_them(session: Session) -> None:
    status, text = session.run("""
import pytest
ROWS = []
@pytest.mark.xleak(max_kept="1MiB")
def test_load():
    ROWS.append(bytearray(5 << 20))
""")
    assert status == 1
    assert "of the C heap; it may 1 MiB" in text
    assert "ROWS: 1 element more" in text


def test_a_test_that_frees_what_it_made_passes_in_silence(session: Session) -> None:
    status, text = session.run(f"""{HEAD}
@pytest.mark.xleak(max_kept="1MiB")
def test_work():
    class Node: pass
    node = Node()
    node.me, node.tensor = node, torch.zeros(10 << 20)

@pytest.mark.xleak
def test_first_use_of_a_library():
    import xml.dom.minidom, decimal, asyncio
    torch.nn.Linear(500, 500)(torch.zeros(100, 500)).sum().backward()

def test_without_the_mark():
    CACHE["weights"] = torch.zeros(1 << 20)
""")
    assert status == 0
    assert "3 passed" in text
    assert "xleak" not in text


def test_what_a_fixture_keeps_is_not_the_tests(session: Session) -> None:
    status, text = session.run(f"""{HEAD}
@pytest.fixture
def model():
    return torch.zeros(10 << 20)

@pytest.mark.xleak(max_kept=0)
def test_model(model):
    model.sum()
""")
    assert (status, "1 passed" in text) == (0, True), text


def test_a_failure_of_the_test_is_not_covered_by_what_it_keeps(session: Session) -> None:
    status, text = session.run(f"""{HEAD}
@pytest.mark.xleak(max_kept=0)
def test_wrong():
    CACHE["weights"] = torch.zeros(1 << 20)
    assert 1 == 2
""")
    assert status == 1
    assert "assert 1 == 2" in text
    assert "it may" not in text


def test_the_fixture_watches_a_part_of_a_test(session: Session) -> None:
    status, text = session.run(f"""{HEAD}
def test_part(xleak_watch):
    CACHE["before"] = torch.zeros(1 << 20)
    with xleak_watch(max_kept="1MiB") as w:
        torch.zeros(1 << 20)
    assert w.kept_bytes == 0
    with xleak_watch("load"):
        CACHE["weights"] = torch.zeros(1 << 20)
""")
    assert status == 1
    assert "LeakError: 'load' kept 4 MiB" in text
    assert "held by CACHE['weights']" in text


@pytest.mark.parametrize(
    ("mark", "sentence"),
    [
        ('max_kept="much"', "the mark xleak: a size is a number of bytes"),
        ('"1MiB"', "the mark xleak takes max_kept alone, got '1MiB'"),
        ("most=3", "the mark xleak takes max_kept alone, got most=3"),
    ],
)
def test_a_wrong_mark_is_told_in_a_sentence(session: Session, mark: str, sentence: str) -> None:
    status, text = session.run(f"""{HEAD}
@pytest.mark.xleak({mark})
def test_it():
    pass
""")
    assert status == 1
    assert sentence in text


def test_nothing_is_imported_for_tests_that_do_not_use_it(session: Session) -> None:
    status, text = session.run("""
import sys
def test_it():
    assert "xleak.pytest_plugin" in sys.modules
    assert [n for n in sys.modules if n.startswith(("xleak._", "xleak.w", "torch", "IPython"))] == []
""")
    assert status == 0, text


@pytest.mark.skipif(
    TRAINERS_PYTHON is None, reason="XLEAK_TRAINERS_PYTHON names no Python that has pytest-xdist"
)
def test_workers_of_xdist_tell_the_same(session: Session) -> None:
    session.python = str(TRAINERS_PYTHON)
    status, text = session.run(
        f"""{HEAD}
@pytest.mark.parametrize("number", range(4))
@pytest.mark.xleak(max_kept="1MiB")
def test_load(number):
    CACHE[number] = torch.zeros(1 << 20 if number == 2 else 1)
""",
        "-p",
        "xdist",
        "-n",
        "2",
    )
    assert status == 1
    assert "1 failed, 3 passed" in text
    assert "held by CACHE[2]" in text

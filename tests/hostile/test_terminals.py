"""Names and sources with characters that drive a terminal: no command shows them as they are."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote_to_bytes

import pytest
from notebook_files import KERNEL, LIMIT_SECONDS, notebook, written
from test_lint import LEAK, MODEL
from xleak.cli import main

# Escape, bell, carriage return, backspace, C1's control sequence, and what turns the direction of text.
DRIVING = "\x1b[31m\x07\r\x08\x9b31m\u202e\u2066\u200f"
NAME = f"a{DRIVING}.py"
LINE = f"    total += net(batch).mean()  # {DRIVING}\n"
SOURCE = MODEL + LEAK.replace("    total += net(batch).mean()\n", LINE)
FORMS = ("text", "github", "json", "sarif")


def drives(text: str) -> set[str]:
    """What of it drives a terminal."""
    return {c for c in text if not c.isprintable() and c != "\n"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / NAME).write_text(SOURCE)
    return tmp_path


@pytest.mark.parametrize("form", FORMS)
def test_no_form_of_lint_drives_a_terminal(
    folder: Path, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    (folder / f"b{DRIVING}.ipynb").write_text("{")
    (folder / f"c{DRIVING}.py").write_text(f"x = ( # {DRIVING}\n")
    (folder / f"d{DRIVING}.py").write_text(f"x = 1  # xleak: ignore[XL203] {DRIVING}\n")
    assert main(["lint", "--format", form, str(folder)]) == 1
    shown = capsys.readouterr()
    assert "XL203" in shown.out
    assert drives(shown.out) == set()
    assert drives(shown.err) == set()


def test_an_annotation_names_the_line_though_its_file_has_such_a_name(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["lint", "--format", "github", NAME])
    [command] = capsys.readouterr().out.splitlines()
    assert command.startswith("::error file=a\\x1b[31m\\x07%0D")
    assert ",line=5,col=" in command


@pytest.mark.parametrize("form", FORMS)
def test_a_file_whose_name_is_no_text_is_linted_and_fixed(
    folder: Path, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    name = os.fsdecode(b"\xff\xfe.py")
    (folder / name).write_text(MODEL + LEAK)
    assert main(["lint", "--format", form, name]) == 1
    shown = capsys.readouterr().out
    assert "XL203" in shown
    if form == "sarif":
        [result] = json.loads(shown)["runs"][0]["results"]
        place = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        assert unquote_to_bytes(place) == b"\xff\xfe.py"
    elif form == "json":
        assert json.loads(shown)["findings"][0]["path"] == name
    assert main(["fix", name]) == 0
    assert ".detach()" in (folder / name).read_text()


def in_terminal(*words: str) -> tuple[int, str]:
    """Runs `xleak WORDS` in a terminal; its code, and what it wrote there."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "xleak", *words]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                part = os.read(ours, 1 << 16)
            except OSError:
                # The other side is closed.
                break
            shown += part
        code = process.wait(LIMIT_SECONDS)
    os.close(ours)
    return code, shown.decode().replace("\r\n", "\n")


def test_a_diff_in_a_terminal_has_such_characters_spelled_out(folder: Path) -> None:
    code, shown = in_terminal("fix", "--diff", NAME)
    assert code == 0
    assert "+    total += net(batch).mean().detach()  # \\x1b[31m\\x07\\r\\x08" in shown
    assert drives(shown) == set()


@pytest.mark.parametrize("end", ["\n", "", "\r\n", "\x0c\n"])
def test_a_diff_in_a_pipe_is_a_patch_with_every_byte_of_the_file(folder: Path, end: str) -> None:
    before = (MODEL + "# \x0c \x1c \u2028 \x85\r\n" + SOURCE + "x = 1" + end).encode()
    path = folder / "plain.py"
    path.write_bytes(before)
    words = [sys.executable, "-m", "xleak", "fix", "--diff", "plain.py"]
    patch = subprocess.run(words, capture_output=True, timeout=LIMIT_SECONDS, check=True).stdout
    subprocess.run(["git", "apply", "-"], input=patch, timeout=LIMIT_SECONDS, check=True)
    after = path.read_bytes()
    assert after == before.replace(b"(batch).mean()", b"(batch).mean().detach()")


@pytest.mark.parametrize(
    "words",
    [
        ("explain", DRIVING),
        ("lint", f"nowhere{DRIVING}"),
        ("lint", "--select", DRIVING, "."),
        ("lint", f"--{DRIVING}", "."),
        ("run", f"nowhere{DRIVING}.ipynb"),
        ("postmortem", f"nowhere{DRIVING}"),
        (DRIVING,),
    ],
    ids=lambda words: words[0] if words[0].isalpha() else "no command",
)
def test_a_complaint_about_such_an_argument_does_not_drive_the_terminal(
    folder: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    assert main(list(words)) == 2
    shown = capsys.readouterr()
    assert shown.err and drives(shown.err) == set()


@pytest.mark.parametrize("words", [("rules",), ("rules", "--format", "json"), ("explain", "XL203")])
def test_what_xleak_says_by_itself_drives_no_terminal(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    assert main(list(words)) == 0
    assert drives(capsys.readouterr().out) == set()


def test_a_run_does_not_drive_the_terminal(tmp_path: Path) -> None:
    quoted = DRIVING.replace("\r", "")
    shape = notebook(
        f"word = '{quoted}'  # {quoted}",
        f"rows = {{'{quoted}': bytearray(32 << 20)}}\nrows",
        "del rows",
        "raise ValueError(word)",
    )
    path = written(tmp_path, shape, f"nb{DRIVING}.ipynb")
    done = subprocess.run(
        [sys.executable, "-m", "xleak", "run", "--kernel", KERNEL, path],
        capture_output=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )
    assert done.returncode == 3
    assert b"XL401" in done.stdout and b"ValueError" in done.stdout
    assert drives(done.stdout.decode()) == set()

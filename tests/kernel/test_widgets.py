"""Which open widgets are in use, by what a real kernel sent to be shown."""

from __future__ import annotations

import pytest
from harness import Message, Ran, Session

pytestmark = pytest.mark.each_ipython

# What a cell leaves is worth a report: three times 600 kB.
PICTURE = "widgets.Image(value=bytes(600_000))"
SETUP = "import ipywidgets as widgets\nfrom IPython.display import display"


@pytest.fixture
def notebook(fresh_kernel: Session) -> Session:
    fresh_kernel.run(SETUP)
    return fresh_kernel


def run_cell(kernel: Session, cell_id: str, code: str) -> Ran:
    """Runs a cell of a notebook whose cells have an identity."""
    content: Message = {"code": code, "silent": False, "store_history": True}
    message = kernel.client.session.msg("execute_request", content, metadata={"cellId": cell_id})
    kernel.client.shell_channel.send(message)
    return kernel.wait(message["header"]["msg_id"])


def test_cells_with_the_same_code_keep_what_each_of_them_shows(notebook: Session) -> None:
    for cell_id in ("a", "b", "c", "d"):
        run_cell(notebook, cell_id, f"display({PICTURE})")
        assert notebook.findings() == {}


def test_a_cell_that_is_edited_between_its_runs_is_one_cell(notebook: Session) -> None:
    for number in range(4):
        run_cell(notebook, "a", f"display({PICTURE})  # again\ntitle = {number}")
    assert list(notebook.findings()) == ["the open widgets of In[2]"]


def test_what_callbacks_make_and_show_is_in_use(notebook: Session) -> None:
    ran = notebook.run(
        "button = widgets.Button(description='more')\n"
        f"button.on_click(lambda it: display(*[{PICTURE} for _ in range(3)]))\n"
        f"button.on_click(lambda it: [{PICTURE} for _ in range(3)])\n"
        "display(button)"
    )
    comm_id = next(
        it["comm_id"]
        for it in ran.of("comm_open")
        if it["data"]["state"].get("_model_name") == "ButtonModel"
    )
    click = {"method": "custom", "content": {"event": "click"}}
    message = notebook.client.session.msg("comm_msg", {"comm_id": comm_id, "data": click})
    notebook.client.shell_channel.send(message)
    count = "len(__import__('xleak.shell.widgets').shell.widgets.open_widgets())"
    assert notebook.ask(count) > 2 * 3
    notebook.run("block = bytearray(3 << 20)")
    assert notebook.findings() == {}


@pytest.mark.parametrize(
    "shown",
    [
        "display(widgets.Box(pictures))",
        "area = widgets.Output(); display(area)\nfor it in pictures: area.append_display_data(it)",
        "box = widgets.Box(pictures)",
        "widgets.Box(pictures)",
    ],
)
def test_a_widget_is_in_use_where_another_shows_it(notebook: Session, shown: str) -> None:
    notebook.run(f"pictures = [{PICTURE} for _ in range(4)]\n{shown}")
    notebook.run("del pictures")
    assert notebook.findings() == {}


def test_a_widget_that_was_captured_may_still_be_shown(notebook: Session) -> None:
    notebook.run(f"%%capture taken\nfor _ in range(4): display({PICTURE})")
    notebook.run("block = bytearray(3 << 20)")
    assert notebook.findings() == {}
    notebook.run("del taken, block")
    assert [it["code"] for it in notebook.findings().values()] == ["XL414"]


def test_the_same_widgets_are_reported_where_nothing_shows_them(notebook: Session) -> None:
    notebook.run(f"pictures = [{PICTURE} for _ in range(4)]\nbox = widgets.Box(pictures)")
    notebook.run("del pictures, box")
    assert [it["code"] for it in notebook.findings().values()] == ["XL414"]


def test_the_fix_closes_nothing_that_a_name_or_an_output_shows(notebook: Session) -> None:
    notebook.run(f"display({PICTURE})")
    notebook.run(f"named = {PICTURE}")
    for _ in range(4):
        notebook.run(f"view = {PICTURE}\nview")
    found = notebook.findings()["the open widgets of In[4]"]
    assert notebook.run(found["fix"]).content["status"] == "ok"
    assert notebook.value("named.comm is None, view.comm is None") == "(False, False)"
    pictures = "sum(type(it) is widgets.Image for it in widgets.widget._instances.values())"
    assert notebook.value(f"import ipywidgets.widgets.widget as _w; {pictures}") == "3"
    assert notebook.findings() == {}


def test_a_widget_that_the_user_took_from_out_stays(notebook: Session) -> None:
    for _ in range(4):
        notebook.run(PICTURE)
    assert '"Out[2]"' in notebook.findings()["the open widgets of In[2]"]["fix"]
    notebook.run("print(type(Out[2]), type(Out[3])); block = bytearray(3 << 20)")
    assert notebook.findings() == {}


def test_a_report_is_taken_back_once_the_cell_closes_what_it_makes(notebook: Session) -> None:
    for _ in range(4):
        notebook.run(f"display({PICTURE})")
    assert notebook.findings()
    notebook.run("widgets.Widget.close_all()")
    assert notebook.findings() == {}


def test_a_container_that_collects_widgets_of_earlier_runs_is_named(notebook: Session) -> None:
    notebook.run("kept = {'panels': []}")
    for _ in range(4):
        notebook.run(f"kept['panels'].append({PICTURE}); display(kept['panels'][-1])")
    found = notebook.findings()
    assert {key: (it["code"], it["fix"]) for key, it in found.items()} == {
        "kept['panels']": ("XL414", None)
    }
    assert 3 * 600_000 <= found["kept['panels']"]["bytes"] <= 3 * 600_000 * 1.05


@pytest.mark.parametrize(
    "collecting",
    [
        "latest = [*latest, {0}][-2:]",
        "for old in latest: old.close()\nlatest = [{0}]",
        "latest[:] = [{0}, *latest]\nwhile len(latest) > 2: latest.pop().close()",
    ],
)
def test_a_container_that_lets_the_earlier_widgets_go_does_not_collect(
    notebook: Session, collecting: str
) -> None:
    notebook.run("latest = []")
    for _ in range(5):
        notebook.run(collecting.format("widgets.Image(value=bytes(2_000_000))"))
    assert "latest" not in notebook.findings()


def test_what_several_names_share_with_a_widget_is_not_counted(notebook: Session) -> None:
    notebook.run("frame = bytes(4 << 20)")
    for _ in range(4):
        notebook.run("display(widgets.Image(value=frame))")
    assert notebook.findings() == {}

"""Replies, counts and history: as ipykernel's, where stock xeus-python differs."""

from __future__ import annotations

import json
import re
from datetime import datetime, timezone
from pathlib import Path

import pytest
from harness import Session

pytestmark = pytest.mark.each_ipython

_COLOUR = re.compile(r"\x1b\[[\d;]*m")


def test_the_name_of_an_error_is_the_name_of_its_class(kernel: Session) -> None:
    content = kernel.run("raise ValueError('why')").content
    assert (content["ename"], content["evalue"]) == ("ValueError", "why")
    assert any("ValueError" in line for line in content["traceback"])


def test_an_exception_without_text_still_gets_a_reply(kernel: Session) -> None:
    code = "class Mute(Exception):\n    def __str__(self): raise RuntimeError('no')\nraise Mute()"
    assert kernel.run(code).content["status"] == "error"
    assert kernel.value("'goes on'") == "'goes on'"


@pytest.mark.parametrize(
    "code",
    [
        "1 +",
        "%no_such_magic",
        "raise SystemExit(3)",
        "raise KeyboardInterrupt",
        "import sys; sys.exit()",
        "%%nope\nx",
    ],
)
def test_whatever_a_cell_raises_a_reply_is_sent_and_the_kernel_goes_on(
    kernel: Session, code: str
) -> None:
    assert kernel.run(code).content["status"] in ("ok", "error")
    assert kernel.value("6 * 7") == "42"


def test_malformed_requests_are_answered_or_dropped_and_the_kernel_goes_on(kernel: Session) -> None:
    for content in ({}, {"code": 3}, {"code": "1", "user_expressions": []}):
        message = kernel.client.session.msg("execute_request", content)
        kernel.client.shell_channel.send(message)
    kernel.client.shell_channel.send(kernel.client.session.msg("no_such_request", {}))
    assert kernel.value("1 + 1") == "2"


def test_requests_behind_a_failed_cell_are_aborted_with_busy_and_idle(kernel: Session) -> None:
    ids = [
        kernel.send(code) for code in ("import time; time.sleep(0.3); 1/0", "print('never')", "2")
    ]
    first, second, third = (kernel.wait(msg_id) for msg_id in ids)
    assert first.content["status"] == "error"
    for aborted in (second, third):
        assert aborted.content["status"] == "aborted"
        assert [m["execution_state"] for m in aborted.of("status")] == ["busy", "idle"]
        assert aborted.of("stream") == []
    assert kernel.value("'goes on'") == "'goes on'"


def test_without_stop_on_error_the_rest_runs(kernel: Session) -> None:
    failed = kernel.send("import time; time.sleep(0.2); 1/0", stop_on_error=False)
    after = kernel.send("'ran'")
    kernel.wait(failed)
    assert kernel.wait(after).value == "'ran'"


def test_counts_are_ipythons_own_also_on_unstored_and_empty_cells(fresh_kernel: Session) -> None:
    kernel = fresh_kernel
    assert kernel.run("1").content["execution_count"] == 1
    assert kernel.run("2", store_history=False).content["execution_count"] == 1
    assert kernel.run("3", silent=True).content["execution_count"] == 1
    kernel.run("")
    ran = kernel.run("len(In) - 1")
    assert (
        ran.of("execute_input")[0]["execution_count"]
        == ran.content["execution_count"]
        == int(ran.value or 0)
    )
    assert "2" not in kernel.value("In")


def test_history_can_be_unique_and_leaves_unstored_lines_out(kernel: Session) -> None:
    for code in ("probe_a = 1", "probe_a = 1", "probe_b = 1"):
        kernel.run(code)
    kernel.run("probe_c = 1", store_history=False)

    def search(unique: bool) -> list[str]:
        content = {
            "hist_access_type": "search",
            "pattern": "probe_*",
            "raw": True,
            "output": False,
            "unique": unique,
            "n": 10,
        }
        return [row[2] for row in kernel.request("history_request", content)["content"]["history"]]

    assert search(unique=False).count("probe_a = 1") >= 2
    assert search(unique=True).count("probe_a = 1") == 1
    assert not any("probe_c" in line for line in search(unique=False))


def test_usage_is_answered_while_a_cell_runs(kernel: Session) -> None:
    msg_id = kernel.send("held = b'x' * (64 << 20)\nprint('held', flush=True)\nwhile True: pass")
    while kernel.client.get_iopub_msg(timeout=10)["msg_type"] != "stream":
        pass
    content = kernel.request("usage_request", channel="control")["content"]
    kernel.manager.interrupt_kernel()
    assert kernel.wait(msg_id).content["ename"] == "KeyboardInterrupt"
    assert content["kernel_memory"] > 64 << 20
    assert content["pid"] == int(kernel.value("import os; os.getpid()"))
    assert {"hostname", "kernel_cpu", "cpu_count", "host_virtual_memory"} <= set(content)
    assert {"total", "available", "percent", "used", "free"} <= set(content["host_virtual_memory"])


def test_connect_request_tells_the_ports(kernel: Session) -> None:
    ports = kernel.request("connect_request")["content"]
    connection = json.loads(Path(kernel.manager.connection_file).read_text())
    assert ports["shell_port"] == connection["shell_port"]
    assert ports["iopub_port"] == connection["iopub_port"]


def test_user_expressions_and_payloads_come_with_the_reply(kernel: Session) -> None:
    content = kernel.run(
        "x = 2\nget_ipython().set_next_input('next')", user_expressions={"y": "x * 2"}
    ).content
    assert content["user_expressions"]["y"]["data"]["text/plain"] == "4"
    assert content["payload"] == [{"source": "set_next_input", "text": "next", "replace": False}]


def test_completion_inspection_and_completeness(kernel: Session) -> None:
    kernel.run("some_long_name = 1")
    reply = kernel.request("complete_request", {"code": "some_lo", "cursor_pos": 7})["content"]
    assert reply["matches"] == ["some_long_name"]
    reply = kernel.request("inspect_request", {"code": "len", "cursor_pos": 3, "detail_level": 0})[
        "content"
    ]
    assert reply["found"] and "Return the number of items" in reply["data"]["text/plain"]
    assert (
        kernel.request("is_complete_request", {"code": "if x:"})["content"]["status"]
        == "incomplete"
    )


def test_an_integer_too_large_for_json_does_not_lose_the_reply(kernel: Session) -> None:
    assert kernel.value("2**200") == str(2**200)
    ran = kernel.run(
        "from IPython.display import publish_display_data\n"
        "publish_display_data({'application/json': {'n': 2**200, 'o': object}})"
    )
    assert ran.content["status"] == "ok"
    assert ran.of("display_data")


def test_the_cell_id_of_the_front_end_is_accounted(kernel: Session) -> None:
    message = kernel.client.session.msg(
        "execute_request",
        {"code": "pass", "silent": False, "store_history": True},
        metadata={"cellId": "cell-7"},
    )
    kernel.client.shell_channel.send(message)
    kernel.wait(message["header"]["msg_id"])
    assert kernel.value("from xleak import _native; _native.records()[-2].cell_id") == "'cell-7'"
    assert kernel.value("_native.records()[-2].cell_id is None") == "True"


def test_history_of_the_running_session_has_the_number_it_was_asked_by(kernel: Session) -> None:
    number = int(kernel.value("get_ipython().history_manager.session_number"))
    content = {
        "hist_access_type": "range",
        "session": number,
        "start": 1,
        "stop": 2,
        "raw": True,
        "output": False,
    }
    history = kernel.request("history_request", content)["content"]["history"]
    assert [row[:2] for row in history] == [[number, 1]]


@pytest.mark.parametrize(
    "code",
    [
        "try:\n    1/0\nexcept ZeroDivisionError: get_ipython().showtraceback()",
        "get_ipython().run_cell('1/0');",
        "%tb",
    ],
)
def test_a_traceback_that_the_code_shows_itself_is_no_failure_of_the_cell(
    kernel: Session, code: str
) -> None:
    kernel.run("1/0")
    ran = kernel.run(code)
    assert ran.of("error")[0]["ename"] == "ZeroDivisionError"
    assert ran.content["status"] == "ok"


def test_a_value_that_cannot_be_shown_fails_the_cell_by_the_name_of_its_error(
    kernel: Session,
) -> None:
    code = "class Mute:\n    def __repr__(self): raise LookupError('no')\nMute()"
    content = kernel.run(code).content
    assert (content["status"], content["ename"]) == ("error", "LookupError")


def test_libraries_take_the_session_for_a_notebook(kernel: Session) -> None:
    assert kernel.value("type(get_ipython()).__name__") == "'ZMQInteractiveShell'"
    assert kernel.value("'IPKernelApp' in get_ipython().config") == "True"
    assert kernel.value("get_ipython().has_trait('kernel')") == "True"
    assert (
        kernel.value(
            "from ipykernel.zmqshell import ZMQInteractiveShell\n"
            "isinstance(get_ipython(), ZMQInteractiveShell)"
        )
        == "True"
    )
    assert (
        kernel.value("import ipykernel.kernelapp as app; app.__name__") == "'ipykernel.kernelapp'"
    )


def test_the_first_usage_reply_has_no_invented_load(fresh_kernel: Session) -> None:
    content = fresh_kernel.request("usage_request", channel="control")["content"]
    assert content["kernel_cpu"] == 0


def test_to_draw_a_traceback_no_module_is_asked_for_its_file(fresh_kernel: Session) -> None:
    fresh_kernel.run(
        "import sys, types\n"
        "class Asked(types.ModuleType):\n"
        "    times = 0\n"
        "    @property\n"
        "    def __file__(self):\n"
        "        Asked.times += 1\n"
        "        return 'asked.py'\n"
        "sys.modules['asked'] = Asked('asked')\n"
        "def down(frames):\n"
        "    return down(frames - 1) if frames else 1 / 0"
    )
    # inspect knows the modules of IPython's own frames once it has seen them.
    fresh_kernel.run("down(1)")
    asked = fresh_kernel.value("Asked.times")
    failed = fresh_kernel.run("down(5)").content
    assert failed["ename"] == "ZeroDivisionError"
    shown = _COLOUR.sub("", "".join(failed["traceback"]))
    assert "return down(frames - 1) if frames else 1 / 0" in shown
    assert fresh_kernel.value("Asked.times") == asked
    fresh_kernel.run("import inspect, sys")
    located = "inspect.getmodule(down.__code__), inspect.getmodule(down) is sys.modules['__main__']"
    assert fresh_kernel.value(located) == "(None, True)"


def test_each_message_has_an_identity_of_its_own_and_the_time_it_was_sent(kernel: Session) -> None:
    before = datetime.now(timezone.utc)
    ran = [kernel.run("print(1)"), kernel.run("2")]
    headers = [it["header"] for cell in ran for it in [cell.reply, *cell.outputs]]
    assert len({it["msg_id"] for it in headers}) == len(headers)
    assert len({it["session"] for it in headers}) == 1
    assert all(before <= it["date"] <= datetime.now(timezone.utc) for it in headers)


def test_what_is_noted_of_a_failed_cell_follows_its_reply(kernel: Session) -> None:
    kernel.run(
        "from xleak.shell.watcher import watcher\n"
        "order = []\n"
        "watcher().after_account.append(lambda index: order.append('noted'))\n"
        "ip = get_ipython()\n"
        "as_before = ip.after_request\n"
        "def after_request(*of_cell):\n"
        "    order.append('reply comes')\n"
        "    try: return as_before(*of_cell)\n"
        "    finally: order.append('reply goes')\n"
        "ip.after_request = after_request"
    )
    kernel.run("order.clear(); 1 / 0")
    assert kernel.value("order[:3]") == "['reply comes', 'reply goes', 'noted']"

"""ipywidgets 8 in both directions, and comms opened by the front end."""

from __future__ import annotations

import pytest
from harness import Session

pytestmark = pytest.mark.each_ipython


def test_a_widget_opens_a_comm_and_hears_the_front_end(kernel: Session) -> None:
    ran = kernel.run(
        "import ipywidgets as w\n"
        "heard = []\n"
        "slider = w.IntSlider()\n"
        "slider.observe(lambda c: heard.append(c['new']), 'value')\n"
        "slider"
    )
    opened = ran.of("comm_open")
    assert {m["target_name"] for m in opened} == {"jupyter.widget"}
    comm_id = next(
        m["comm_id"] for m in opened if m["data"]["state"].get("_model_name") == "IntSliderModel"
    )
    assert "application/vnd.jupyter.widget-view+json" in ran.of("execute_result")[0]["data"]
    update = {
        "comm_id": comm_id,
        "data": {"method": "update", "state": {"value": 7}, "buffer_paths": []},
    }
    message = kernel.client.session.msg("comm_msg", update)
    kernel.client.shell_channel.send(message)
    assert kernel.value("slider.value, heard") == "(7, [7])"


def test_the_kernel_changes_a_widget(kernel: Session) -> None:
    ran = kernel.run("slider.value = 9")
    assert [m["data"]["state"]["value"] for m in ran.of("comm_msg")] == [9]


def test_binary_buffers_travel_both_ways(kernel: Session) -> None:
    kernel.run(
        "got = []\n"
        "def target(comm, message):\n"
        "    comm.on_msg(lambda m: (got.append(bytes(m['buffers'][0])), comm.send('back', buffers=[b'\\x00\\xff'])))\n"
        "get_ipython().kernel.comm_manager.register_target('echo', target)"
    )
    session = kernel.client.session
    kernel.client.shell_channel.send(
        session.msg("comm_open", {"comm_id": "c1", "target_name": "echo", "data": {}})
    )
    message = session.msg("comm_msg", {"comm_id": "c1", "data": {}})
    message["buffers"] = [b"\x01\x02"]
    session.send(kernel.client.shell_channel.socket, message, buffers=[b"\x01\x02"])
    answer = None
    while answer is None or answer["msg_type"] != "comm_msg":
        answer = kernel.client.get_iopub_msg(timeout=10)
    assert bytes(answer["buffers"][0]) == b"\x00\xff"
    assert kernel.value("got") == "[b'\\x01\\x02']"


def test_comm_info_lists_open_comms_by_target(kernel: Session) -> None:
    content = kernel.request("comm_info_request", {"target_name": "echo"})["content"]
    assert content["comms"] == {"c1": {"target_name": "echo"}}


def test_output_of_a_callback_belongs_to_the_message_that_called_it(kernel: Session) -> None:
    kernel.run("slider.observe(lambda c: print('moved'), 'value')\ncomm_id = slider.comm.comm_id")
    comm_id = kernel.value("comm_id").strip("'")
    update = {
        "comm_id": comm_id,
        "data": {"method": "update", "state": {"value": 3}, "buffer_paths": []},
    }
    message = kernel.client.session.msg("comm_msg", update)
    kernel.client.shell_channel.send(message)
    while True:
        shown = kernel.client.get_iopub_msg(timeout=10)
        if shown["msg_type"] == "stream":
            break
    assert shown["content"]["text"] == "moved\n"
    assert shown["parent_header"]["msg_id"] == message["header"]["msg_id"]


def test_a_callback_that_raises_shows_its_error_and_the_kernel_goes_on(kernel: Session) -> None:
    kernel.run(
        "def target(comm, message): raise RuntimeError('in target')\n"
        "get_ipython().kernel.comm_manager.register_target('bad', target)"
    )
    kernel.client.shell_channel.send(
        kernel.client.session.msg("comm_open", {"comm_id": "c2", "target_name": "bad", "data": {}})
    )
    kernel.client.shell_channel.send(
        kernel.client.session.msg("comm_msg", {"comm_id": "unknown", "data": {}})
    )
    assert kernel.value("1 + 1") == "2"

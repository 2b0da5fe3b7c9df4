"""Streams, file descriptors and display: one order, few messages."""

from __future__ import annotations

import pytest
from harness import Session

pytestmark = pytest.mark.each_ipython


def test_a_print_is_one_message(kernel: Session) -> None:
    ran = kernel.run("print('a', 'b', 'c')")
    assert [m["text"] for m in ran.of("stream")] == ["a b c\n"]


def test_prints_in_a_row_are_joined(kernel: Session) -> None:
    ran = kernel.run("for i in range(20): print(i)")
    assert len(ran.of("stream")) <= 2
    assert ran.text() == "".join(f"{i}\n" for i in range(20))


def test_text_comes_before_the_display_that_follows_it(kernel: Session) -> None:
    ran = kernel.run("print('before'); display(1); print('after')")
    kinds = [
        (m["msg_type"], m["content"].get("text"))
        for m in ran.outputs
        if m["msg_type"] in ("stream", "display_data")
    ]
    assert kinds == [("stream", "before\n"), ("display_data", None), ("stream", "after\n")]


def test_what_is_printed_early_is_shown_while_the_cell_still_runs(kernel: Session) -> None:
    msg_id = kernel.send("import time\nprint('early')\nwhile True: time.sleep(0.01)")
    while True:
        message = kernel.client.get_iopub_msg(timeout=10)
        if message["msg_type"] == "stream":
            break
    assert message["content"]["text"] == "early\n"
    kernel.manager.interrupt_kernel()
    assert kernel.wait(msg_id).content["ename"] == "KeyboardInterrupt"


def test_file_descriptors_are_shown_in_order_with_print(kernel: Session) -> None:
    ran = kernel.run(
        "import os, subprocess, sys\n"
        "print('one')\n"
        "os.write(1, b'two\\n')\n"
        "print('three')\n"
        "subprocess.run(['echo', 'four'])\n"
        "print('five')\n"
        "os.write(2, b'to stderr\\n');"
    )
    assert ran.text() == "one\ntwo\nthree\nfour\nfive\n"
    assert ran.text("stderr") == "to stderr\n"


def test_what_c_code_prints_is_shown(kernel: Session) -> None:
    assert kernel.run("import ctypes\nctypes.CDLL(None).puts(b'from C');").text() == "from C\n"


def test_a_character_split_over_two_writes_arrives_whole(kernel: Session) -> None:
    ran = kernel.run(
        "import os, time\nos.write(1, b'\\xe2\\x82'); time.sleep(0.2); os.write(1, b'\\xac\\n');"
    )
    assert ran.text() == "€\n"


def test_lone_surrogates_and_invalid_bytes_are_shown_not_lost(kernel: Session) -> None:
    ran = kernel.run("print('a\\udc80b')\nimport os\nos.write(1, b'\\xff!\\n');")
    assert ran.content["status"] == "ok"
    assert "a\\udc80b" in ran.text()
    assert "!" in ran.text()


def test_bytes_written_to_the_buffer_are_shown(kernel: Session) -> None:
    assert kernel.run("import sys\nsys.stdout.buffer.write(b'raw\\n');").text() == "raw\n"


def test_a_stream_can_be_replaced_and_its_write_assigned(kernel: Session) -> None:
    ran = kernel.run(
        "import sys\nseen = []\nkeep = sys.stdout.write\n"
        "sys.stdout.write = lambda s: (seen.append(s), keep(s))[1]\n"
        "print('x')\ndel sys.stdout.write\nseen"
    )
    assert ran.content["status"] == "ok"
    assert ran.value == "['x', '\\n']"


def test_a_value_of_bytes_in_a_mime_bundle_is_encoded(kernel: Session) -> None:
    ran = kernel.run(
        "from IPython.display import publish_display_data\npublish_display_data({'image/png': b'\\x89PNG'})"
    )
    assert ran.of("display_data")[0]["data"]["image/png"] == "iVBORw=="


def test_update_display_and_clear_output_are_messages(kernel: Session) -> None:
    ran = kernel.run(
        "h = display('a', display_id=True)\n"
        "h.update('b')\n"
        "from IPython.display import clear_output\n"
        "clear_output(wait=True)"
    )
    assert len(ran.of("update_display_data")) == 1
    assert ran.of("clear_output") == [{"wait": True}]


def test_matplotlib_draws_inline(kernel: Session) -> None:
    ran = kernel.run("import matplotlib.pyplot as plt\nplt.plot([1, 2]);")
    assert any("image/png" in m["data"] for m in ran.of("display_data"))


def test_pandas_and_rich_objects_are_shown_as_html(kernel: Session) -> None:
    ran = kernel.run("import pandas as pd\npd.DataFrame({'a': [1]})")
    assert "<table" in ran.of("execute_result")[0]["data"]["text/html"]


def test_shell_lines_and_bash_cells_are_shown(kernel: Session) -> None:
    assert "line" in kernel.run("!echo line").text()
    assert kernel.run("%%bash\necho cell").text() == "cell\n"


def test_a_circular_structure_in_a_mime_bundle_is_an_error_of_the_cell(kernel: Session) -> None:
    ran = kernel.run("d = {}\nd['d'] = d\ndisplay({'application/json': d}, raw=True)")
    assert ran.content["ename"] == "ValueError"
    deep = "d = []\nfor _ in range(100000): d = [d]\ndisplay({'application/json': d}, raw=True)"
    assert kernel.run(deep).content["ename"] == "RecursionError"
    assert kernel.value("1 + 1") == "2"


def test_numbers_of_numpy_and_dates_in_a_mime_bundle_keep_their_kind(kernel: Session) -> None:
    ran = kernel.run(
        "import datetime, numpy as np\n"
        "display({'application/json': {'i': np.int64(3), 'f': np.float32(1.5), 'a': np.arange(2),\n"
        "    'd': datetime.date(2020, 1, 2), 'nan': float('nan')}}, raw=True)"
    )
    shown = ran.of("display_data")[0]["data"]["application/json"]
    assert shown == {"i": 3, "f": 1.5, "a": [0, 1], "d": "2020-01-02", "nan": None}


def test_a_program_that_floods_the_output_does_not_hold_up_the_cell(kernel: Session) -> None:
    msg_id = kernel.send(
        "import subprocess\nflood = subprocess.Popen(['yes'])\nprint('beside it')\nflood.kill()\nflood.wait();"
    )
    assert kernel.wait(msg_id).content["status"] == "ok"


def test_fifty_megabytes_arrive_whole(kernel: Session) -> None:
    assert len(kernel.run("print('x' * 50_000_000)").text()) == 50_000_001

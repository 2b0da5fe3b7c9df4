"""A forked child shares the kernel's sockets; it must neither use them nor hang its parent."""

from __future__ import annotations

from harness import Session


def test_a_child_that_prints_is_shown_and_ends(kernel: Session) -> None:
    ran = kernel.run(
        "import os\nif (pid := os.fork()) == 0:\n    print('child')\n    os._exit(0)\nos.waitpid(pid, 0)[1]"
    )
    assert ran.text() == "child\n"
    assert ran.value == "0"


def test_a_child_that_runs_to_the_end_of_the_cell_ends_there(kernel: Session) -> None:
    ran = kernel.run(
        "import os\npid = os.fork()\nif pid: status = os.waitpid(pid, 0)[1]\n'in the kernel' if pid else 'in the child'"
    )
    assert ran.value == "'in the kernel'"
    assert len(ran.of("execute_result")) == 1
    assert kernel.value("status") == "0"


def test_an_exception_in_a_child_is_shown_and_fails_the_child_alone(kernel: Session) -> None:
    ran = kernel.run(
        "import os\nif (pid := os.fork()) == 0:\n    raise ValueError('in the child')\nos.waitpid(pid, 0)[1] != 0"
    )
    assert ran.content["status"] == "ok"
    assert ran.value == "True"
    assert "in the child" in ran.text("stderr")
    assert ran.of("error") == []


def test_dataloader_workers_that_print_do_not_hang_the_cell(kernel: Session) -> None:
    ran = kernel.run(
        "import torch\n"
        "class Noisy(torch.utils.data.Dataset):\n"
        "    def __len__(self): return 8\n"
        "    def __getitem__(self, i):\n"
        "        print('item', i)\n"
        "        return torch.tensor(i)\n"
        "loader = torch.utils.data.DataLoader(Noisy(), num_workers=2, batch_size=2)\n"
        "sorted(int(i) for batch in loader for i in batch)"
    )
    assert ran.value == "[0, 1, 2, 3, 4, 5, 6, 7]"
    assert ran.text().count("item") == 8


def test_a_process_pool_that_prints_returns_its_results(kernel: Session) -> None:
    ran = kernel.run(
        "import multiprocessing as mp\n"
        "def work(i):\n    print('working')\n    return i * i\n"
        "with mp.get_context('fork').Pool(2) as pool: squares = pool.map(work, range(4))\n"
        "squares"
    )
    assert ran.value == "[0, 1, 4, 9]"
    assert ran.text().count("working") == 4


def test_a_child_forked_by_a_task_between_cells_ends(kernel: Session) -> None:
    kernel.run(
        "import asyncio, os\n"
        "async def split():\n    global pid\n    pid = os.fork()\n"
        "task = asyncio.create_task(split())"
    )
    assert kernel.value("1 + 1") == "2"
    assert kernel.value("os.waitpid(pid, 0)[1]") == "0"


def test_a_child_forked_by_a_comm_handler_ends(kernel: Session) -> None:
    kernel.run(
        "def target(comm, message):\n    global pid\n    pid = os.fork()\n"
        "get_ipython().kernel.comm_manager.register_target('forks', target)"
    )
    content = {"comm_id": "f1", "target_name": "forks", "data": {}}
    kernel.client.shell_channel.send(kernel.client.session.msg("comm_open", content))
    assert kernel.value("os.waitpid(pid, 0)[1]") == "0"

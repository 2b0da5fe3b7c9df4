"""What the kernel lives in is broken, before it starts or by a cell: cells run, fail and show as ever."""

from __future__ import annotations

import random
from collections.abc import Iterator

from harness import Session
from soak_topics.soaked import Soaked, Try, begin, end, reason

LIMIT = "import resource as r; r.setrlimit(r.RLIMIT_"
BY_A_CELL = [
    *(f"os.close({it})" for it in range(3)),
    "os.closerange(0, 3)",
    *(f"os.dup2(os.open('/dev/full', os.O_WRONLY), {it})" for it in (1, 2)),
    # No descriptor is left, no file may grow, and no more than 64 MiB are to be had.
    LIMIT + "NOFILE, (max(map(int, os.listdir('/proc/self/fd'))) + 1, 4096))\n"
    "try:\n    while True: os.dup(0)\nexcept OSError: pass",
    LIMIT + "FSIZE, (0, 0))",
    LIMIT + "AS, (int(open('/proc/self/statm').read().split()[0]) * 4096 + (64 << 20),) * 2)",
    "import tempfile; it = tempfile.mkdtemp(); os.chdir(it); os.rmdir(it)",
    "os.environ.clear()",
    "import sys; sys.path.clear()",
    "import sys; sys.setrecursionlimit(150)",
    "import sys; sys.__stdout__ = sys.__stderr__ = None",
    "import gc; gc.set_threshold(1, 1, 1)",
    "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)",
    "get_ipython().history_manager.db.close()",
]
NOWHERE = "/dev/null/nowhere"
AT_START = {
    **{it: NOWHERE for it in ("HOME", "TMPDIR", "XDG_STATE_HOME", "IPYTHONDIR")},
    **{"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONOPTIMIZE": "2", "PYTHONDEVMODE": "1"},
    **{"PYTHONMALLOC": "debug", "MALLOC_PERTURB_": "165", "PYTHONTRACEMALLOC": "10"},
}


def assert_works(session: Session) -> None:
    session.request("kernel_info_request", channel="control")
    for number in range(3):
        assert session.value(f"{number} + 1") == str(number + 1)
        assert (text := session.run("print('here')").text()) == "here\n", f"print showed {text!r}"
        ename = session.run("1 / 0").content.get("ename")
        assert ename == "ZeroDivisionError", f"1 / 0 ended with {ename}"


def soak(soaked: Soaked, number: int, rng: random.Random) -> Iterator[Try]:
    """`number` times each, every one in a kernel of its own."""
    tries = [*((it, {}) for it in BY_A_CELL), *(("", {it: AT_START[it]}) for it in AT_START)]
    for code, env in rng.sample(tries * number, len(tries) * number):
        kind, session = code or str(env), None
        try:
            session = begin(soaked.name, env)
            # The reply to it may be what cannot come; what counts is how the kernel goes on.
            session.send(f"import os\n{code}")
            assert_works(session)
            yield Try(kind)
        except Exception as error:
            yield Try(kind, reason(error))
        if session is not None:
            end(session)

"""Registries of the interpreter and of libraries are told by a name that users know."""

from __future__ import annotations

import pytest
from shell_session import session

JOB = """
class Job:
    def __init__(self):
        self.data = np.ones(500_000)
    def go(self, *rest):
        pass
class Handler(logging.NullHandler):
    pass
job, handler = Job(), Handler()
kept = job.data
"""

REGISTERED = {
    "get_ipython().events.register('post_run_cell', job.go)": "IPython's events['post_run_cell']",
    "gc.callbacks.append(job.go)": "the list gc.callbacks[",
    "handler.data = kept; logging.getLogger('some.thing').addHandler(handler); del handler": (
        "logging's loggers['some.thing'].handlers[0].data"
    ),
    "weakref.finalize(Job, job.go)": "weakref's finalizers[",
    "sys.unraisablehook = job.go": "the hook sys.unraisablehook.__self__.data",
}


@pytest.mark.parametrize("registering", REGISTERED)
def test_who_keeps_a_registered_object_is_told(registering: str) -> None:
    printed = session(
        "run('import gc, logging, sys, weakref, numpy as np')\n"
        f"run({JOB!r})\nrun({registering!r})\nrun('del job')\nrun('%memreport kept')"
    )
    assert REGISTERED[registering] in printed


def test_a_waiting_task_of_asyncio_is_told() -> None:
    printed = session(
        "run('import asyncio, numpy as np; kept = np.ones(500_000)')\n"
        "run('async def wait(data): await asyncio.sleep(1000)')\n"
        "run('loop = asyncio.new_event_loop(); asyncio.set_event_loop(loop)')\n"
        "run('task = loop.create_task(wait(kept)); loop.run_until_complete(asyncio.sleep(0))')\n"
        "run('del task, loop')\nrun('%memreport kept')"
    )
    assert "asyncio's event loop._scheduled[0]" in printed

"""TensorFlow's own allocator refuses, in the real kernel: what stands below the traceback."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from harness import TENSORFLOW_PYTHON, Session

MIB = 1 << 20
LIMIT = f"""
import resource
import tensorflow as tf
tf.ones([1])
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + {1200 * MIB}, resource.RLIM_INFINITY))
def step(rows):
    batch = tf.ones([rows, {MIB // 4}])
    hidden = batch * 2.0
    return float(tf.reduce_sum(hidden + batch))
"""


@pytest.fixture
def kernel(start_kernel: Callable[..., Session]) -> Session:
    if not TENSORFLOW_PYTHON:
        pytest.skip("XLEAK_TENSORFLOW_PYTHON names no interpreter that has TensorFlow")
    session = start_kernel(TENSORFLOW_PYTHON)
    assert session.wait(session.send(LIMIT), 120).content["status"] == "ok"
    # TensorFlow's heap is large, and the machine may be busy.
    session.run(
        "__import__('importlib').import_module('xleak.shell.out_of_memory.autopsy')._SEARCH_MS = 1e6",
        silent=True,
    )
    return session


def test_a_tensor_that_finds_no_room_is_told_by_its_shape_and_a_smaller_step_runs(
    kernel: Session,
) -> None:
    assert kernel.run(f"kept = tf.ones([100, {MIB // 4}])").content["status"] == "ok"
    ran = kernel.run("step(500)")
    assert ran.content["ename"] == "ResourceExhaustedError"
    told = ran.of("display_data")[0]["data"]["text/plain"]
    assert told.startswith("xleak: Cell 3 asked the host for 500 MiB; ")
    assert "address-space limit" in told
    assert "`kept` 100 MiB" in told
    assert "failed frames: hold 500 MiB" in told
    # Nobody has to type anything in between.
    assert kernel.value("step(200) > 0") == "True"


def test_more_than_there_is_is_no_matter_of_releases(kernel: Session) -> None:
    told = kernel.run("tf.zeros([1 << 20, 1 << 20])").of("display_data")[0]["data"]["text/plain"]
    assert "asked the host for 4 TiB" in told
    assert "No release makes room for this" in told

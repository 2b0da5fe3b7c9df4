"""TensorFlow's tensors in a real kernel: their memory is told, and only where nothing else shows it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from harness import TENSORFLOW_PYTHON, Session, start, stop

MIB = 1 << 20
POOL = "tf.config.experimental.get_memory_info('CPU:0')['current']"


@pytest.fixture(scope="module")
def tensorflow_kernel() -> Iterator[Session]:
    if not TENSORFLOW_PYTHON:
        pytest.skip("XLEAK_TENSORFLOW_PYTHON names no interpreter that has TensorFlow")
    session = start(python=TENSORFLOW_PYTHON)
    assert session.run("import numpy as np, tensorflow as tf").content["status"] == "ok"
    yield session
    stop(session)


def shown_and_deleted(kernel: Session, made: str, kept: str = "") -> str:
    """The entry that showed a tensor of 16 MiB whose name is gone."""
    kernel.run(f"shown = {made}\n{kept}")
    number = kernel.run("shown").reply["content"]["execution_count"]
    kernel.run("del shown")
    kernel.run("after = 1")
    return f"Out[{number}]"


def test_a_shown_tensor_is_told_and_its_release_brings_the_bytes_back(
    tensorflow_kernel: Session,
) -> None:
    entry = shown_and_deleted(tensorflow_kernel, "tf.random.normal([4, 1 << 20])")
    found = tensorflow_kernel.findings()[entry]
    assert (found["code"], found["bytes"]) == ("XL401", pytest.approx(16 * MIB, rel=0.01))
    before = tensorflow_kernel.ask(POOL)
    assert "16 MiB to tensorflow" in tensorflow_kernel.run(found["fix"]).text()
    assert before - tensorflow_kernel.ask(POOL) == pytest.approx(16 * MIB, rel=0.05)
    assert entry not in tensorflow_kernel.findings()


@pytest.mark.parametrize(
    "kept",
    [
        "same = tf.identity(shown)",
        "same = np.asarray(memoryview(shown))",
        "same = [shown]",
    ],
)
def test_a_tensor_whose_memory_a_name_shows_is_not_told(
    tensorflow_kernel: Session, kept: str
) -> None:
    entry = shown_and_deleted(tensorflow_kernel, "tf.random.normal([4, 1 << 20])", kept)
    assert entry not in tensorflow_kernel.findings()
    tensorflow_kernel.run("del same")
    tensorflow_kernel.run("after = 2")
    assert entry in tensorflow_kernel.findings()
    tensorflow_kernel.run(f"%xdel {entry}")


@pytest.mark.parametrize("made", ["tf.constant(['a' * 40] * 100_000)", "tf.zeros([0, 5])"])
def test_a_tensor_without_numbers_is_no_trouble(tensorflow_kernel: Session, made: str) -> None:
    entry = shown_and_deleted(tensorflow_kernel, made)
    assert entry not in tensorflow_kernel.findings()
    assert "failed" not in tensorflow_kernel.run("%memreport").text("stderr")


def test_the_memory_of_a_name_is_that_of_its_tensors(tensorflow_kernel: Session) -> None:
    tensorflow_kernel.run("parts = [tf.ones([1 << 20]) for _ in range(3)]")
    assert "12 MiB" in tensorflow_kernel.run("%memreport parts").text()

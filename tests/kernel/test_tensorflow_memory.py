"""TensorFlow's tensors and variables in a real kernel: their memory is told, and only where nothing else
shows it."""

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


def assert_told_without(kernel: Session, made: str, kept: str) -> None:
    """What was shown is told once `same`, which `kept` binds, is gone too, and not before."""
    entry = shown_and_deleted(kernel, made, kept)
    assert entry not in kernel.findings()
    kernel.run("del same")
    kernel.run("import gc; gc.collect()")
    assert entry in kernel.findings()
    kernel.run(f"%xdel {entry}")


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
    assert_told_without(tensorflow_kernel, "tf.random.normal([4, 1 << 20])", kept)


@pytest.mark.parametrize("made", ["tf.constant(['a' * 40] * 100_000)", "tf.zeros([0, 5])"])
def test_a_tensor_without_numbers_is_no_trouble(tensorflow_kernel: Session, made: str) -> None:
    entry = shown_and_deleted(tensorflow_kernel, made)
    assert entry not in tensorflow_kernel.findings()
    assert "failed" not in tensorflow_kernel.run("%memreport").text("stderr")


def test_the_memory_of_a_name_is_that_of_its_tensors(tensorflow_kernel: Session) -> None:
    tensorflow_kernel.run("parts = [tf.ones([1 << 20]) for _ in range(3)]")
    assert "12 MiB" in tensorflow_kernel.run("%memreport parts").text()


# A kernel and a bias of 16 MiB and 16 KiB.
DENSE = "keras.Sequential([keras.Input((1024,)), keras.layers.Dense(4096)])"
WEIGHTS = 16 * MIB + (16 << 10)
TRAINED = "shown.fit(x, y, verbose=0)\ngc.collect()"


@pytest.fixture(scope="module")
def keras_kernel(tensorflow_kernel: Session) -> Session:
    assert tensorflow_kernel.run("import gc, keras").content["status"] == "ok"
    return tensorflow_kernel


@pytest.mark.parametrize(
    ("made", "used", "kept"),
    [
        ("tf.Variable(tf.random.normal([4, 1 << 20]))", "", 16 * MIB),
        ("keras.Variable(tf.zeros([4, 1 << 20]))", "", 16 * MIB),
        (DENSE, "", WEIGHTS),
        # With two moments of the gradient for each weight.
        (DENSE, "shown.compile('adam', run_eagerly=True, loss='mse')\n" + TRAINED, 3 * WEIGHTS),
        (DENSE, "shown.predict(x, verbose=0)\ngc.collect()", WEIGHTS),
    ],
)
def test_a_shown_model_is_told_and_its_release_brings_the_bytes_back(
    keras_kernel: Session, made: str, used: str, kept: int
) -> None:
    keras_kernel.run("x, y = np.zeros((8, 1024), 'f'), np.zeros((8, 4096), 'f')")
    entry = shown_and_deleted(keras_kernel, made, used)
    found = keras_kernel.findings()[entry]
    assert (found["code"], found["bytes"]) == ("XL401", pytest.approx(kept, rel=0.05))
    before = keras_kernel.ask(POOL)
    keras_kernel.run(found["fix"])
    keras_kernel.run("gc.collect()")
    assert before - keras_kernel.ask(POOL) == pytest.approx(kept, rel=0.05)
    assert entry not in keras_kernel.findings()


@pytest.mark.parametrize(
    "kept",
    [
        "same = [shown]",
        "same = shown.handle",
        "same = shown.read_value()",
        "same = tf.function(lambda: shown + 1).get_concrete_function()",
    ],
)
def test_a_variable_whose_memory_a_name_may_share_is_not_told(
    keras_kernel: Session, kept: str
) -> None:
    assert_told_without(keras_kernel, "tf.Variable(tf.ones([4, 1 << 20]))", kept)


def test_a_shown_tensor_that_was_read_from_a_named_variable_is_not_told(
    keras_kernel: Session,
) -> None:
    keras_kernel.run("weight = tf.Variable(tf.ones([4, 1 << 20]))")
    entry = shown_and_deleted(keras_kernel, "weight.read_value()")
    assert entry not in keras_kernel.findings()
    keras_kernel.run("del weight")
    keras_kernel.run("gc.collect()")
    assert entry in keras_kernel.findings()
    keras_kernel.run(f"%xdel {entry}")


@pytest.mark.parametrize(
    "made",
    [
        "tf.Variable(tf.zeros([4, 1 << 20]), shape=tf.TensorShape(None))",
        "tf.Variable(tf.zeros([4, 1 << 20]), shape=[None, 1 << 20])",
        "tf.Variable(tf.constant(['a' * 40] * 100_000))",
        "tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)",
    ],
)
def test_a_variable_whose_size_is_not_known_is_no_trouble(keras_kernel: Session, made: str) -> None:
    entry = shown_and_deleted(keras_kernel, made)
    assert entry not in keras_kernel.findings()
    assert "failed" not in keras_kernel.run("%memreport").text("stderr")


def test_several_objects_over_one_handle_are_one_memory(keras_kernel: Session) -> None:
    keras_kernel.run("first = tf.Variable(tf.ones([5 << 18]))")
    keras_kernel.run("pair = [first, keras.Variable(first), first.handle]\ndel first")
    told = keras_kernel.run("%memreport pair").text()
    assert "5 MiB that nothing else holds" in told


def test_the_memory_of_a_name_is_that_of_its_model(keras_kernel: Session) -> None:
    keras_kernel.run(f"net = {DENSE}")
    assert "16 MiB" in keras_kernel.run("%memreport net").text()
    keras_kernel.run("del net; gc.collect()")


def test_a_model_that_a_traceback_keeps_is_told(keras_kernel: Session) -> None:
    keras_kernel.run(f"def train():\n    inner = {DENSE}\n    raise ValueError(1)")
    keras_kernel.run("train()")
    keras_kernel.run("after = 3")
    found = next(it for it in keras_kernel.findings().values() if it["code"] == "XL402")
    assert found["bytes"] == pytest.approx(WEIGHTS, rel=0.05)
    before = keras_kernel.ask(POOL)
    keras_kernel.run(found["fix"])
    keras_kernel.run("gc.collect()")
    assert before - keras_kernel.ask(POOL) == pytest.approx(WEIGHTS, rel=0.05)


def test_what_tensorflow_itself_keeps_of_a_trained_model_is_not_promised(
    keras_kernel: Session,
) -> None:
    keras_kernel.run("x, y = np.zeros((8, 1024), 'f'), np.zeros((8, 4096), 'f')")
    entry = shown_and_deleted(keras_kernel, DENSE, "shown.compile('adam', 'mse')\n" + TRAINED)
    assert entry not in keras_kernel.findings()
    before = keras_kernel.ask(POOL)
    keras_kernel.run(f"%xdel {entry}")
    keras_kernel.run("keras.backend.clear_session(); gc.collect()")
    assert before - keras_kernel.ask(POOL) < MIB


def test_entries_of_a_model_that_is_in_use_are_left_in_the_table(keras_kernel: Session) -> None:
    keras_kernel.run(f"nets = [{DENSE} for _ in range(2)]")
    keras_kernel.run("for net in nets: net.compile('sgd', 'mse'); net.fit(x, y, verbose=0)")
    keras_kernel.run("del net")
    keras_kernel.run("after = 4")
    assert not [it for it in keras_kernel.findings().values() if it["code"] in ("XL501", "XL512")]

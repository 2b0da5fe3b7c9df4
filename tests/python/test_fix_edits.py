"""What an edit of `xleak fix` changes, where it stands, and where there is none."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_lint import MODEL, notebook
from xleak import source
from xleak.cli import main

TENSORS = "import torch\nfrom torch import nn\n" + MODEL


def edited(folder: Path, text: str, *options: str) -> str:
    path = folder / "a.py"
    path.write_bytes(text.encode())
    assert main(["fix", str(path), *options]) == 0
    return path.read_bytes().decode()


def fixes_of(text: str, code: str, name: str = "a.py") -> list[tuple[str, bool]]:
    """Title and safety of the fixes of a rule."""
    report = source.lint_text(name, text.encode()).report
    found = [it for it in report.findings if it.code == code]
    assert found
    return [(fix.title, fix.safe) for it in found for fix in it.fixes if fix.edits]


# --- detach -----------------------------------------------------------------------------------

LOOP = "for batch in data:\n    out = net(batch)\n    "


@pytest.mark.parametrize(
    "store",
    ["kept = []\n{}kept.append(OUT)\n", "kept = {{}}\n{}kept[batch] = OUT\n"],
)
def test_a_value_is_stored_without_its_graph(tmp_path: Path, store: str) -> None:
    before = TENSORS + store.format(LOOP).replace("OUT", "out")
    after = TENSORS + store.format(LOOP).replace("OUT", "out.detach()")
    assert edited(tmp_path, before) == after


@pytest.mark.parametrize(
    "store",
    [
        "kept = set()\n{}kept.add(out)\n",
        "kept = set()\n{}kept.add((batch, out))\n",
        "{}kept.add(out)\n",
        "kept = []\n{}kept.append({{out}})\n",
        "kept = []\n{}kept.append({{out: batch}})\n",
        "kept = []\n{}kept.append(table[out])\n",
    ],
)
def test_nothing_is_detached_into_a_set_or_a_key(tmp_path: Path, store: str) -> None:
    text = TENSORS + store.format(LOOP)
    assert edited(tmp_path, text, "--unsafe-fixes") == text


GUESSED = """
losses = []
for batch in data:
    loss = step(batch)
    loss.backward()
    losses.append(loss)
"""


def test_nothing_is_detached_that_is_only_likely_to_be_a_tensor(tmp_path: Path) -> None:
    text = "import torch\nfrom somewhere import step\n" + GUESSED
    assert edited(tmp_path, text, "--unsafe-fixes") == text
    # Two signs of a tensor are enough.
    sure = text + "    print(loss.item())\n"
    assert edited(tmp_path, sure) == sure.replace("append(loss)", "append(loss.detach())")


@pytest.mark.parametrize(
    ("returned", "is_tensor"),
    [
        ("self.fc(x)", True),
        ("torch.relu(self.fc(x)).mean(1)", True),
        ("self.fc(x), x", False),
        ("{'logits': self.fc(x)}", False),
        ("self.lstm(x)", False),
        ("self.body(x)", False),
    ],
)
def test_what_a_module_returns_is_what_its_forward_returns(
    tmp_path: Path, returned: str, is_tensor: bool
) -> None:
    text = (
        "import torch\nclass Net(torch.nn.Module):\n    def __init__(self, body):\n"
        "        super().__init__()\n        self.fc = torch.nn.Linear(2, 2)\n"
        "        self.lstm = torch.nn.LSTM(2, 2)\n        self.body = body\n"
        f"    def forward(self, x):\n        return {returned}\n"
        "net = Net(make())\nkept = []\nfor batch in data:\n    kept.append(net(batch))\n"
    )
    wanted = text.replace("append(net(batch))", "append(net(batch).detach())")
    assert edited(tmp_path, text, "--unsafe-fixes") == (wanted if is_tensor else text)


def test_what_a_transformer_returns_is_no_tensor_but_has_some(tmp_path: Path) -> None:
    text = (
        "import torch\nfrom transformers import AutoModel\n"
        "model = AutoModel.from_pretrained('x')\nwhole, states, last = [], [], []\n"
        "for batch in data:\n    whole.append(model(batch))\n"
        "    states.append(model(batch).hidden_states)\n"
        "    last.append(model(batch).last_hidden_state)\n"
    )
    wanted = text.replace(".last_hidden_state)", ".last_hidden_state.detach())")
    assert edited(tmp_path, text, "--unsafe-fixes") == wanted


GENERATOR = """
class Translator(nn.Module):
    def __init__(self):
        super().__init__()
        self.generator = nn.Linear(2, 2)
        self.critic = nn.Linear(2, 1)
        self.criterion = nn.MSELoss()

    def forward(self, real):
        self.fake = self.generator(real)

    def backward_generator(self, target):
        judged = self.critic(self.fake)
        self.loss = self.criterion(judged, target)
        self.loss.backward()
"""


def test_an_attribute_from_which_a_loss_is_computed_keeps_its_graph(tmp_path: Path) -> None:
    text = TENSORS + GENERATOR
    assert edited(tmp_path, text, "--unsafe-fixes") == text
    # So it does where the pass itself goes on with it, or whoever calls may.
    passed_on = text[: text.index("    def backward_generator")] + "        return self.fake + 1\n"
    assert edited(tmp_path, passed_on, "--unsafe-fixes") == passed_on
    shown = text[: text.index("        judged =")] + "        print(self.fake.detach().mean())\n"
    assert ".generator(real).detach()" in edited(tmp_path, shown, "--unsafe-fixes")


# --- Keras's state ----------------------------------------------------------------------------

KERAS = """import keras
def build():
    model = keras.Sequential([keras.layers.Dense(3)])
    model.compile("adam", "mse")
    return model
"""
FOLDS = "for fold in range(4):\n    model = build()\n    model.fit(x, x)\n"
IN_FUNCTION = "def score(rate):\n    model = build()\n    model.fit(x, x)\n    return 1\n"
CALLED = "scores = [score(rate) for rate in (0.1, 0.2, 0.3)]\n"


@pytest.mark.parametrize(
    ("text", "is_safe"),
    [
        (KERAS + FOLDS, True),
        (KERAS + IN_FUNCTION + CALLED, True),
        ("teacher = keras.Sequential()\n".join([KERAS, FOLDS]), False),
        (KERAS + IN_FUNCTION + "teacher = build()\n" + CALLED, False),
        (KERAS + IN_FUNCTION + CALLED + "final = build()\n", False),
        (KERAS + "keras.mixed_precision.set_global_policy('mixed_float16')\n" + FOLDS, False),
        (KERAS + "keras.utils.set_random_seed(1)\n" + FOLDS, False),
        (KERAS + "def run():\n    " + FOLDS.replace("\n", "\n    "), False),
    ],
)
def test_clearing_keras_is_safe_where_no_other_model_and_no_policy_can_be_there(
    text: str, is_safe: bool
) -> None:
    assert [safe for _title, safe in fixes_of(text, "XL501")] == [is_safe]


# --- pictures ---------------------------------------------------------------------------------

FIGURES = (
    "import matplotlib.pyplot as plt\nfor name in names:\n    plt.figure()\n    plt.plot(name)\n"
    "    plt.savefig(name)\n"
)


def test_a_fix_that_takes_a_picture_away_says_so_in_its_title() -> None:
    assert fixes_of(FIGURES, "XL405") == [("Close it when done", False)]
    [(shown, _safe)] = fixes_of(FIGURES + "plt.show()\n", "XL405")
    assert "no longer shows its picture" in shown
    for cells in (["x = 1", FIGURES], ["%matplotlib inline\n" + FIGURES]):
        [(title, _safe)] = fixes_of(notebook(*cells), "XL405", "a.ipynb")
        assert "the notebook no longer shows its picture" in title


# --- where a line goes ------------------------------------------------------------------------

STEPS = """optimizer = torch.optim.SGD(net.parameters(), 0.1)
for batch in data:
    # The batch, and
    # its loss.
    loss = net(batch).mean()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_line_goes_above_the_comments_that_explain_the_next_and_ends_like_the_others(
    tmp_path: Path, end: str
) -> None:
    text = (TENSORS + STEPS).replace("\n", end)
    wanted = text.replace("    # The batch", f"    optimizer.zero_grad(){end}    # The batch")
    assert edited(tmp_path, text, "--unsafe-fixes", "--select", "XL204") == wanted


def test_a_decorator_stands_at_its_function_below_the_comments(tmp_path: Path) -> None:
    function = "# How good it is.\ndef score(batch):\n    net.eval()\n    return net(batch).mean().item()\n"
    text = TENSORS + function + "for batch in data:\n    score(batch)\n"
    wanted = text.replace("def score", "@torch.no_grad()\ndef score")
    assert edited(tmp_path, text, "--unsafe-fixes", "--select", "XL201") == wanted


def test_a_line_below_a_block_stands_behind_the_comments_of_the_block(tmp_path: Path) -> None:
    text = (
        "def read(path):\n    file = open(path)\n    for line in file:\n        print(line)\n"
        "        # print(line.upper())\n    # Done.\n    return 1\n"
    )
    wanted = text.replace("    # Done.", "    file.close()\n    # Done.")
    assert edited(tmp_path, text, "--unsafe-fixes", "--select", "XL505") == wanted


def test_the_marker_of_a_cell_stays_above_what_is_inserted(tmp_path: Path) -> None:
    text = TENSORS + "# %% train\n# One epoch.\n" + STEPS.replace("    # The batch, and\n", "")
    after = edited(tmp_path, text, "--unsafe-fixes", "--select", "XL204")
    assert after.count("# %% train\n# One epoch.\noptimizer = ") == 1
    assert "    optimizer.zero_grad()\n    # its loss.\n" in after


# --- other fixes that were wrong ----------------------------------------------------------------


def test_a_generator_of_the_host_is_not_sent_to_a_device(tmp_path: Path) -> None:
    text = (
        "import torch\ndevice = torch.device('cuda')\nfor step in range(9):\n"
        "    noise = torch.randn(4096, 4096, generator=of_host).to(device)\n"
    )
    assert edited(tmp_path, text, "--unsafe-fixes", "--select", "XL114") == text


def test_a_step_that_draws_its_sample_by_another_library_is_not_compiled(tmp_path: Path) -> None:
    text = (
        "import numpy as np\nimport tensorflow as tf\n"
        "def sample():\n    return memory[np.random.randint(9)]\n"
        "def step():\n    batch = sample()\n    with tf.GradientTape() as tape:\n"
        "        loss = tf.reduce_mean(model(batch))\n"
        "    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))\n"
        "for turn in range(1000):\n    step()\n"
    )
    assert edited(tmp_path, text, "--unsafe-fixes", "--select", "XL503") == text
    plain = text.replace("memory[np.random.randint(9)]", "tf.random.normal((3, 3))")
    assert "@tf.function\ndef step" in edited(
        tmp_path, plain, "--unsafe-fixes", "--select", "XL503"
    )


def test_keras_2_has_no_operations_to_take() -> None:
    text = (
        "import tensorflow as tf\nimport tf_keras\ninputs = tf_keras.Input((3,))\n"
        "outputs = tf.exp(inputs)\n"
    )
    assert fixes_of(text, "XL518") == []
    assert fixes_of(text.replace("tf_keras", "keras"), "XL518") == [
        ("Take the operation of Keras", False)
    ]


@pytest.mark.parametrize(
    ("use", "is_called"),
    [
        ("answer = net.predict(x)", True),
        ("answer, state = net.predict(x)", False),
        ("answer = net.predict(x)\n    pitch = answer['pitch']", False),
    ],
)
def test_a_model_of_several_outputs_is_asked_as_before(
    tmp_path: Path, use: str, is_called: bool
) -> None:
    text = f"import keras\nnet = keras.Sequential()\nfor x in rows:\n    {use}\n"
    after = edited(tmp_path, text, "--unsafe-fixes", "--select", "XL511")
    assert ("net(x, training=False).numpy()" in after) == is_called


def test_what_a_loop_computes_from_turn_to_turn_is_not_deleted_behind_it() -> None:
    text = "sample = torch.randn(3).cuda()\nfor t in steps:\n    batch = load(t).cuda()\n"
    cells = [TENSORS, text + "    sample = net(sample + batch).cuda()\n"]
    file = source.lint_text("a.ipynb", notebook(*cells).encode())
    [found] = [it for it in file.report.findings if it.code == "XL601"]
    assert [edit.text for edit in found.fixes[0].edits] == ["\ndel batch"]


def test_several_values_that_are_shown_are_silenced_behind_the_last(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    path.write_text(notebook(TENSORS, "x = torch.zeros(999, 999)", "x, x.T  # both"))
    assert main(["fix", str(path), "--unsafe-fixes", "--select", "XL401"]) == 0
    assert "x, x.T;  # both" in path.read_text()


def test_edits_that_would_not_parse_are_not_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("xleak.lint.edits.script", lambda *_given: b"x = (")
    path = tmp_path / "a.py"
    path.write_text(TENSORS + "kept = []\n" + LOOP + "kept.append(out)\n")
    assert main(["fix", str(path)]) == 2
    assert "would leave code that Python" in capsys.readouterr().err
    assert "kept.append(out)\n" in path.read_text()

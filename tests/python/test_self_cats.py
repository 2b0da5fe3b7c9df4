"""Which assignments of a cell are taken for tensors that a loop grows."""

from __future__ import annotations

import pytest
from xleak.shell.holders.cat_reader import Scope, scopes_of, sites_run


def grown(*cells: str) -> list[str]:
    """What the last of the cells grows."""
    scopes: dict[str, Scope] = {}
    for source in cells:
        read = scopes_of(source)
        scopes = {**scopes, "": Scope([]), **read}
    return [site.target for site in sites_run(scopes.pop(""), scopes)]


@pytest.mark.parametrize(
    "body",
    ["x = cat([x, p])", "x = torch.cat((p, x), dim=0)", "x = th.vstack([x, f(p)])",
     "x = torch.cat(tensors=[x, p])", "x, y = cat([x, p]), f(p)", "x = cat([x, p]); print(x.shape)",
     "x = cat([x, p]); n = len(x)",
     "if x is None:\n        x = p\n    else:\n        x = cat([x, p])",
     "x = p if x is None else cat([x, p])",
     "if i == 0: x = p\n    else: x = cat([x, p])", "x = cat([x, p])\n    if x.numel() > 9: break",
     "x = cat([x, p]); print(f'{x.sum()}')"],
)  # fmt: skip
def test_a_loop_grows_what_it_concatenates_with_itself(body: str) -> None:
    assert grown(f"for i, p in parts:\n    {body}") == ["x"]
    assert grown(f"while True:\n    {body}") == ["x"]
    assert grown(f"def f():\n  for i, p in parts:\n    {body}", "f()") == ["x"]


@pytest.mark.parametrize(
    "body",
    ["y = cat([x, p])", "x = cat([x[1:], p])", "x = cat(x)", "x = cat([p, q])", "cat([x, p])",
     "x = empty(0); x = cat([x, p])", "x = f(x); x = cat([x, p])", "x = cat([x, f(x)])",
     "x = cat([x, p]); y = f(x)", "x = cat([x, p])[-9:]", "x = cat([x, p]); x = x[-9:]",
     "x = cat([x, p])\n    if len(x) > 9: x = empty(0)", "x, y = cat([x, p]), f(x)",
     "x = cat([x, p])\n    if i % 9 == 0: x = empty(0)", "x = cat([x, p]); del x",
     "a, b = cat([f(), g()])",
     "x = cat([x, p]) if i % 9 else p", "x = f(x) if x is None else cat([x, p])", "x = cat([x, p]); y = [g(x)]"],
)  # fmt: skip
def test_a_loop_that_shortens_it_or_reads_it_in_each_turn_grows_nothing(body: str) -> None:
    assert grown(f"x = None\nfor i, p in parts:\n    {body}") == []


@pytest.mark.parametrize(
    "source",
    ["x = cat([x, p])", "for p in parts: pass\nx = cat([x, p])", "for x in parts: x = cat([x, p])",
     "for p in parts: pass\nelse: x = cat([x, p])", "while f(x): x = cat([x, p])", "x = cat([x,",
     "def f(x, p): x = cat([x, p])\nfor p in parts: f(x, p)"],
)  # fmt: skip
def test_what_is_concatenated_once_or_needed_by_the_loop_is_not_grown(source: str) -> None:
    assert grown(source) == []


METHOD = "class Log:\n  def write(self, p):\n    self.x = cat([self.x, p])"


@pytest.mark.parametrize(
    ("cell", "sites"),
    [
        ("for p in parts: log.write(p)", ["self.x"]),
        ("[log.write(p) for p in parts]", ["self.x"]),
        ("def run():\n  for p in parts: log.write(p)\nrun()", ["self.x"]),
        ("for p in parts: log.write(p)\nprint(log.x.mean())", ["self.x"]),
        ("log.write(p)", []),
        ("for p in parts:\n  log.write(p); y = f(log.x)", []),
        ("for p in parts: other(p)", []),
    ],
)
def test_a_method_grows_an_attribute_where_a_loop_calls_it(cell: str, sites: list[str]) -> None:
    assert grown(METHOD, cell) == sites


def test_a_function_made_anew_is_read_as_it_is_now() -> None:
    now = METHOD.replace("cat([self.x, p])", "p")
    assert grown(METHOD, now, "for p in parts: log.write(p)") == []


def test_a_forward_pass_is_run_by_whoever_calls_a_module() -> None:
    net = "class Net:\n  def forward(self, ps):\n    for p in ps: x = cat([x, p])\n    return x"
    assert grown(net, "net(batch)") == ["x"]


@pytest.mark.parametrize("magic", ["%%time\n", "%%time -n\n"])
def test_a_timed_cell_is_read(magic: str) -> None:
    assert grown(f"{magic}for p in parts: x = cat([x, p])") == ["x"]


def test_names_of_the_notebook_are_told_from_a_functions_own() -> None:
    source = "def f():\n  global x\n  for p in ps:\n    x = cat([x, p])\n    y = cat([y, p])\nf()"
    scopes = scopes_of(source)
    assert {it.target: it.is_global for it in scopes["f"].sites} == {"x": True, "y": False}

"""What the source of a cell shows of containers."""

from __future__ import annotations

import tracemalloc

import pytest
from xleak.shell.holders.sign_reader import Signs, signs_of
from xleak.shell.holders.signs import SourceSigns


@pytest.mark.parametrize(
    "source",
    ["x.pop()", "x.popleft()", "x.popitem()", "x.clear()", "x.discard(1)", "x.remove(1)",
     "del x[0]", "x[:] = []", "x[i % 8] = v", "x = x[-9:]", "if len(x) > 9: pass",
     "while len(x) > 9: f()", "for n in y: x = []", "def f():\n    global x\n    x = []",
     "def reset(self):\n    self.x = {}", "a.x['k'].clear()", "%time x.pop()", "%%time\nx.pop()"],
)  # fmt: skip
def test_a_container_that_somebody_empties_or_keeps_short_is_bounded(source: str) -> None:
    assert signs_of(source).bounded("x")


@pytest.mark.parametrize(
    "source",
    ["x = []", "def f():\n    x = []\n    x.pop()", "class C:\n    x = []",
     "def __init__(self):\n    self.x = []", "x.append(1)", "print(len(x))", "y.pop()",
     "def f(x): x.clear()"],
)  # fmt: skip
def test_to_make_or_fill_a_container_bounds_nothing(source: str) -> None:
    assert not signs_of(source).bounded("x")


@pytest.mark.parametrize(
    "source",
    ["x.append(1)", "x.add(1)", "x[k] = 1", "a.x += [1]", "x.setdefault(k, 1)", "a.x.extend(y)",
     "a.x['k'].append(1)", "for n in y: x.append(n)", "[x.append(n) for n in y]"],
)  # fmt: skip
def test_a_cell_that_fills_is_told_from_a_function_that_does(source: str) -> None:
    assert signs_of(source).filled == {"x": {""}}
    within = "def f():\n    " + source
    assert signs_of(within).filled == {"x": {"f"}}
    assert signs_of(f"lambda k: {source}").filled in ({}, {"x": {"<lambda>"}})


@pytest.mark.parametrize(
    "source",
    ["for n in x: f(n)", "torch.cat(x)", "y = x[3]", "def f():\n    return x", "x.items()",
     "[n for n in a.x]", "y = x", "max(n for n in x)",
     "print(x['a'].mean())"],
)  # fmt: skip
def test_whoever_may_read_elements_uses_the_container(source: str) -> None:
    assert "x" in signs_of(source).used


@pytest.mark.parametrize(
    "source",
    ["x", "len(x)", "print(len(x), x)", "f'{len(x)}'", "sum(n.nbytes for n in x)", "x[-1].mean()",
     "x.append(1)", "x = []", "def f(x): return x", "k in x"],
)  # fmt: skip
def test_to_count_and_to_print_is_not_to_use(source: str) -> None:
    assert "x" not in signs_of(source).used


@pytest.mark.parametrize(
    "source",
    ["def f(x=[]): x.append(1)", "def f(*, x={}): x[1] = 1", "def f(y, x=list(), z=3): x.append(1)",
     "def f(x=defaultdict(list)): x[1].append(2)", "class C:\n    def f(self, x=[]): self.x = x"],
)  # fmt: skip
def test_an_empty_default_that_stays_may_grow(source: str) -> None:
    assert signs_of(source).growing_defaults == {("f", "x")}


@pytest.mark.parametrize(
    "source",
    ["def f(x=None): pass", "def f(x=[1]): x.append(1)", "def f(x=()): pass",
     "def f(x=[]): x = list(x)", "def f(x=[]):\n    x.append(1)\n    x.clear()",
     "def f(x=dict(a=1)): x[2] = 1"],
)  # fmt: skip
def test_a_default_that_is_replaced_emptied_or_not_empty_does_not(source: str) -> None:
    assert signs_of(source).growing_defaults == set()


@pytest.mark.parametrize(
    ("source", "given"),
    [("def forward(self, x):\n    self.a = x", True),
     ("def forward(self, x):\n    self.a = f(x)", False),
     ("def encode(self, x):\n    y, self.a = f(x), x", False),
     ("def forward(self, x):\n    if self.training:\n        self.a = f(x)", False)],
)  # fmt: skip
def test_a_method_that_sets_an_attribute_leaves_something(source: str, given: bool) -> None:
    assert signs_of(source).left_by_methods == {"a": given}


@pytest.mark.parametrize(
    "source",
    ["def __init__(self, x):\n    self.a = x", "self.a = x",
     "def forward(self, x):\n    if self.a is None:\n        self.a = f(x)",
     "def forward(self, x):\n    if x.shape[0] > n:\n        self.a = f(x)",
     "def forward(self, x):\n    if not hasattr(self, 'a'):\n        self.a = f(x)",
     "def reset(self):\n    self.a = None"],
)  # fmt: skip
def test_what_is_set_up_looked_up_or_let_go_is_not_left(source: str) -> None:
    assert signs_of(source).left_by_methods == {}


def test_an_attribute_is_reset_by_none_or_del() -> None:
    assert signs_of("def reset(self):\n    self.a = None").attributes_reset == {"a"}
    assert signs_of("del model.a").attributes_reset == {"a"}
    assert signs_of("def __init__(self):\n    self.a = None").attributes_reset == set()


def test_an_attribute_is_used_by_a_cell_that_reads_it() -> None:
    assert "a" in signs_of("show(model.a)").attributes_used
    assert "a" not in signs_of("print(model.a.shape)\nmodel.a = 1").attributes_used


@pytest.mark.parametrize("source", ["x = (", "\x00", "(" * 5000, ""])
def test_what_is_not_python_says_nothing(source: str) -> None:
    assert signs_of(source) == Signs()


def test_cells_with_the_same_names_take_no_room_for_each_of_them() -> None:
    signs = SourceSigns()
    sources = {index: f"x = {index}\nrows.append(x)" for index in range(1, 2001)}
    signs.read({1: sources[1]}, None)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    assert signs.read(sources, None)
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert signs.cell_that_binds("x") == 2000
    # Ten bytes a cell.
    assert grown < 20_000


def test_reading_many_cells_ends_when_a_request_comes_and_goes_on_where_it_was() -> None:
    signs, left = SourceSigns(), iter([False] * 5 + [True])
    sources = {index: f"name_{index} = 1" for index in range(1, 11)}
    assert not signs.read(sources, lambda: next(left))
    assert (signs.cell_that_binds("name_5"), signs.cell_that_binds("name_6")) == (5, None)
    assert signs.read(sources, None)
    assert signs.cell_that_binds("name_10") == 10

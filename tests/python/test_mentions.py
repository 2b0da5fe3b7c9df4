"""What the source of a cell uses of the output cache."""

from __future__ import annotations

import pytest
from xleak.shell.mentions import Mentions, find_mentions


@pytest.mark.parametrize(
    "source",
    ["_", "x = _ + 1", "f(_)", "print(_.shape)", "_ + 1\n_ = 3", "[y for y in _]",
     "%timeit _.sum()",
     "%%time\nprint(_)", "lambda: _", "def f():\n    return _", "_ += 1", "!echo {_}"],
)  # fmt: skip
def test_a_bare_underscore_is_a_mention(source: str) -> None:
    assert find_mentions(source).underscores == {"_"}


@pytest.mark.parametrize(
    "source",
    ["for _ in range(3): print(_)", "_ = 3\nprint(_)", "[_ for _ in range(3)]", "lambda _: _",
     "def f(_): return _", "from gettext import gettext as _\n_('hello')", "x, _ = f()", "a._",
     "'_'", "# _", "my_variable = 1", "_private", "with f() as _:\n    _.g()", "del _"],
)  # fmt: skip
def test_an_underscore_of_the_cell_s_own_is_none(source: str) -> None:
    assert find_mentions(source) == Mentions()


def test_the_longer_underscores_are_told_apart() -> None:
    assert find_mentions("__ + ___").underscores == {"__", "___"}


@pytest.mark.parametrize(
    "source", ["_12 * 2", "Out[12]", "y = _oh[12].T", "Out[12][0]", "%time _12"]
)
def test_an_entry_is_mentioned_by_its_number(source: str) -> None:
    found = find_mentions(source)
    assert (found.numbers, found.everything) == ({12}, False)


@pytest.mark.parametrize("source", ["list(Out)", "Out[n]", "for n in _oh: pass", "Out.get(3)"])
def test_the_bare_cache_mentions_every_entry(source: str) -> None:
    assert find_mentions(source).everything


@pytest.mark.parametrize(
    "source",
    [
        "%xdel Out[2]",
        "%xdel _2",
        "%reset -f out",
        "del Out[2]",
        "Out[2] = None",
        "print(']]'",
        "self.Out[2]",
    ],
)
def test_to_delete_an_entry_is_not_to_use_it_and_broken_source_uses_nothing(source: str) -> None:
    assert find_mentions(source) == Mentions()

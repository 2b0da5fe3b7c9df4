"""Which names a cell uses."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from xleak.shell.holders.uses import Uses


@pytest.mark.parametrize(
    ("source", "is_use"),
    [
        ("price.mean()", True),
        ("table.query('total > @price')", True),
        ("globals()['price']", True),
        ("eval('price')", True),
        ("table['price'].mean()", False),
        ("table[['price', 'rank']].mean()", False),
        ("table.loc[rows, 'price']", False),
        ("table = Table({'price': 1})", False),
    ],
)
def test_a_key_or_a_column_is_no_use_of_the_name(source: str, is_use: bool) -> None:
    assert ("price" in Uses().of(source)) is is_use


@pytest.mark.parametrize(
    ("source", "is_use"),
    [
        ("price = load()\nprice.mean()", False),
        ("price = price.dropna()", True),
        ("price += 1", True),
        ("if again:\n    price = load()\nprice.mean()", True),
        ("for price in prices:\n    print(price)", False),
        ("[price.mean() for price in prices]", False),
        ("[it for it in price]", True),
        ("with opened() as price:\n    price.read()", False),
        ("import price", False),
        ("del price", False),
    ],
)
def test_what_a_cell_gives_a_name_itself_is_no_use_of_what_it_stood_for(
    source: str, is_use: bool
) -> None:
    assert ("price" in Uses().of(source)) is is_use


@pytest.mark.parametrize(
    ("function", "is_use"),
    [
        ("def show(price):\n    return price.mean()", False),
        ("def show(*price, **rest):\n    return price", False),
        ("def show():\n    price = load()\n    return price", False),
        ("def show():\n    return price.mean()", True),
        ("def show(x=price):\n    return x", True),
        ("def show():\n    global price\n    price = price + 1", True),
        ("def show():\n    price = 1\n    return lambda: price", False),
        ("def show():\n    'The price of it.'\n    return 1", False),
        ("class show:\n    def f(self):\n        return price", True),
        ("class show:\n    price = 1\n    x = price", False),
        ("class show:\n    price = 1\n    def f(self):\n        return price", True),
        ("show = lambda price: price.mean()", False),
        ("show = lambda x: price[x]", True),
    ],
)
def test_a_parameter_or_a_variable_of_a_function_is_no_use_of_a_name(
    function: str, is_use: bool
) -> None:
    uses = Uses()
    look: Any = SimpleNamespace(sources={1: function})
    uses.read(look)
    assert ("price" in uses.of("show(other)")) is is_use


@pytest.mark.parametrize(
    ("source", "is_use"),
    [
        ("ax.set_title('price by rank')", False),
        ("print('no price for', name)", False),
        ("print(f'{name}: price unknown')", False),
        ("print(f'{price} each')", True),
        ("table.query(f'total > @price + {most}')", True),
        ("sql('select * from price')", True),
        ("%timeit -n 10 price.mean()", True),
        ("%%time\nprice.mean()", True),
        ("!echo $price", True),
        ("eval('price[0] + 1')", True),
    ],
)
def test_a_title_or_a_message_is_no_use_of_a_name(source: str, is_use: bool) -> None:
    assert ("price" in Uses().of(source)) is is_use

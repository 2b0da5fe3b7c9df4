# %% by another name, in a class inside a function
from functools import lru_cache as remembered

def build():
    class Table:
        @property
        @remembered(None)  # lint: XL404
        def total(self):
            return sum(self.rows)

    return Table

# %% without parentheses: the last 128
import functools as ft

class Grid:
    @ft.lru_cache  # lint: XL404
    def cell(self, row, column):
        return self.cells[row][column]

# %% no instance is a key
import enum
import functools

class Colours:
    @staticmethod
    @functools.lru_cache(maxsize=None)
    def parsed(text):
        return text.split()

    @classmethod
    @functools.cache
    def default(cls):
        return cls()

# %% there are as many instances as names
class Unit(enum.Enum):
    METRE = 1

    @functools.cache
    def factor(self):
        return table[self]

# %% a class by itself is made once
class Registry(type):
    @functools.lru_cache(maxsize=None)
    def named(cls, name):
        return cls.members[name]

# %% a cache on the instance
from cachetools import cachedmethod

class Volume:
    @cachedmethod(lambda self: self.cache)
    def histogram(self, bins):
        return bins

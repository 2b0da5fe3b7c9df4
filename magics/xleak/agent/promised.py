"""What the source of the session's cells asks for again: that stays."""

from __future__ import annotations

import re

from IPython.core.interactiveshell import InteractiveShell

from xleak.shell.mentions import find_mentions

_ENTRY = re.compile(r"\b(?:Out|_oh)\s*\[\s*(\d{1,100})\s*\]|(?<![\w.])_(\d{1,100})\b")
# Texts that come to mean an entry at run time: the cache's name as a key, a subscript or an attribute in a
# string, a name that is put together.
_ANY_ENTRY = re.compile(
    r"""["'](?:Out|_oh)["']|\b(?:Out|_oh)(?:\.\w|\s*\[(?!\s*\d+\s*\]))|["']_(?:%[sd]|\{|["']\s*[+%])"""
)
# What reads the last error; it may be called again. Magics go without a percent sign, too.
_ERROR = re.compile(
    r"%(?:debug|pdb|tb)\b|\b(?:i?pdb|post_mortem|print_last)\b|\blast_(?:exc|traceback|type|value)\b"
    r"|^[ \t]*(?:debug|tb)\b|magic\(\s*[\"'](?:debug|pdb|tb)\b",
    re.MULTILINE,
)


class Promised:
    """What any cell of the session mentions, those that ran while nothing was watched included."""

    def __init__(self, shell: InteractiveShell) -> None:
        self._shell = shell
        self._read = 0
        self._numbers: set[int] = set()
        self._all_outputs = False
        self._last_error = False

    def output(self, number: int) -> bool:
        """Whether an entry is mentioned by its number, or the whole cache, which may come to mean any."""
        self._read_on()
        return self._all_outputs or number in self._numbers

    def last_error(self) -> bool:
        """Whether a cell reads the last error, as the debugger does."""
        self._read_on()
        return self._last_error

    def _read_on(self) -> None:
        history = self._shell.history_manager
        sources = [] if history is None else history.input_hist_raw
        for source in sources[self._read :]:
            found = [int(out or name) for out, name in _ENTRY.findall(source)]
            self._numbers.update(found)
            if _ANY_ENTRY.search(source) or find_mentions(source).everything:
                self._all_outputs = True
            self._last_error = self._last_error or bool(_ERROR.search(source))
        self._read = len(sources)

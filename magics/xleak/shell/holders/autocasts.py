"""Autocast that is still on between cells."""

from __future__ import annotations

from collections.abc import Iterator

from xleak import _native
from xleak.shell.fields import instances, is_text
from xleak.shell.holders.counts import Counts
from xleak.shell.holders.look import Look, may_be_released

_DEVICES = ("cuda", "cpu")
# What the end of a block does, where nobody has the block; without one the depth is 0 already.
_RELEASE = (
    '(lambda torch: (torch.set_autocast_enabled("{device}", False), {leave}'
    'torch.clear_autocast_cache()))(__import__("torch"));'
)
_LEAVE = "list(iter(torch.autocast_decrement_nesting, 0)), "


class Autocasts:
    """Told once a cell trained under it, until it is switched off."""

    def __init__(self, counts: Counts) -> None:
        self._counts = counts
        self._since: dict[str, int] = {}
        """By device the cell after which it was on."""

    def after_cell(self, index: int) -> bool:
        """Whether it was switched on or off, or something trained under it."""
        before = self._since
        if before or any(map(_is_on, _DEVICES)):
            self._since = {it: before.get(it, index) for it in _DEVICES if _is_on(it)}
        trained = self._counts.recorded[-1:] == [index]
        return self._since != before or (bool(self._since) and trained)

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """One holder for each kind of device."""
        trained = max(self._counts.recorded, default=0)
        for device, since in self._since.items():
            if trained >= since and _is_on(device):
                label = f"autocast of {device}"
                release = _release(device, look)
                yield _native.Holder("autocast", label, 0, since, "weights", 1, release)


def _is_on(device: str) -> bool:
    torch = _native.fields_of_module("torch")
    try:
        return bool(torch["is_autocast_enabled"](device) and torch["is_autocast_cache_enabled"]())
    except (KeyError, TypeError):
        return False  # Of a torch that asks in another way, or none.


def _release(device: str, look: Look) -> str:
    """Leaves the block by its own object, where somebody has it; empty where it is not plain."""
    depth = _depth()
    blocks = [
        it
        for it, fields in instances(look.live, "torch.amp.autocast_mode", "autocast")
        if "prev" in fields and is_text(fields.get("device"), device)
    ]
    if depth == 0 or not blocks:
        return _RELEASE.format(device=device, leave=_LEAVE if depth else "")
    way = look.heap.way_to(blocks[0]) if depth == len(blocks) == 1 else ""
    return f"{way}.__exit__(None, None, None);" if may_be_released(way) else ""


def _depth() -> int:
    """How many blocks of autocast this thread is in."""
    torch = _native.fields_of_module("torch")
    torch["autocast_increment_nesting"]()
    return int(torch["autocast_decrement_nesting"]())

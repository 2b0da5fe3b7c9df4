"""Containers of decoded pictures."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import prod
from typing import Any

from xleak import _native
from xleak.originals import gc
from xleak.shell.fields import instances
from xleak.shell.holders.containers import Collection, collections_of
from xleak.shell.holders.look import Look, may_be_released

_MUCH_BYTES = 256 << 20
# One part in so many of the machine's memory.
_PART_OF_RAM = 20
# More than a grid to look at.
_SEVERAL = 8
# Objects of Python's alone: the pixels of PIL are in no graph of the heap.
_LEAST_BYTES = 4 << 10
# A thumbnail has no side that is longer.
_THUMBNAIL = 64
_CHANNELS = (1, 3, 4)
_ROWS = (tuple, list, dict)
# Pillow stores four bytes for each pixel of the other modes.
_PIXEL_BYTES = {"1": 1, "L": 1, "P": 1, "I;16": 2, "I;16L": 2, "I;16B": 2, "I;16N": 2}
# Without one of them in a cell, an array of three channels may be anything.
_READERS = re.compile(r"\b(?:PIL|cv2|imageio|skimage|load_img|imread|decode_image|read_image)\b")


class DecodedPictures:
    """Told once they outlived the cell that filled the container: until then they may be on the
    way into one array."""

    def __init__(self) -> None:
        self._since: dict[str, int] = {}

    def __call__(self, look: Look) -> Iterator[_native.Holder]:
        """One holder for each container."""
        found = list(_containers(look))
        self._since = {it.way: self._since.get(it.way, look.cell) for it, _, _ in found}
        for it, held, count in found:
            if self._since[it.way] == look.cell:
                look.search_again()
                continue
            look.explained.add(it.way)
            release = f"{it.way}.clear()" if may_be_released(it.way) else ""
            since = self._since[it.way]
            yield _native.Holder("pictures", it.way, held, since, "pictures", count, release)


def unread_pictures(live: _native.LiveObjects) -> set[int]:
    """The identities of the files of pictures of PIL that were opened and not read."""
    opened = [fields for _, fields in instances(live, "PIL.Image", "Image")]
    return {
        id(it.get("fp")) for it in opened if it.get("fp") is not None and _pixels_of(it) is None
    }


def _pixels_of(fields: dict[Any, Any]) -> object:
    # Before Pillow 11.1 it had the other name.
    return fields.get("_im", fields.get("im"))


def _containers(look: Look) -> Iterator[tuple[Collection, int, int]]:
    """(container, bytes of its pictures, their number)."""
    least = min(_MUCH_BYTES, _native.ram_bytes() // _PART_OF_RAM)
    pixels = {
        id(it): _pixel_bytes(fields) for it, fields in instances(look.live, "PIL.Image", "Image")
    }
    if sum(pixels.values()) >= least:
        collections = list(collections_of(look, least=_LEAST_BYTES))
    elif any(_READERS.search(source) for source in look.sources.values()):
        collections = list(collections_of(look, least=least))
    else:
        return
    for it in collections:
        if it.way in look.explained:
            continue
        parts = list(_parts(it))
        pictures = [part for part in parts if pixels.get(id(part))]
        held = sum(pixels[id(part)] for part in pictures if look.heap.keeps(it.object, part))
        arrays = [part for part in parts if _is_picture(part)]
        held += sum(look.heap.retained_by(part) for part in arrays)
        count = len(pictures) + len(arrays)
        if held >= least and count > _SEVERAL:
            yield it, held, count


def _parts(it: Collection) -> Iterator[Any]:
    """The elements, and what rows such as `(picture, label)` have."""
    for element in it.elements():
        # By tp_traverse alone.
        yield from gc.get_referents(element) if _native.is_exactly(element, _ROWS) else [element]


def _pixel_bytes(fields: dict[Any, Any]) -> int:
    """What Pillow has decoded of a picture."""
    size, mode = fields.get("_size"), fields.get("_mode")
    if _pixels_of(fields) is None or type(size) is not tuple or type(mode) is not str:
        return 0
    sides = [side for side in size if type(side) is int]
    return prod(sides) * _PIXEL_BYTES.get(mode, 4) if len(sides) == 2 else 0


def _is_picture(part: Any) -> bool:
    """Whether it is an array of the shape of one: height, width, channels."""
    array = _native.fields_of_module("numpy").get("ndarray")
    if array is None or type(part) is not array:
        return False
    shape = array.shape.__get__(part)
    if len(shape) != 3 or shape[2] not in _CHANNELS or min(shape[:2]) <= _THUMBNAIL:
        return False
    return array.dtype.__get__(part).kind in "uif" and prod(shape) > 0

"""Rich output on its way to the front end."""

from __future__ import annotations

import base64
import datetime
import json
import numbers
import sys
from collections.abc import Iterable
from typing import Any

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher

from xleak import _kernel, _native
from xleak.shell.widgets import note_sent

Bundle = dict[str, Any]

_SHOWING = ("display_data", "update_display_data", "execute_result")


@_native.out_of_sight
def as_json(value: Any) -> bytes:
    """The UTF-8 JSON of what user code made. A circular structure raises ValueError, a bottomless one
    RecursionError; a float that JSON does not know becomes null."""
    try:
        text = _native.in_sight(_encode, value)
    except ValueError:
        with_constants = _native.in_sight(_encode_with_constants, value)
        finite = json.loads(with_constants, parse_constant=lambda _: None)
        text = json.dumps(finite, ensure_ascii=False)
    return text.encode("utf-8", "replace")


def _plain(value: Any) -> Any:
    """What a type that JSON does not know is sent as; the same as in ipykernel where that sends it."""
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, (bytes, bytearray, memoryview)):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return float(value)
    if isinstance(value, Iterable):
        return list(value)
    return str(value)


_encode = json.JSONEncoder(default=_plain, ensure_ascii=False, allow_nan=False).encode
_encode_with_constants = json.JSONEncoder(default=_plain).encode


@_native.out_of_sight
def publish(
    msg_type: str, content: Bundle, metadata: Bundle | None = None, buffers: Any = None
) -> None:
    """Publish on iopub for the request that is being served."""
    if msg_type in _SHOWING:
        note_sent(content)
    _kernel.publish(msg_type, as_json([content, metadata or {}]), list(buffers or ()))


class KernelDisplayPublisher(DisplayPublisher):
    """``display()``."""

    @_native.out_of_sight
    def publish(
        self,
        data: Bundle,
        metadata: Bundle | None = None,
        source: str | None = None,
        *,
        transient: Bundle | None = None,
        update: bool = False,
        **_: Any,
    ) -> None:
        if _kernel.in_forked_child():
            print(data.get("text/plain", ""))
            return
        publish(
            "update_display_data" if update else "display_data",
            {"data": data, "metadata": metadata or {}, "transient": transient or {}},
        )

    @_native.out_of_sight
    def clear_output(self, wait: bool = False) -> None:
        publish("clear_output", {"wait": wait})


class KernelDisplayHook(DisplayHook):
    """The value of a cell's last expression."""

    _content: Bundle | None = None

    @property
    def is_showing(self) -> bool:
        """True while a value is being formatted."""
        return self._content is not None

    @_native.out_of_sight
    def start_displayhook(self) -> None:
        self._content = {"execution_count": self.prompt_count, "data": {}, "metadata": {}}

    @_native.out_of_sight
    def write_output_prompt(self) -> None:
        """The front end draws the prompt."""

    @_native.out_of_sight
    def write_format_data(self, format_dict: Bundle, md_dict: Bundle | None = None) -> None:
        if self._content is not None:
            self._content.update(data=format_dict, metadata=md_dict or {})

    @_native.out_of_sight
    def finish_displayhook(self) -> None:
        content, self._content = self._content, None
        if content is None:
            return
        if _kernel.in_forked_child():
            print(content["data"].get("text/plain", ""))
        elif content["data"]:
            publish("execute_result", content)
        _native.in_sight(sys.stdout.flush)

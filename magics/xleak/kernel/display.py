"""Rich output on its way to the front end."""

from __future__ import annotations

import json
import sys
from typing import Any

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher

from xleak import _kernel

Bundle = dict[str, Any]


def publish(
    msg_type: str, content: Bundle, metadata: Bundle | None = None, buffers: Any = None
) -> None:
    """Publish on iopub for the request that is being served."""
    try:
        _kernel.publish(msg_type, content, metadata or {}, list(buffers or ()))
    except (RuntimeError, TypeError, ValueError):
        # A type that JSON does not know, from somebody's mime bundle: shown as text, as ipykernel does.
        plain = json.loads(json.dumps([content, metadata or {}], default=str), parse_int=_number)
        _kernel.publish(msg_type, plain[0], plain[1], list(buffers or ()))


def _number(digits: str) -> int | float:
    """An integer that 64 bits hold, else the float that a browser would make of it."""
    value = int(digits)
    return value if -(2**63) <= value < 2**64 else float(value)


class KernelDisplayPublisher(DisplayPublisher):
    """``display()``."""

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

    def clear_output(self, wait: bool = False) -> None:
        publish("clear_output", {"wait": wait})


class KernelDisplayHook(DisplayHook):
    """The value of a cell's last expression."""

    _content: Bundle

    def start_displayhook(self) -> None:
        self._content = {"execution_count": self.prompt_count, "data": {}, "metadata": {}}

    def write_output_prompt(self) -> None:
        """The front end draws the prompt."""

    def write_format_data(self, format_dict: Bundle, md_dict: Bundle | None = None) -> None:
        self._content.update(data=format_dict, metadata=md_dict or {})

    def finish_displayhook(self) -> None:
        content, self._content = self._content, {}
        if _kernel.in_forked_child():
            print(content["data"].get("text/plain", ""))
        elif content["data"]:
            publish("execute_result", content)
        sys.stdout.flush()

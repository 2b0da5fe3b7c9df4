"""The widgets that ipywidgets keeps open, and which of them were sent to be shown."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from xleak import _native
from xleak.shell.fields import class_fields, loaded_class

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

OPEN_WIDGETS = "the open widgets"

_MODULE = "ipywidgets.widgets.widget"
_VIEW = "application/vnd.jupyter.widget-view+json"

_sent: list[str] = []
_is_followed = False


def open_widgets() -> dict[Any, Any]:
    """ipywidgets' registry, by model id."""
    return _registry()[1]


def is_imported() -> bool:
    """Whether there may be widgets."""
    return _MODULE in sys.modules


def registry_expression() -> str:
    """An expression for the registry, where ipywidgets is imported."""
    return f'__import__("sys").modules["{_MODULE}"].{_registry()[0]}'


def _registry() -> tuple[str, dict[Any, Any]]:
    """(where it is, itself): the module has it, in older versions the class."""
    names = _native.fields_of_module(_MODULE)
    owner = loaded_class(_MODULE, "Widget")
    of_class = class_fields(owner) if owner is not None else {}
    places = {
        "_instances": names.get("_instances"),
        "Widget._active_widgets": of_class.get("_active_widgets"),
        "Widget.widgets": of_class.get("widgets"),
    }
    for place, found in places.items():
        if type(found) is dict:
            return place, found
    return "", {}


def widget_slots(shell: InteractiveShell) -> Iterator[tuple[dict[Any, Any], object, str]]:
    """(dictionary, its own key, label) of what keeps each open widget: its entry in the registry,
    and its comm, which calls it back."""
    registry = open_widgets()
    for entries in (registry, _comms(shell)) if registry else ():
        known = set(_native.names_in(registry))
        for key in _native.names_in(entries):
            if key in known:
                yield entries, key, OPEN_WIDGETS


def _comms(shell: InteractiveShell) -> dict[Any, Any]:
    manager = getattr(getattr(shell, "kernel", None), "comm_manager", None)
    if manager is None:
        manager = _native.fields_of_module("comm").get("_comm_manager")
    found = getattr(manager, "comms", None)
    return found if type(found) is dict else {}


# --- what was shown --------------------------------------------------------------------------


def follow_shown() -> None:
    """Called by a kernel that tells of all that it sends."""
    global _is_followed
    _is_followed = True


def shown_is_known() -> bool:
    """Whether the kernel tells what it sends to be shown."""
    return _is_followed


def note_sent(content: dict[str, Any]) -> None:
    """Notes the widget in the content of a message of display, where it has one."""
    model_id = model_in(content)
    if model_id:
        _sent.append(model_id)


def take_sent() -> list[str]:
    """The model ids that were noted since the last call."""
    taken = _sent.copy()
    del _sent[: len(taken)]
    return taken


def model_in(output: Any) -> str:
    """The model id of the widget that an output shows; empty where it shows none."""
    for key in ("data", _VIEW, "model_id"):
        # The data of an output may be the user's own.
        output = _native.value_at(output, key)
    return output if type(output) is str else ""

"""Where a line of xleak's can stand: under the cell that runs, or under one that has ended, where its
client still reads."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from IPython.display import display

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

Bundle = dict[str, Any]
Header = Mapping[str, Any]

# As many as the kernel keeps of its own.
_MOST_KEPT = 1000
_VS_CODE = ("vscode-notebook-cell:", "vscode-interactive:")


@dataclass(frozen=True)
class CellRequest:
    """The request of a cell, by the cell's index."""

    index: int
    header: Header
    metadata: Mapping[str, Any]

    @property
    def reads_on(self) -> bool:
        """Whether what is published after the cell's idle reaches its output area.

        JupyterLab and Notebook 7 keep the future of a cell until it runs again; they alone send which
        cells were deleted. VS Code listens on as long as the cell is there; it names a cell by its
        address. nbclient, jupyter console and the clients of jupyter_client end with the idle of the
        request; they send no metadata, or the cell's id alone. Any other client is taken for one of
        those: all of them show a line on top of the next cell.
        """
        return type(self.metadata.get("deletedCells")) is list or (
            self.cell_id is not None and self.cell_id.startswith(_VS_CODE)
        )

    @property
    def cell_id(self) -> str | None:
        """The front end's name of the cell."""
        name = self.metadata.get("cellId")
        return name if type(name) is str else None

    def has_lost(self, cell_id: str | None) -> bool:
        """Whether the front end says here that it deleted a cell."""
        gone = self.metadata.get("deletedCells")
        return type(gone) is list and cell_id is not None and cell_id in gone


class CellOutputs(Protocol):
    """The outputs of one front end's cells."""

    can_update: bool
    """Whether a line can be changed after it was shown."""

    def requests_since(self, index: int) -> list[CellRequest]:
        """What is kept of the requests of this cell and of those after it, oldest first."""

    def show_under(self, header: Header, msg_type: str, content: Bundle) -> None:
        """Publishes for a request that was served before."""


def place_of(outputs: CellOutputs, index: int) -> Header | None:
    """The header of the request whose output area is that of a cell now; None where its client does
    not read on, or deleted it."""
    requests = outputs.requests_since(index)
    if not requests or requests[0].index != index or not requests[0].reads_on:
        return None
    first, *later = requests
    place: Header | None = first.header
    for request in later:
        if first.cell_id is not None and request.cell_id == first.cell_id:
            # A cell that runs again has a new future; the old one is gone.
            place = request.header
        elif request.has_lost(first.cell_id):
            place = None
    return place


def show(
    outputs: CellOutputs, place: Header | None, data: Bundle, display_id: str, update: bool
) -> None:
    """Shows what `display` would; place None: under the cell that runs."""
    if place is None:
        display(data, raw=True, display_id=display_id, update=update)
        return
    content = {"data": data, "metadata": {}, "transient": {"display_id": display_id}}
    outputs.show_under(place, "update_display_data" if update else "display_data", content)


class TerminalOutputs:
    """Of a shell without a kernel: what was printed cannot be changed."""

    can_update = False

    def requests_since(self, index: int) -> list[CellRequest]:
        """None are kept."""
        return []

    def show_under(self, header: Header, msg_type: str, content: Bundle) -> None:
        """Never called: there is no such header."""


class IpykernelOutputs:
    """Of ipykernel, or another kernel with its session and iopub socket."""

    can_update = True

    def __init__(self, shell: InteractiveShell) -> None:
        self._kernel: Any = getattr(shell, "kernel", None)
        self._requests: deque[CellRequest] = deque(maxlen=_MOST_KEPT)

    def keep(self, index: int) -> None:
        """Keeps the request that is being served: that of the cell whose account has begun."""
        try:
            parent = self._kernel.get_parent("shell")
            header, metadata = parent["header"], parent["metadata"]
        except Exception:
            # A kernel of another kind: its lines stand on top of the next cell.
            return
        if metadata:
            self._requests.append(CellRequest(index, header, metadata))

    def requests_since(self, index: int) -> list[CellRequest]:
        """See CellOutputs."""
        return [request for request in self._requests if request.index >= index]

    def show_under(self, header: Header, msg_type: str, content: Bundle) -> None:
        """See CellOutputs."""
        kernel = self._kernel
        kernel.session.send(kernel.iopub_socket, msg_type, content, parent=header)

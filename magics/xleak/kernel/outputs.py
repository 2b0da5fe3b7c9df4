"""The outputs of cells that have ended, as this kernel reaches them."""

from __future__ import annotations

import json

from xleak import _kernel
from xleak.shell.cell_outputs import Bundle, CellRequest, Header


class KernelOutputs:
    """Publishes with the header of an earlier request; that of the present one stays as it is."""

    can_update = True

    def requests_since(self, index: int) -> list[CellRequest]:
        """See CellOutputs."""
        kept = [(cell, json.loads(text)) for cell, text in _kernel.requests_since(index)]
        return [CellRequest(cell, it["header"], it["metadata"]) for cell, it in kept]

    def show_under(self, header: Header, msg_type: str, content: Bundle) -> None:
        """See CellOutputs."""
        _kernel.publish_after(msg_type, json.dumps([header, content]))

"""What libraries look for in ``get_ipython().kernel``, where ipykernel has its kernel object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xleak import _kernel
from xleak.kernel import comms
from xleak.kernel.display import publish
from xleak.shell.widgets import follow_shown

if TYPE_CHECKING:
    from xleak.kernel.shell import KernelShell


class IopubSession:
    """``kernel.session.send(kernel.iopub_socket, …)`` publishes; other sockets are the kernel's own."""

    def send(
        self,
        stream: object,
        msg_or_type: str,
        content: dict[str, Any] | None = None,
        parent: object = None,
        ident: object = None,
        buffers: Any = None,
        metadata: dict[str, Any] | None = None,
        **_: Any,
    ) -> None:
        if stream is not IOPUB:
            raise ValueError(
                "xleak's kernel sends for others on iopub alone; pass kernel.iopub_socket."
            )
        publish(msg_or_type, content or {}, metadata, buffers)


IOPUB = object()


class KernelFacade:
    """The kernel as seen from Python."""

    def __init__(self, shell: KernelShell) -> None:
        self.shell = shell
        self.comm_manager = comms.install()
        self.iopub_socket = IOPUB
        self.session = IopubSession()
        follow_shown()

    def get_parent(self, channel: str | None = None) -> dict[str, Any]:
        """Header and metadata of the request that is being served."""
        return _kernel.parent() or {}

    @property
    def _parent_header(self) -> dict[str, Any]:
        """The older name of get_parent(), which libraries still use."""
        return self.get_parent()

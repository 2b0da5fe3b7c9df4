"""The kernel as Jupyter's files describe it."""

from __future__ import annotations

import sys
from typing import Any

from jupyter_client.kernelspec import KernelSpec, KernelSpecManager, NoSuchKernel

NAME = "xleak"
DISPLAY_NAME = "Python 3 (xleak)"


def own_kernel() -> dict[str, Any]:
    """The content of kernel.json for this interpreter."""
    return {
        "argv": [sys.executable, "-m", "xleak.kernel", "-f", "{connection_file}"],
        "display_name": DISPLAY_NAME,
        "language": "python",
        "metadata": {"debugger": True},
    }


class KernelSpecs(KernelSpecManager):  # type: ignore[misc, unused-ignore]
    """Jupyter's kernels; where none is named xleak, this interpreter's own stands in."""

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
        """The description of a kernel. Raises NoSuchKernel."""
        try:
            return super().get_kernel_spec(kernel_name)
        except NoSuchKernel:
            if kernel_name != NAME:
                raise
            return KernelSpec(**own_kernel())

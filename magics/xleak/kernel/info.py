"""What the kernel says that it is."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

from xleak import _native


def kernel_info(banner: str) -> dict[str, Any]:
    """The content of a kernel_info_reply."""
    version = sys.version_info
    return {
        "status": "ok",
        "protocol_version": "5.3",
        "implementation": "xleak",
        "implementation_version": _native.__version__,
        "banner": banner,
        "language_info": {
            "name": "python",
            "version": f"{version.major}.{version.minor}.{version.micro}",
            "mimetype": "text/x-python",
            "codemirror_mode": {"name": "ipython", "version": version.major},
            "pygments_lexer": "ipython3",
            "nbconvert_exporter": "python",
            "file_extension": ".py",
        },
        "help_links": [
            {
                "text": "Python",
                "url": f"https://docs.python.org/{version.major}.{version.minor}",
            }
        ],
        "debugger": True,
        "supported_features": ["debugger"],
    }


def banner_before_import() -> str:
    """The banner while IPython is not imported yet: without a tip, and without what its configuration adds."""
    return (
        f"Python {sys.version.splitlines()[0]}\n"
        "Type 'copyright', 'credits' or 'license' for more information\n"
        f"IPython {_ipython_version()} -- An enhanced Interactive Python. Type '?' for help.\n"
    )


def _ipython_version() -> str:
    release: dict[str, Any] = {}
    package = importlib.util.find_spec("IPython")
    for folder in (package and package.submodule_search_locations) or ():
        path = Path(folder) / "core" / "release.py"
        if path.exists():
            # The module alone: its package takes most of the start to import, and importlib.metadata some.
            exec(compile(path.read_bytes(), path, "exec"), release)
    return str(release.get("version", ""))

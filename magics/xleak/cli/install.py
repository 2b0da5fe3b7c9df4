"""`xleak install`: tells Jupyter about the kernel of this interpreter."""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from pathlib import Path

from xleak import resources
from xleak.cli import output
from xleak.cli.problem import Problem
from xleak.render.table import printable

try:
    from jupyter_client.kernelspec import KernelSpecManager

    from xleak.cli.kernels import NAME, own_kernel
except ImportError as missing:
    raise Problem(f"needs {missing.name}. Install it with: pip install 'xleak[run]'") from missing


def install(arguments: argparse.Namespace) -> int:
    """Writes the kernelspec where the arguments say and prints that place."""
    with tempfile.TemporaryDirectory() as folder:
        staged = Path(folder) / "kernel"
        _stage(staged, arguments)
        try:
            place = KernelSpecManager().install_kernel_spec(
                str(staged), arguments.name, user=arguments.user, prefix=arguments.prefix
            )
        except ValueError as invalid:
            raise Problem(str(invalid)) from None
        except OSError as refused:
            raise Problem(
                f"cannot write {refused.filename}: {refused.strerror}. "
                "Try --user, or --sys-prefix for this Python environment."
            ) from None
    with output.to_stdout() as stream:
        print(
            f"Installed kernelspec {arguments.name.lower()} in {printable(str(place))}", file=stream
        )
    return 0


def _stage(folder: Path, arguments: argparse.Namespace) -> None:
    folder.mkdir()
    for logo in resources.kernelspec().glob("logo-*"):
        shutil.copy(logo, folder)
    description = own_kernel()
    if arguments.display_name:
        description["display_name"] = arguments.display_name
    elif arguments.name != NAME:
        description["display_name"] = arguments.name
    if arguments.env:
        description["env"] = dict(arguments.env)
    (folder / "kernel.json").write_text(json.dumps(description, indent=1) + "\n")

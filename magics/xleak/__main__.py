"""`python -m xleak`."""

from __future__ import annotations

import sys

from xleak.cli import main

sys.exit(main())

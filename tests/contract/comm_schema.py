"""The schema of the comm, for every test that sees its messages."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
from referencing import Registry, Resource

COMM = Path(__file__).parents[2] / "share" / "comm"
SCHEMA: dict[str, Any] = json.loads((COMM / "v1.schema.json").read_text())
VERDICT: dict[str, Any] = json.loads((COMM / "verdict.v1.schema.json").read_text())


@cache
def validator(side: str) -> Any:
    """Of messages `fromKernel` or `fromFrontEnd`."""
    schemas = [(it["$id"], Resource.from_contents(it)) for it in (SCHEMA, VERDICT)]
    registry: Registry[Any] = Registry().with_resources(schemas)
    shape = {"$ref": f"{SCHEMA['$id']}#/$defs/{side}"}
    return jsonschema.Draft202012Validator(shape, registry=registry)

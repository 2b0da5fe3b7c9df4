"""The examples beside the schema of the comm, which the guards of the kernel must judge alike."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from comm_schema import COMM, SCHEMA, validator
from xleak.panel import messages
from xleak.panel.requests import REQUESTS, Refused, read

EXAMPLES = COMM / "examples" / "v1"
SIDES = {"from_kernel": "fromKernel", "from_front_end": "fromFrontEnd"}


def examples(*folders: str) -> list[Path]:
    found = [path for folder in folders for path in sorted((EXAMPLES / folder).glob("*.json"))]
    assert found
    return found


def content(path: Path) -> Any:
    return json.loads(path.read_text())


def of_its_side(path: Path) -> Any:
    return validator(SIDES[path.parent.parent.name])


def named(path: Path) -> str:
    return f"{path.parent.parent.name}-{path.stem}"


def test_the_schema_is_itself_valid() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize(
    "example", examples("from_kernel/valid", "from_front_end/valid"), ids=named
)
def test_a_valid_example_is_accepted(example: Path) -> None:
    of_its_side(example).validate(content(example))


@pytest.mark.parametrize(
    "example", examples("from_kernel/invalid", "from_front_end/invalid"), ids=named
)
def test_an_invalid_example_is_refused(example: Path) -> None:
    assert not of_its_side(example).is_valid(content(example))


@pytest.mark.parametrize("example", examples("from_front_end/valid"), ids=named)
def test_the_kernel_reads_what_the_schema_accepts(example: Path) -> None:
    shape = content(example)
    request = read(shape, [])
    assert {"id": request.id, "kind": request.kind, **request.arguments} == shape


@pytest.mark.parametrize("example", examples("from_front_end/invalid"), ids=named)
def test_the_kernel_refuses_what_the_schema_refuses(example: Path) -> None:
    with pytest.raises(Refused, match=r"^[A-Za-z].*\.$"):
        read(content(example), [])


def test_every_request_that_the_kernel_takes_has_a_valid_example() -> None:
    assert {content(path)["kind"] for path in examples("from_front_end/valid")} == REQUESTS.keys()


@pytest.mark.parametrize("side", SIDES.values())
def test_no_message_of_one_side_is_one_of_the_other(side: str) -> None:
    folder = next(name for name, other in SIDES.items() if other != side)
    assert not any(validator(side).is_valid(content(it)) for it in examples(f"{folder}/valid"))


def test_what_the_kernel_builds_is_valid() -> None:
    shape = content(EXAMPLES / "from_kernel" / "valid" / "session.json")
    cells, findings = shape["cells"], shape["findings"]
    for message in (
        messages.hello(list(REQUESTS)),
        messages.session(1, cells, 4, findings, "report", 2),
        messages.cell(cells[0]),
        messages.findings(changed=findings),
        messages.findings(3, added=findings, dismissed_now=1),
        messages.done(1),
        messages.progress(None, 1),
        messages.process(325058560),
        messages.policy("auto"),
        messages.released([findings[0]["id"]], {"malloc": 16}, ["Out[2]: came back"]),
        messages.error(None, "A request has an id, a number from 1 up."),
    ):
        validator("fromKernel").validate(message)


@pytest.mark.parametrize("kind", ["names", "path", "census", "devices"])
def test_an_answer_is_of_the_kind_of_its_request(kind: str) -> None:
    shape = content(EXAMPLES / "from_kernel" / "valid" / f"{kind}.json")
    fields = {name: it for name, it in shape.items() if name not in ("kind", "request")}
    assert messages.answer(shape["request"], kind, fields) == shape

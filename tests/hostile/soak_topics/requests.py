"""What a panel asks, rightly and wrongly: an answer of the schema, or a refusal in one sentence."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from functools import partial
from typing import Any

from comm_schema import COMM, validator
from harness import Message
from panel_client import PanelClient
from soak_topics.soaked import Soaked, Try
from test_panel import NO_REQUESTS

EXAMPLES = COMM / "examples" / "v1" / "from_front_end"
RIGHT, WRONG = (
    [json.loads(it.read_text()) for it in sorted((EXAMPLES / side).glob("*.json"))]
    for side in ("valid", "invalid")
)
# A front end's gate lets 60 through in two seconds.
ASKED_BY_ONE = 50
# What there is to find and to ask about.
SOURCES = [
    "value = bytearray(8 << 20)\nview = memoryview(value)\nview",
    *("del value", "kept = [bytearray(4 << 20)]\nkept", "kept = []\n1 / 0"),
]
NAMES = ["kept", "value", "view", "Out[2]", "Out[999]", "_", "nowhere", "get_ipython", "x y", "é"]
ODD: list[Any] = [None, True, -1, 2**63, 1.5, "", "x" * 70_000, [], {}, [[[[]]]], "\x00", "ü"]


def right(found: list[str], rng: random.Random) -> Message:
    """A request of the schema, about what is there and what is not."""
    request: Message = dict(rng.choice(RIGHT))
    finding, name = rng.choice([*found, "ffffffff-9"]), rng.choice(NAMES)
    some: Message = {"finding": finding, "fix": rng.randrange(2), "name": name}
    some |= {"dry_run": rng.random() < 0.5, "number": rng.randrange(1, 9)}
    return {name: some.get(name, value) for name, value in request.items()}


def wrong(request: Message, rng: random.Random) -> Any:
    """What the schema refuses."""
    while True:
        key = rng.choice(["x", *request])
        changed = [{**request, key: rng.choice(ODD)}, {**request, key: None}]
        data = rng.choice([*changed, rng.choice([*WRONG, *NO_REQUESTS])])
        if not validator("fromFrontEnd").is_valid(data):
            return data


def ask(panel: PanelClient, data: Any, is_right: bool) -> None:
    if is_right:
        # The client numbers its requests, and checks each answer against the schema.
        answer = panel.ask(**{it: value for it, value in data.items() if it != "id"})
    else:
        panel.post_data(data)
        answer = panel.wait_for("error")
    if answer["kind"] == "error":
        said = answer["message"]
        is_sentence = re.fullmatch(r"(?!.*[.!?] [A-Z]).{5,2000}\.", said)
        assert is_sentence and "This failed" not in said, f"{said!r} to {str(data)[:100]}"


def soak(soaked: Soaked, number: int, rng: random.Random) -> Iterator[Try]:
    panel: PanelClient | None = None
    found = list[str]()
    for at in range(number):
        if panel is None:
            panel = PanelClient(soaked.session.client)
            panel.ask("subscribe")
        if at % 10 == 0:
            soaked.session.run(SOURCES[at // 10 % len(SOURCES)])
            found = [it["id"] for it in panel.ask("findings")["added"]]
        data, is_right = right(found, rng), rng.random() < 0.5
        kind = data["kind"] if is_right else "no request"
        data = data if is_right else wrong(data, rng)
        what = partial(ask, panel, data, is_right)
        tried = soaked.attempt(kind, lambda _: what())  # noqa: B023
        if tried.wrong or (at + 1) % ASKED_BY_ONE == 0:
            # What comes late is not to be the answer to the next.
            panel.close()
            panel = None
        yield tried

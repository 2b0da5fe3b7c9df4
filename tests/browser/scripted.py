"""A kernel that says over its comms what a test wants, and answers some requests so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Message = dict[str, Any]
EXAMPLES = (
    Path(__file__).parents[2] / "share" / "comm" / "examples" / "v1" / "from_kernel" / "valid"
)

_SEND = """
import json
from comm import get_comm_manager
for panel in list(get_comm_manager().comms.values()):
    for message in json.loads({messages!r}):
        panel.send(message)
"""

# What is not asked for here goes to the kernel itself.
_ANSWER = """
import json
from comm import get_comm_manager

def answering(panel, kernel):
    def answer(message):
        data = message["content"]["data"]
        answers = json.loads({answers!r}).get(data["kind"])
        if answers is None:
            return kernel(message)
        for it in answers:
            panel.send({{**it, "request": it["request"] and data["id"]}})
    return answer

for panel in list(get_comm_manager().comms.values()):
    panel.on_msg(answering(panel, panel._msg_callback))
"""


def example(name: str, **other: Any) -> Message:
    """A message as the contract has it, with some fields of its own."""
    message: Message = json.loads((EXAMPLES / f"{name}.json").read_text())
    return {**message, **other}


def sending(*messages: Message) -> str:
    """A cell in which the kernel sends these to every panel."""
    return _SEND.format(messages=json.dumps(messages))


def answering(**answers: list[Message]) -> str:
    """A cell after which requests of these kinds are answered so; a request of null stays one."""
    return _ANSWER.format(answers=json.dumps(answers))

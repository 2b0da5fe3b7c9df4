"""Cells as people run them, a few queued at a time: right reply, right output, right count, busy and idle, in order."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from harness import TIMEOUT, Message, Ran, Session
from soak_topics.soaked import Soaked, Try

ASSIGN, ASK = "v = @", "input(f'{v}?')"
# What each shows. @ is a number, # that of the cell.
LASTING = {
    ASSIGN: [],
    "v * 10": ["execute_result # @0"],
    "v * 10;": [],
    "# v": [],
    "_ is Out[max(Out)]": ["execute_result # True"],
    "print(v, 'ä ✓')": ["stdout @ ä ✓\n"],
    "print('x' * 100_000, v)": [f"stdout {'x' * 100_000} @\n"],
    "import sys\nprint(v, file=sys.stderr)": ["stderr @\n"],
    "from threading import Thread\nt = Thread(target=print, args=[v])\nt.start(); t.join()": [
        "stdout @\n"
    ],
    "import asyncio\nawait asyncio.sleep(0.001, v)": ["execute_result # @"],
    "def f@(x): return x - v\nf@(2 * @)": ["execute_result # @"],
    "display(v)": ["display_data @"],
    "shown = display(v, display_id=True)\nshown.update([v])": [
        "display_data @",
        "update_display_data [@]",
    ],
    "print(v)\ndisplay(v)\nprint(v)\nv": [
        *("stdout @\n", "display_data @", "stdout @\n", "execute_result # @")
    ],
    "from IPython.display import clear_output\nprint(v)\nclear_output()": [
        "stdout @\n",
        "clear_output ",
    ],
    "%%capture it\nprint(v)": [],
}
CELLS = {
    **LASTING,
    "!echo {v}": ["stdout @\n"],
    "raise ValueError(v)": ["error ValueError @"],
    "print(v)\n[v][1]": ["stdout @\n", "error IndexError list index out of range"],
    ASK: ["execute_result # '@!'"],
}
FIELDS = {
    "error": ("ename", "evalue"),
    "status": ("execution_state",),
    "execute_input": ("execution_count", "code"),
}


def essence(message: Message) -> str:
    content, kind = message["content"], message["msg_type"]
    if kind == "stream":
        return f"{content['name']} {content['text']}"
    data = {**content, "text": content.get("data", {}).get("text/plain", "")}
    default = ("execution_count", "text") if kind == "execute_result" else ("text",)
    return " ".join([kind, *(str(data[it]) for it in FIELDS.get(kind, default))])


def joined(outputs: list[str]) -> list[str]:
    """How a text is cut into messages is the kernel's."""
    found: list[str] = []
    for name, group in groupby(outputs, lambda it: it.split(" ")[0]):
        texts = [it.removeprefix(f"{name} ").replace("\r\n", "\n") for it in group]
        found += [f"{name} {it}" for it in (["".join(texts)] if name.startswith("std") else texts)]
    return found


def judge(code: str, outputs: list[str], count: int, ran: Ran) -> str:
    """What is wrong of a cell."""
    outputs = [it.replace("#", str(count)) for it in outputs]
    expected = ["status busy", f"execute_input {count} {code}", *outputs, "status idle"]
    seen = joined([essence(it) for it in ran.outputs])
    ename = next((it.split()[1] for it in outputs if it.startswith("error")), None)
    wanted = {"status": "error" if ename else "ok", "execution_count": count, "ename": ename}
    reply = {it: ran.content.get(it) for it in wanted}
    if (seen, reply) == (expected, wanted):
        return ""
    return f"{seen[1:-1]}, {reply} in place of {expected[1:-1]}, {wanted}"[:300]


def listen(session: Session, channel: str) -> list[str]:
    """The requests to which all belongs that comes, also what the harness passes over."""
    heard: list[str] = []
    # The client's own, whatever stands in its place.
    inner = getattr(type(session.client), f"get_{channel}_msg")

    def get(**options: Any) -> Any:
        message = inner(session.client, **options)
        heard.append(message["parent_header"].get("msg_id", ""))
        return message

    setattr(session.client, f"get_{channel}_msg", get)
    return heard


def run(session: Session, codes: list[str], number: str) -> list[Ran]:
    """Sends all before the first has ended."""
    replies, published, found = listen(session, "shell"), listen(session, "iopub"), []
    ids = [session.send(it, allow_stdin=it == ASK, stop_on_error=False) for it in codes]
    for code, msg_id in zip(codes, ids, strict=True):
        if code == ASK:
            prompt = session.client.get_stdin_msg(timeout=TIMEOUT)["content"]["prompt"]
            assert prompt == f"{number}?", f"the prompt was {prompt!r}"
            session.client.input(f"{number}!")
        found.append(session.wait(msg_id))
    assert replies == ids, f"replies out of order, or too many: {codes}"
    assert [it for it, _ in groupby(published)] == ids, f"messages of other cells: {codes}"
    return found


def soak(soaked: Soaked, number: int, rng: random.Random) -> Iterator[Try]:
    soaked.session.run("0")
    while number > 0:
        chosen = [ASSIGN, *rng.choices(list(CELLS), k=rng.randrange(1, 6))][:number]
        number, v = number - len(chosen), str(rng.randrange(1, 10**6))
        codes, rans = [it.replace("@", v) for it in chosen], list[Ran]()
        count = soaked.session.ask("get_ipython().execution_count")
        tried = soaked.attempt("", lambda it: rans.extend(run(it, codes, v)))  # noqa: B023
        for at, kind in enumerate(chosen):
            outputs = [it.replace("@", v) for it in CELLS[kind]]
            wrong = tried.wrong or judge(codes[at], outputs, count + at, rans[at])
            yield Try(repr(kind), wrong)

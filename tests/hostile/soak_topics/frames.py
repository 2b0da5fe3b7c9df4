"""Frames that no honest front end sends: the kernel answers afterwards, and no code of theirs has run."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

from harness import Session
from soak_topics.soaked import Soaked, Try
from test_hostile_messages import CONTENTS, DEEP, REQUESTS
from test_odd_messages import COMMS, NEED_CODE, OTHERS
from test_signatures import COUNT, execute, is_answered, parts, send

MARK = b"<IDS|MSG>"
JUNK = [b"", b"{", b"}", b"\xff\xfe", b'{"a": 1}}', b"{'a': 1}", b"nul", DEEP]
NO_TYPES: list[Any] = [
    *OTHERS,
    5,
    None,
    [],
    {},
    ["execute_request"],
    "EXECUTE_REQUEST",
    "execute_request\0",
]
# By how often each comes: large ones take most of the time.
KINDS = {
    **{"huge": 1, "bad signature": 5, "changed after signing": 5, "missing parts": 5},
    **{"bad JSON": 5, "unknown type": 5, "wrong content": 5, "replayed": 5, "wrong idents": 5},
}


def frames(kind: str, session: Session, rng: random.Random) -> list[bytes]:
    message, known = execute(session), parts(session, "kernel_info_request", {})
    sign, at = session.client.session.sign, rng.randrange(4)
    signature, info = sign(message), [MARK, sign(known), *known]
    if kind == "bad signature":
        other = sign(execute(session, "1"))
        cut = signature[: rng.randrange(64)]
        wrong = [b"", cut, signature + b"0", signature.swapcase(), other, rng.randbytes(64)]
        return [MARK, rng.choice(wrong[:3] + wrong[4:]), *message]
    if kind == "changed after signing":
        message[at] = message[at][:-1] + rng.choice([b" }", b',"x":1}', b"}}"])
        return [MARK, signature, *message]
    if kind == "missing parts":
        few = message[:at]
        return rng.choice([[MARK, sign(few), *few], [signature, *message], [MARK], [b""]])
    if kind == "bad JSON":
        message[at] = rng.choice([*JUNK, rng.randbytes(50)])
    elif kind == "huge":
        big = b"x" * (rng.randrange(1, 17) << 20)
        message[3] = json.dumps({"code": COUNT, "big": big.decode()}).encode()
        return rng.choice([[MARK, signature, *message], [big, *info], [*info, big, big], [big] * 3])
    elif kind == "unknown type":
        header = {**json.loads(message[0]), "msg_type": rng.choice(NO_TYPES)}
        message[0] = json.dumps(header).encode()
    elif kind == "wrong content":
        message = parts(session, rng.choice([*REQUESTS, *NEED_CODE, *COMMS]), rng.choice(CONTENTS))
    elif kind == "replayed":
        send(session, message)
        assert is_answered(session, message, "shell"), "the message itself was not answered"
        assert session.ask("globals().update(runs=runs - 1)") is None
    elif kind == "wrong idents":
        idents = [rng.randbytes(rng.choice([0, 1, 5, 255, 256])) for _ in range(at + 1)]
        return rng.choice([[*idents, *info], [*idents, *info[1:]], [MARK, *info], idents])
    return [MARK, sign(message), *message]


def post(session: Session, kind: str, channel: str, rng: random.Random) -> None:
    session.ask("globals().update(runs=0)")
    sent = frames(kind, session, rng)
    getattr(session.client, f"{channel}_channel").socket.send_multipart(sent)
    session.request("kernel_info_request", channel="control")
    assert session.ask("runs") == 0, f"its code ran: {[it[:60] for it in sent]}"


def soak(soaked: Soaked, number: int, rng: random.Random) -> Iterator[Try]:
    for kind in rng.choices([*KINDS], [*KINDS.values()], k=number):
        channel, own = rng.choice(["shell", "control"]), random.Random(rng.random())
        yield soaked.attempt(
            f"{kind}, {channel}",
            lambda session: post(session, kind, channel, own),  # noqa: B023
        )

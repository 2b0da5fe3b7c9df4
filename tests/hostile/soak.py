"""Drives xleak's kernel and ipykernel with the same thousands of cells, interrupts, frames, requests and faults.

python tests/hostile/soak.py [TOPIC ...]    a table a topic; writes results/soak.json; 1 where xleak's kernel was wrong
"""

from __future__ import annotations

import argparse
import datetime
import importlib
import json
import random
import sys
from collections import Counter
from pathlib import Path
from statistics import median
from typing import Any

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "soak.json"
# The harness, the client with a panel, and the measurement of long sessions.
sys.path += [str(HERE.parent / it) for it in ("kernel", "contract", "bench")]
SIZES = {"cells": 2000, "interrupts": 100, "frames": 1000, "requests": 300, "faults": 1}
# A panel's comm is xleak's alone.
SIDES = {"requests": ["xleak"]}
SHOWN = 3


def topic(name: str) -> Any:
    return importlib.import_module(f"soak_topics.{name}")


def soak(name: str, side: str, number: int, seed: int) -> dict[str, Any]:
    """How many were tried and wrong, and what was wrong with the first ones."""
    soaked = topic("soaked").Soaked(side)
    tries = list(topic(name).soak(soaked, number, random.Random(f"{name} {seed}")))
    topic("soaked").end(soaked.session)
    wrong = [it for it in tries if it.wrong]
    first = [f"{it.kind}: {it.wrong}" for it in wrong[:SHOWN]]
    print(f"{side:<12}{len(tries):>8}{len(wrong):>8}", *first, sep="\n    ", flush=True)
    row = {"kernel": side, "tried": len(tries), "wrong": len(wrong), "first_wrong": first}
    return {**row, "wrong_by_kind": Counter(it.kind for it in wrong)}


def measure_long(cells: int) -> list[dict[str, Any]]:
    """What a cell takes late in a session beside early, and what the kernel grows by."""
    bench = importlib.import_module("bench_long_session")
    all_ms, grown_mib = bench.run([it.replace("@", "{0}") for it in topic("cells").LASTING], cells)
    print(f"\n{'long':<12}{'cells':>8}{'early ms':>10}{'late ms':>10}{'ratio':>8}{'grown MiB':>11}")
    rows = []
    for side, ms in all_ms.items():
        early, late = median(ms[it] for it in bench.EARLY), median(ms[-len(bench.LATE) :])
        row = {"kernel": side, "cells": cells, "early_ms": early, "late_ms": late}
        rows.append({**row, "ratio": late / early, "grown_mib": grown_mib[side]})
        shown = f"{early:>10.2f}{late:>10.2f}{late / early:>8.2f}{grown_mib[side]:>11.1f}"
        print(f"{side:<12}{cells:>8}{shown}", flush=True)
    return rows


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("topics", nargs="*", help=", ".join([*SIZES, "long"]))
    for name, size in {**SIZES, "long": 10_000, "seed": 1}.items():
        parser.add_argument(f"--{name}", type=int, default=size)
    return parser.parse_args()


def main() -> int:
    asked = options()
    known = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    ours_wrong = 0
    for name in asked.topics or [*SIZES, "long"]:
        size, sides = getattr(asked, name), SIDES.get(name, ["xleak", "ipykernel"])
        if name == "long":
            rows = measure_long(size)
        else:
            print(f"\n{name:<12}{'tried':>8}{'wrong':>8}")
            rows = [soak(name, side, size, asked.seed) for side in sides]
            ours_wrong += rows[0]["wrong"]
        known[name] = {"date": str(datetime.date.today()), "seed": asked.seed, "kernels": rows}
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n")
    return 1 if ours_wrong else 0


if __name__ == "__main__":
    sys.exit(main())

"""Runs the benchmarks named (all without names), prints a table and writes results/*.json.

python tests/bench/run.py [round_trip ...]
"""

import importlib
import json
import sys
from pathlib import Path

from claims import Measurement, as_json

HERE = Path(__file__).resolve().parent


def print_claims(measurement: Measurement) -> None:
    for claim in measurement.claims:
        value = measurement.value(claim)
        sign = "-" if claim.is_difference else "/"
        to = f" {sign} {claim.baseline}" if claim.baseline else ""
        unit = "" if claim.is_ratio else f" {measurement.unit}"
        verdict = "ok" if value <= claim.bound else "OVER"
        print(
            f"{verdict:5}{value:8.2f}{unit:3} at most {claim.bound:<6g} "
            f"{claim.side + to:28} {measurement.what}",
            flush=True,
        )


def main() -> int:
    known = sorted(path.stem.removeprefix("bench_") for path in HERE.glob("bench_*.py"))
    names = sys.argv[1:] or known
    if unknown := set(names) - set(known):
        print(f"no such benchmark: {', '.join(sorted(unknown))}. There are: {', '.join(known)}")
        return 2
    for name in names:
        measurements = importlib.import_module(f"bench_{name}").measure()
        for measurement in measurements:
            print_claims(measurement)
        result = [as_json(measurement) for measurement in measurements]
        path = HERE / "results" / f"{name}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

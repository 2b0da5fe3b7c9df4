"""What a benchmark hands back: samples of each side, and the claims that they bear on."""

import importlib.metadata
import os
import platform
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Claim:
    """`side` / `baseline` <= `bound`; without a baseline the side's own median is bounded. A difference
    is `side` - `baseline`, in the measurement's unit."""

    side: str
    baseline: str | None
    bound: float
    is_difference: bool = False

    @property
    def is_ratio(self) -> bool:
        return self.baseline is not None and not self.is_difference


@dataclass(frozen=True)
class Measurement:
    what: str
    unit: str
    samples: Mapping[str, Sequence[float]]
    claims: Sequence[Claim]

    def value(self, claim: Claim) -> float:
        """The ratio of the medians, their difference, or the median in the measurement's unit."""
        median = statistics.median(self.samples[claim.side])
        if claim.baseline is None:
            return median
        baseline = statistics.median(self.samples[claim.baseline])
        return median - baseline if claim.is_difference else median / baseline


def spread(samples: Sequence[float]) -> dict[str, float]:
    """Median, and the tenth and ninetieth percentile."""
    tenths = statistics.quantiles(samples, n=10, method="inclusive")
    return {
        "median": round(statistics.median(samples), 4),
        "p10": round(tenths[0], 4),
        "p90": round(tenths[-1], 4),
        "samples": len(samples),
    }


def as_json(measurement: Measurement) -> dict[str, Any]:
    """The committed form: what was measured, on what, and whether each claim holds."""
    packages = ("xleak", "ipykernel", "ipython", "pyzmq")
    return {
        "what": measurement.what,
        "unit": measurement.unit,
        "sides": {name: spread(samples) for name, samples in measurement.samples.items()},
        "claims": [
            {
                "of": claim.side,
                "less" if claim.is_difference else "to": claim.baseline,
                "value": round(measurement.value(claim), 3),
                "at_most": claim.bound,
                "holds": measurement.value(claim) <= claim.bound,
            }
            for claim in measurement.claims
        ],
        "machine": {
            "cpus": os.cpu_count(),
            "processor": platform.machine(),
            "python": platform.python_version(),
            **{package: importlib.metadata.version(package) for package in packages},
        },
    }

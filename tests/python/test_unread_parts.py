"""Objects of which later cells use something, and never their largest part."""

from __future__ import annotations

import pytest
from shells import MIB, Session

TRACKS = """
import numpy as np
class Track:
    def __init__(self, k):
        self.wave = np.random.default_rng(k).normal(size=100_000)
        self.rms = float(self.wave.std())
    def loud(self):
        return float(abs(self.wave).max())
"""
MAKE = "tracks = [Track(k) for k in range(4)]"
TREES = """
from scipy.spatial import cKDTree
import numpy as np
trees = [cKDTree(np.random.default_rng(k).normal(size=(250_000, 2))) for k in range(4)]
"""
RUNS = """
import subprocess, sys
code = "print('x' * 700_000)"
runs = {k: subprocess.run([sys.executable, "-c", code], capture_output=True) for k in range(3)}
"""


def reported(session: Session, *cells: str) -> dict[str, tuple[int, str]]:
    for cell in cells:
        assert session.run(cell)
    session.shell.run_line_magic("leakcheck", "")
    found = [it for it in session.watcher.findings() if it.code == "XL424"]
    return {it.key: ((it.bytes or 0) // MIB, it.fixes[0].code) for it in found}


def test_a_part_that_no_later_cell_reads_is_reported_until_it_is_let_go(session: Session) -> None:
    found = reported(session, TRACKS, MAKE, "print(max(t.rms for t in tracks))")
    assert found == {"tracks": (3, "[setattr(v0, 'wave', None) for v0 in tracks];")}
    assert reported(session, found["tracks"][1]) == {}
    assert session.run("assert all(t.rms > 0 for t in tracks)")


def test_the_cell_that_makes_them_may_be_the_one_that_sums_them_up(session: Session) -> None:
    best = f"{MAKE}\nbest = max(tracks, key=lambda t: t.rms)"
    assert reported(session, TRACKS, best, "print(best.rms)") == {
        "tracks": (3, "[setattr(v0, 'wave', None) for v0 in tracks];")
    }
    assert reported(session, "print(best.loud())") == {}


@pytest.mark.parametrize(
    "rest",
    ["print(len(tracks))", "print(tracks[0].loud())", "waves = [t.wave[:3] for t in tracks]"],
)
def test_what_the_making_cell_reads_itself_or_does_not_use_is_silent(
    session: Session, rest: str
) -> None:
    assert reported(session, TRACKS, f"{MAKE}\n{rest}", "print(1)") == {}


def test_what_a_process_wrote_is_kept_with_its_exit_code(session: Session) -> None:
    found = reported(session, RUNS, "print([r.returncode for r in runs.values()])")
    assert found == {"runs": (2, "[setattr(v0, 'stdout', None) for v0 in runs.values()];")}


def test_matches_show_a_part_of_the_text_that_they_keep(session: Session) -> None:
    found = reported(
        session,
        "import re",
        "hits = [re.search('b+', 'a' * 500_000 + 'b' * k) for k in range(1, 5)]",
        "print([m.group() for m in hits], hits[0].start())",
    )
    assert found == {"hits": (1, "del hits")}
    assert reported(session, "print(len(hits[0].string))") == {}


def test_bound_methods_keep_what_they_do_not_read(session: Session) -> None:
    make = "names = [Track(k).name for k in range(4)]"
    name = "Track.name = lambda self: self.rms"
    assert reported(session, TRACKS, name, make, "print([f() for f in names])") == {
        "names": (3, "del names")
    }
    assert reported(session, "louds = [Track(k).loud for k in range(4)]", "print(louds[0]())") == {
        "names": (3, "del names")
    }


def test_what_is_shown_is_read_by_its_repr_alone(session: Session) -> None:
    best = "max(tracks, key=lambda t: t.rms)"
    assert reported(session, TRACKS, MAKE, best) == {
        "tracks": (3, "[setattr(v0, 'wave', None) for v0 in tracks];")
    }
    assert reported(session, "Track.__repr__ = lambda self: str(self.wave[0])", best) == {}


def test_objects_of_a_library_hide_what_only_their_own_cell_used(session: Session) -> None:
    found = reported(session, f"{TREES}\nprint(trees[0].query([0, 0]))", "print('no more')")
    assert [it[1] for it in found.values()] == ["del trees"]
    assert reported(session, "print(trees[1].query([0, 0]))") == {}


def test_entries_that_are_read_as_attributes_are_parts(session: Session) -> None:
    make = (
        "from scipy.optimize import OptimizeResult\nimport numpy as np\n"
        "fits = [OptimizeResult(x=np.ones(500_000), fun=k) for k in range(3)]"
    )
    assert reported(session, make, "print([fit.fun for fit in fits])") == {"fits": (11, "del fits")}
    assert reported(session, "print(fits[0]['x'].shape)") == {}


WINDOWS = """
import numpy as np, pandas as pd
def window_of(k):
    return pd.DataFrame(np.random.default_rng(k).normal(size=(500_000, 2))).rolling(3)
windows = {k: window_of(k) for k in range(3)}
ends = [window[0].max().iloc[-1] for window in windows.values()]
"""


def test_windows_in_a_container_are_reported_until_a_cell_uses_them(session: Session) -> None:
    found = reported(session, WINDOWS, "print('no more')")
    assert [(key, code) for key, (_, code) in found.items()] == [("windows", "del windows")]
    assert reported(session, "print(windows[0])") == {}


def test_parts_in_slots_count_too(session: Session) -> None:
    slots = TRACKS.replace("class Track:", "class Track:\n    __slots__ = ('wave', 'rms', 'unset')")
    found = reported(session, slots, MAKE, "print(max(t.rms for t in tracks))")
    assert found == {"tracks": (3, "[setattr(v0, 'wave', None) for v0 in tracks];")}


def test_those_that_keep_most_are_the_ones_in_question(session: Session) -> None:
    mixed = (
        "runs = {'a': {'it': [iter(()) for _ in range(9)]},\n"
        "        'b': {'it': [Track(k) for k in range(4)]}}"
    )
    assert reported(session, TRACKS, mixed, "print([t.rms for t in runs['b']['it']])") == {
        "runs": (3, "[setattr(v2, 'wave', None) for v2 in runs['b']['it']];")
    }


@pytest.mark.parametrize(
    "later",
    [
        "print([t.loud() for t in tracks])",
        "print([t.wave[0] for t in tracks])",
        "def level(t):\n    return abs(t.wave).mean()\nprint(max(tracks, key=level).rms)",
        "import copy\nprint(copy.copy(tracks)[0].rms)",
        "print(max(t.rms for t in tracks)); others = [t.wave for t in tracks]",
        "print('nothing of them')",
    ],
)
def test_what_may_be_read_is_in_use(session: Session, later: str) -> None:
    assert reported(session, TRACKS, MAKE, later) == {}


LAB = f"""{TRACKS}
class Lab:
    def __init__(self):
        self.tracks, self.newest = [], None
    def record(self, k):
        self.tracks.append(Track(k))
    def summary(self):
        return [t.rms for t in self.tracks]
    def best(self):
        return max(self.tracks, key=lambda t: t.rms)
    def keep_newest(self):
        self.newest = self.tracks[-1]
class Group:
    def __init__(self):
        self.lab = Lab()
    def work(self):
        for k in range(4): self.lab.record(k)
    def show(self):
        print(self.lab.summary())
"""
RECORD = "lab = Lab()\nfor k in range(4): lab.record(k)"


@pytest.mark.parametrize(
    ("place", "cells"),
    [
        ("lab.tracks", [RECORD, "print(lab.summary())"]),
        ("group.lab.tracks", ["group = Group()\ngroup.work()", "group.show()"]),
    ],
)
def test_containers_of_the_users_objects_are_judged_by_what_their_methods_read(
    session: Session, place: str, cells: list[str]
) -> None:
    found = reported(session, LAB, *cells, "print('on')")
    assert found == {place: (3, f"[setattr(v, 'wave', None) for v in {place}];")}
    assert reported(session, found[place][1]) == {}
    assert session.run(cells[-1])


@pytest.mark.parametrize(
    "later",
    [
        "print(lab.best().wave[:3])",
        "import pickle\nprint(len(pickle.dumps(lab)))",
        "def loudest(of): return max(t.loud() for t in of.tracks)\nprint(loudest(lab))",
        "for name in ['tracks']: print(len(getattr(lab, name)))",
        "class Quiet(Lab):\n    def __contains__(self, it): return any(it is t.wave for t in self.tracks)\n"
        "lab.__class__ = Quiet; print(3 in lab)",
    ],
)
def test_what_may_be_read_of_a_users_object_is_in_use(session: Session, later: str) -> None:
    assert reported(session, LAB, RECORD, "print(lab.summary())", later) == {}


def test_what_another_attribute_has_too_is_left_out(session: Session) -> None:
    cells = [f"{RECORD}\nlab.keep_newest()", "print(lab.summary())", "print(lab.newest.wave[:3])"]
    repair = "[setattr(v, 'wave', None) for k, v in enumerate(lab.tracks) if k not in [3]];"
    assert reported(session, LAB, *cells) == {"lab.tracks": (2, repair)}
    assert reported(session, repair, cells[-1]) == {}


BATCHES = """
import itertools
import numpy as np
class Trainer:
    def __init__(self):
        self.batches = itertools.cycle(np.ones(500_000) for _ in range(6))
        self.losses = []
    def run(self):
        self.losses = [float(x.mean()) for x in itertools.islice(self.batches, 12)]
    def first(self):
        return next(self.batches)
trainer = Trainer()
"""


def test_an_iterator_that_an_object_has_hides_what_it_keeps(session: Session) -> None:
    cells = [BATCHES, "trainer.run()", "print(trainer.losses[0])"]
    assert reported(session, *cells) == {"trainer.batches": (22, "trainer.batches = None")}
    assert reported(session, "print(trainer.first()[0])") == {}


LIFTS = """
from dataclasses import dataclass
import numpy as np
from scipy import stats
@dataclass
class Lift:
    name: str
    result: object
    @property
    def low(self): return self.result.confidence_interval.low
def lift(name):
    data = (np.random.default_rng(0).normal(size=40),)
    return Lift(name, stats.bootstrap(data, np.mean, n_resamples=60_000, batch=9_000, method="percentile"))
"""


def test_what_an_object_behind_objects_has_is_a_part_too(session: Session) -> None:
    cells = [LIFTS, "lifts = [lift(k) for k in range(3)]", "print([it.low for it in lifts])"]
    repair = "[setattr(v0.result, 'bootstrap_distribution', None) for v0 in lifts];"
    assert reported(session, *cells) == {"lifts": (1, repair)}
    assert reported(session, repair, cells[-1]) == {}


def test_a_value_that_was_shown_is_judged_as_any_other(session: Session) -> None:
    shown = LAB.replace("    def summary", "        return self\n    def summary")
    cells = [shown, RECORD, "lab.record(4)", "print(lab.summary())", "print('on')"]
    assert reported(session, *cells) == {
        "lab.tracks": (3, "[setattr(v, 'wave', None) for v in lab.tracks];")
    }
    [repair] = {code for _, code in reported(session, "print(lab.summary())").values()}
    assert reported(session, repair) == {}


FITS = """
import torch
from dataclasses import dataclass
@dataclass
class Fit:
    lens: torch.Tensor
    opt: torch.optim.Optimizer
    @property
    def rate(self): return self.opt.param_groups[0]["lr"]
def fit(rate):
    lens = torch.randn(70_000, requires_grad=True)
    opt = torch.optim.LBFGS([lens], lr=rate, max_iter=4)
    def closure():
        opt.zero_grad()
        loss = lens.square().sum().log()
        loss.backward()
        return loss
    opt.step(closure)
    return Fit(lens.detach(), opt)
"""


def test_the_state_of_optimizers_behind_results_is_emptied(session: Session) -> None:
    pytest.importorskip("torch")
    cells = [FITS, "fits = [fit(0.1 * k) for k in range(1, 4)]", "print([it.rate for it in fits])"]
    [(place, (size, repair))] = reported(session, *cells, "print(fits[0].lens.sum())").items()
    assert (place, repair) == ("fits", "[v0.opt.state.clear() for v0 in fits];")
    assert size >= 1
    assert reported(session, repair, cells[-1]) == {}


def test_an_optimizer_that_a_name_has_too_is_at_work(session: Session) -> None:
    pytest.importorskip("torch")
    named = "fits = [fit(0.1 * k) for k in range(1, 4)]; opt = fits[-1].opt"
    assert reported(session, FITS, named, "print([it.rate for it in fits])") == {}


SAMPLES = """
from functools import cached_property
class Sample:
    def __init__(self, k): self.k = k
    @cached_property
    def depth(self): return np.full(200_000, float(self.k))
    def over(self, a, b): return float(self.depth[a:b].mean())
"""


def test_what_a_property_computed_is_reported_once_cells_go_on_without_it(session: Session) -> None:
    make = "samples = [Sample(k) for k in range(4)]\nprint([s.depth.mean() for s in samples])"
    over = "print([s.over(2, 9) for s in samples])"
    assert reported(session, "import numpy as np", SAMPLES, make, over) == {}
    assert reported(session, "print(max(s.k for s in samples))") == {
        "samples": (6, "[vars(v0).pop('depth', None) for v0 in samples];")
    }
    assert reported(session, over) == {}


FOLDS = """
import numpy as np
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.model_selection import cross_validate
rng = np.random.default_rng(0)
X = rng.random((3000, 4))
cv = cross_validate(ExtraTreesRegressor(30), X, X.sum(1), cv=4, return_estimator=True)
importance = np.mean([m.feature_importances_ for m in cv["estimator"]], axis=0)
"""


def test_estimators_beside_scores_are_reported_once_the_scores_alone_are_read(
    session: Session,
) -> None:
    assert reported(session, FOLDS) == {}
    found = reported(session, "print(cv['test_score'].mean())")
    assert found["cv"][1] == "del cv['estimator']"
    assert found["cv"][0] >= 4 * 30 * 4000 * 64 // MIB
    assert reported(session, "print(cv['estimator'][0].predict(X[:2]))") == {}


BY_SIZE = """
runs = {}
for size in (20, 30):
    runs[size] = cross_validate(ExtraTreesRegressor(size), X, X.sum(1), cv=3, return_estimator=True)
del cv
"""


def test_estimators_of_several_runs_are_taken_out_of_each(session: Session) -> None:
    read = "print([[r[c].mean() for c in ('fit_time', 'test_score')] for r in runs.values()])"
    found = reported(session, FOLDS, BY_SIZE, "print('on')", read)
    assert found["runs"][1] == "[v.pop('estimator', None) for v in runs.values()];"
    assert reported(session, found["runs"][1]) == {}


PENS = """
from PIL import Image, ImageDraw
def drawn(n):
    pen = ImageDraw.Draw(Image.new("RGB", (1000, 500)))
    pen.text((9, 9), str(n))
    return pen
pens = {n: drawn(n) for n in range(3)}
"""


def test_drawings_keep_their_pictures_for_the_sake_of_lengths(session: Session) -> None:
    found = reported(session, PENS, "print([pen.textlength('on') for pen in pens.values()])")
    assert list(found) == ["pens"]
    assert found["pens"][0] == 3 * 1000 * 500 * 4 // MIB

"""xleak calls no method of the user's objects, whatever they override: not to look, not to report and
not to release."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from harness import IpykernelManager, Session, XleakManager, start, stop

PROGRAM = Path(__file__).with_name("hostile_objects.py").read_text().split("\n# %% ")
# The last cell raises.
CELLS = [PROGRAM[0], *(f"# {cell}" for cell in PROGRAM[1:])]
MAGICS = """
%memreport
%memreport named_4
%memreport in_list
%memreport Out[1004]
%leakcheck
%leakcheck --all
%leakcheck --notes
%leakcheck --by effect
%leakcheck --diagnose
%leakcheck --json
%%leakcheck\\nmore = one_of_each()
%%leakcheck --profile\\nmore = one_of_each()
%xleak devices
%xleak env
%xleak oom
%xleak watch
new = one_of_each()
%xleak watch --diff
%xdel --dry-run named_4
%xdel --dry-run in_list
%xdel --dry-run Out[1004] named_6
%release_cache --dry-run
%xdel named_4
%xdel in_holder named_8
%xdel Out[1005]
%xdel -n named_10
%xleak policy auto
new = one_of_each(); new[0]
del new, more
%release_cache
%xleak journal
%xleak policy off
%xleak policy report
%leakcheck --all
""".strip().splitlines()


@pytest.fixture(params=[XleakManager, IpykernelManager])
def session(request: pytest.FixtureRequest) -> Iterator[Session]:
    """The kernel, and ipykernel with the extension."""
    session = start(kind=request.param)
    if request.param is IpykernelManager:
        session.run("%load_ext xleak")
    yield session
    stop(session)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_no_method_of_the_users_objects_is_called(session: Session) -> None:
    for cell in [*CELLS, *MAGICS]:
        ran = session.run(cell.replace("\\n", "\n"), store_history=True)
        session.settle()
        assert (ran.content["status"] == "ok") is (cell is not CELLS[-1]), (cell, ran.content)
        assert "xleak failed" not in ran.text("stderr")
    assert session.ask("calls") == []

"""Programs that the session started, and what they started, by the operating system."""

from __future__ import annotations

from pathlib import Path


def descendants(parent: int) -> list[int]:
    """Process ids of those that have not ended; none where the system does not list them."""
    found = []
    for task in Path(f"/proc/{parent}/task").glob("*/children"):
        try:
            children = [int(pid) for pid in task.read_text().split()]
        except OSError:
            continue
        for pid in children:
            if process_state(pid) not in (None, "Z", "X"):
                found.append(pid)
            found.extend(descendants(pid))
    return found


def process_state(pid: int) -> str | None:
    """The letter of a process's state (proc(5)); None where it is gone."""
    try:
        # The name before it may hold anything, brackets and blanks too.
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
        return stat.rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return None


def proportional_bytes(pid: int) -> int:
    """What a process takes, pages that it shares divided by those who share them (proc(5), Pss);
    0 where the operating system does not say."""
    try:
        with open(f"/proc/{pid}/smaps_rollup") as rollup:
            sizes = [line.split()[1] for line in rollup if line.startswith("Pss:")]
    except OSError:
        return 0
    return sum(int(kib) * 1024 for kib in sizes)

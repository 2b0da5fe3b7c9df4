"""What the watcher tells: leaks, their causes, and the sentences."""

from __future__ import annotations

from dataclasses import dataclass, field

from xleak.render.units import human_bytes


class LeakWarning(UserWarning):
    """Memory grows with the steps of watched code, or a scope kept more than it may."""


class LeakError(AssertionError):
    """The same, where `on_leak="raise"`. `leaks` has what was found."""

    def __init__(self, message: str, leaks: list[Leak]) -> None:
        super().__init__(message)
        self.leaks = leaks


@dataclass(frozen=True)
class Cause:
    """Who keeps what came. Sizes in bytes; never the contents of a tensor."""

    kind: str
    """"list", "dictionary", "hooks", "hidden modules", "graph", "tensor", "tensors" or "garbage"."""
    holder: str
    """In the words that the user would write; empty where nobody was found."""
    what: str
    """One line: how many of what came."""
    count: int
    """Of what came."""
    bytes: int | None
    advice: str


@dataclass(frozen=True)
class Leak:
    """One memory that grew, or kept more than it may. Sizes in bytes."""

    label: str
    memory: str
    """"tensors on the host", "the C heap", or a device such as "cuda:0"."""
    bytes: int
    bytes_per_step: float | None
    since_step: int | None
    steps: int
    step_name: str
    """What a step is: "step", or "call" of a block or a function."""
    limit: int | None = None
    """What it may keep, where that was said."""
    causes: list[Cause] = field(default_factory=list)
    made_at: list[tuple[str, int, int]] = field(default_factory=list)
    """(file, line, count) of tensors that were made in a few steps and stayed."""

    def message(self) -> str:
        """All of it, on several lines."""
        return "\n".join([self._head(), *self._causes(), *self._places()])

    def _head(self) -> str:
        kept = human_bytes(self.bytes)
        if self.bytes_per_step is None:
            return f"{self.label!r} kept {kept} of {self.memory}; it may {human_bytes(self.limit)}."
        return (
            f"{self.label!r} keeps {human_bytes(round(self.bytes_per_step))} more of {self.memory} with "
            f"every {self.step_name}: {kept} in {self.steps} {self.step_name}s, "
            f"steadily since {self.step_name} {self.since_step}."
        )

    def _causes(self) -> list[str]:
        if not self.causes:
            return ["  No Python object was seen to hold it: native code or a library may."]
        lines: list[str] = []
        for it in self.causes:
            size = "" if it.bytes is None else f", {human_bytes(it.bytes)}"
            holder = f"{it.holder}: " if it.holder else ""
            lines += [f"  {holder}{it.what}{size}", f"    {it.advice}"]
        return lines

    def _places(self) -> list[str]:
        return [f"  made at {file}:{line} ({count})" for file, line, count in self.made_at]

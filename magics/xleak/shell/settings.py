"""What a user may set: `c.Xleak.…` in a configuration file, XLEAK_… variables, `%config Xleak`."""

from __future__ import annotations

import sys
from typing import Any

from traitlets import Bool, Dict, Enum, Int, TraitError, Unicode, default, observe, validate
from traitlets.config import Configurable

from xleak import _native
from xleak.originals import os
from xleak.shell.ledger import use_ledger

# Smaller leaks are listed by %leakcheck; a line under a cell is for those that end sessions.
NOTICE_BYTES = 16 << 20
POLICIES = ["off", "report", "ask", "auto"]
GUARD_POLICIES = ["off", "warn", "interrupt"]
# The rules whose findings no name of the user's reaches: output entries, tracebacks, garbage, caches.
RELEASABLE = ["XL106", "XL113", "XL210", "XL401", "XL402", "XL601", "XL630"]
# More would be a second output cache.
_MOST_UNDO = 1000


class Xleak(Configurable):
    """The settings of one shell."""

    policy = Enum(
        POLICIES,
        help="'report' watches the cells and says what leaks; 'ask' has the panel ask whether to "
        "release it; 'auto' releases what no name reaches once a cell has ended; 'off' does nothing.",
    ).tag(config=True)
    guard = Enum(
        GUARD_POLICIES,
        help="'warn' says when memory gets short; 'interrupt' also stops the cell that has nearly "
        "taken all of it, with MemoryGuardError; 'off' watches no limits.",
    ).tag(config=True)
    notice_bytes = Int(
        min=0,
        help="The least memory, in bytes, that is worth a line under a cell. "
        "Default: 16 MiB, or 1 % of the memory limit where that is less.",
    ).tag(config=True)

    rule_policies = Dict(
        key_trait=Unicode(),
        value_trait=Enum(POLICIES),
        help="Policies of single rules, as {'XL401': 'auto'}; each wins over the session's.",
    ).tag(config=True)
    keep_undo = Int(
        min=0,
        max=_MOST_UNDO,
        help="So many of the output entries that 'auto' released last are kept, to be put back by "
        "%xleak journal --undo. Their memory is not free before. Default: 0.",
    ).tag(config=True)

    ledger = Bool(
        help="Whether every block of 64 KiB and more is known, with the line that made it, by the import "
        "tables of all libraries. Default: on, unless XLEAK_LEDGER is 0.",
    ).tag(config=True)

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        # The environment's off switch is for those who cannot reach the configuration: it wins.
        if is_disabled():
            self.policy = "off"
        _native.set_enabled(self.policy != "off")
        self._apply_guard()
        self._apply_ledger()

    @default("policy")
    def _policy_from_environment(self) -> str:
        chosen = os.environ.get("XLEAK_POLICY", "")
        if chosen in ("", *POLICIES):
            return chosen or "report"
        _say(f"XLEAK_POLICY is {chosen!r}; it may be {in_words(POLICIES)}.")
        return "report"

    @default("guard")
    def _guard_from_environment(self) -> str:
        chosen = os.environ.get("XLEAK_GUARD", "")
        if chosen in ("", *GUARD_POLICIES):
            return chosen or "warn"
        _say(f"XLEAK_GUARD is {chosen!r}; it may be {in_words(GUARD_POLICIES)}.")
        return "warn"

    @default("notice_bytes")
    def _notice_bytes_from_environment(self) -> int:
        chosen = os.environ.get("XLEAK_NOTICE_BYTES", "")
        if chosen.isdecimal():
            return int(chosen)
        if chosen:
            _say(f"XLEAK_NOTICE_BYTES is {chosen!r}; it may be a number of bytes.")
        limit = _memory_limit()
        return NOTICE_BYTES if limit is None else min(NOTICE_BYTES, limit // 100)

    @default("ledger")
    def _ledger_from_environment(self) -> bool:
        chosen = os.environ.get("XLEAK_LEDGER", "")
        if chosen not in ("", "0", "1"):
            _say(f"XLEAK_LEDGER is {chosen!r}; it may be 0 or 1.")
        return chosen != "0"

    def policy_of(self, code: str) -> str:
        """The policy of one rule: its own, or the session's."""
        own: dict[str, str] = self.rule_policies
        return own.get(code, self.policy)

    @validate("rule_policies")
    def _check_rules(self, proposal: Any) -> dict[str, str]:
        chosen: dict[str, str] = proposal["value"]
        for code, policy in chosen.items():
            check_rule_policy(code, policy)
        return chosen

    @observe("rule_policies")
    def _apply_rules(self, change: Any) -> None:
        _native.set_rules_off({code for code, policy in change["new"].items() if policy == "off"})

    @observe("policy")
    def _apply_policy(self, change: Any) -> None:
        _native.set_enabled(change["new"] != "off")

    @observe("policy", "guard")
    def _apply_guard(self, change: Any = None) -> None:
        _native.set_guard("off" if self.policy == "off" else self.guard)

    @observe("policy", "ledger")
    def _apply_ledger(self, change: Any = None) -> None:
        use_ledger(self.policy != "off" and self.ledger)


def check_rule_policy(code: str, policy: str) -> None:
    """Raises TraitError with one sentence where there is no such rule, or it cannot have the policy."""
    if code not in {smell.code for smell in _native.smells()}:
        raise TraitError(f"there is no rule {code!r}; docs/rules.md lists them, as XL401")
    if policy not in POLICIES:
        raise TraitError(f"the policy of {code} is {in_words(POLICIES)}, got {policy!r}")
    if policy == "auto" and code not in RELEASABLE:
        raise TraitError(
            f"{code} cannot be auto: names may reach what it finds. "
            f"The rules that can are {in_words(RELEASABLE).replace(' or ', ' and ')}"
        )


def in_words(choices: list[str]) -> str:
    """A list as a sentence has it: a, b or c."""
    return f"{', '.join(choices[:-1])} or {choices[-1]}"


def is_disabled() -> bool:
    """Whether XLEAK_DISABLE says so; empty and 0 do not."""
    return os.environ.get("XLEAK_DISABLE", "") not in ("", "0")


def settings_of(shell: Configurable) -> Xleak:
    """The settings that a shell's configuration asks for; the defaults, and a sentence, where it has a slip."""
    try:
        return Xleak(parent=shell)
    except TraitError as error:
        _say(str(error))
        return Xleak()


def _say(slip: str) -> None:
    print(f"xleak: {slip.rstrip('.')}. xleak uses its default.", file=sys.stderr)


def _memory_limit() -> int | None:
    try:
        return _native.ram_bytes()
    except _native.MonitorError:
        return None

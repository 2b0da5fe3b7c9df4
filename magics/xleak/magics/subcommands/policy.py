"""`%xleak policy`: what xleak may do by itself, in the session and by rule."""

from __future__ import annotations

from IPython.core.error import UsageError
from traitlets import TraitError

from xleak.magics.live import live_watcher
from xleak.shell.settings import POLICIES, Xleak, check_rule_policy, in_words

HELP = {
    "policy": "show whether cells are watched, and what is released",
    "policy off": "stop watching: no accounting, no findings",
    "policy report": "watch and report (the default)",
    "policy ask": "the same, and the panel asks whether to release",
    "policy auto": "release what no name reaches once a cell has ended",
    "policy auto XL401": "the same for one rule alone; so for off, report and ask",
    "policy default XL401": "the rule goes by the session's policy again",
}
_DEFAULT = "default"


def run(arguments: list[str]) -> None:
    """Shows or sets the policy."""
    settings = live_watcher().settings
    if len(arguments) > 2 or (len(arguments) == 1 and arguments[0] not in POLICIES):
        got = " ".join(arguments)
        choices = in_words(POLICIES)
        raise UsageError(f"%xleak policy takes {choices}, and may be a rule's code, got {got!r}")
    if len(arguments) == 2:
        _set_rule(settings, *arguments)
    elif arguments:
        settings.policy = arguments[0]
    print(shown(settings))


def shown(settings: Xleak) -> str:
    """The policies, a line each."""
    rules = sorted(settings.rule_policies.items())
    return "\n".join([f"policy: {settings.policy}", *(f"{code}: {it}" for code, it in rules)])


def _set_rule(settings: Xleak, policy: str, code: str) -> None:
    try:
        check_rule_policy(code, "report" if policy == _DEFAULT else policy)
    except TraitError as error:
        raise UsageError(f"%xleak policy: {error}") from None
    others = {other: it for other, it in settings.rule_policies.items() if other != code}
    settings.rule_policies = others if policy == _DEFAULT else {**others, code: policy}
    # What a rule found goes with it, and comes with it.
    live_watcher().refresh()

"""Every rule says what it is about."""

from __future__ import annotations

import json

import pytest
from IPython.core.error import UsageError
from verdict_samples import cell, finding, verdict
from xleak import _native
from xleak.cli import main
from xleak.explain import CATEGORIES, EFFECTS, SCOPES, explanation, kind
from xleak.magics.leakcheck import parse, session_report

CODES = sorted(smell.code for smell in _native.smells())
FAMILY_OF_TENSORFLOW = "XL5"


@pytest.mark.parametrize("code", CODES)
def test_a_rule_has_a_category_a_scope_and_an_effect_that_explain_shows(code: str) -> None:
    about = kind(code)
    assert about.category in CATEGORIES
    assert about.scope in SCOPES
    assert about.effect in EFFECTS
    assert f"Category: {about.category}. Scope: {about.scope}." in explanation(code)


@pytest.mark.parametrize("code", [code for code in CODES if kind(code).twins])
def test_twins_name_each_other(code: str) -> None:
    for twin in kind(code).twins:
        assert code in kind(twin).twins


def test_rules_that_pytorch_and_tensorflow_share_are_linked() -> None:

    pairs = {(code, twin) for code in CODES for twin in kind(code).twins if code < twin}
    assert {
        ("XL101", "XL509"),
        ("XL104", "XL509"),
        ("XL507", "XL601"),
        ("XL115", "XL510"),
        ("XL306", "XL513"),
        ("XL514", "XL603"),
        ("XL304", "XL511"),
        ("XL305", "XL511"),
        ("XL105", "XL501"),
        ("XL302", "XL501"),
        ("XL303", "XL505"),
    } == pairs


def test_no_rule_for_tensorflow_is_said_to_be_one_for_pytorch() -> None:
    pytorch = {code for code in CODES if kind(code).scope == "PyTorch"}
    assert not any(code.startswith("XL5") for code in pytorch)


def test_the_list_of_rules_as_json_says_it_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "--format", "json"]) == 0
    rows = {row["code"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["XL204"]["effect"] == "result"
    assert rows["XL101"]["twins"] == ["XL509"]


# --- %leakcheck --by -----------------------------------------------------------------------------


def test_findings_are_grouped_by_what_their_rules_say() -> None:
    found = [
        finding(effect="leak", holders=["Out[2]"]),
        finding(code="XL411", effect="peak", holders=["rows"]),
        finding(effect="leak", holders=["Out[5]"]),
    ]
    report = session_report(verdict([cell(1)], found), all_of_them=True, by="effect")
    plain = report.plain()
    of_leaks, of_peaks = sorted(plain.split("effect: ")[1:])
    assert of_leaks.startswith("leak") and of_peaks.startswith("peak")
    assert "XL411" not in of_leaks and "XL401" not in of_peaks
    assert "in 2 places" in of_leaks and "XL411" in of_peaks
    page = report.html({})
    assert page.count("<p>effect: ") == 2 and page.count("<article") == 3


@pytest.mark.parametrize("line", ["--by", "--by colour", "--by scope --all"])
def test_what_findings_cannot_be_grouped_by_is_one_sentence(line: str) -> None:
    with pytest.raises(UsageError, match="category, scope or effect"):
        parse(line)

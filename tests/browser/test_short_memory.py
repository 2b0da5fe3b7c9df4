"""What the panel says before memory is used up, after it was, and what was released."""

from __future__ import annotations

import re

import pytest
from barriers import CUT_OFF, OVERLAPPING, REACHABLE, reached_by_keyboard, serious
from lab import Notebook, OpenNotebook
from looks import THEMES, dress
from playwright.sync_api import expect
from scripted import answering, example, sending

MIB = 1 << 20
KEPT = f"kept = bytearray({64 * MIB})"
FAILS = "raise MemoryError"
MARKUP = "<b>bold</b> & <img src=x>"


def capable(kinds: str) -> dict[str, object]:
    return example("hello", capabilities=kinds.split())


ABLE = capable("subscribe unsubscribe findings names path xdel release_cache journal undo")


def with_postmortem(notebook: OpenNotebook, **fields: object) -> Notebook:
    """A session whose second cell failed for want of memory."""
    told = {"cell": 2, "cells": [{"index": 1, "kept_bytes": 64 * MIB}], **fields}
    opened = notebook([KEPT, FAILS, sending(example("postmortem", **told))])
    for number in (1, 2, 3):
        opened.run(number)
    return opened


def test_a_warning_stands_on_top_until_the_memory_is_out_of_danger(notebook: OpenNotebook) -> None:
    critical = example("guard", index=1, sentence=MARKUP)
    normal = example("guard_back_to_normal")
    opened = notebook([KEPT, sending(critical), sending(normal)])
    opened.run(1)
    opened.run(2)
    banner = opened.panel.locator(".jp-xleak-Guard")
    expect(banner).to_contain_text("15.5 GiB of 16 GiB")
    expect(banner).to_contain_text(MARKUP)
    heard = opened.panel.locator("[role=status]", has=opened.page.locator(".jp-xleak-Guard"))
    expect(heard).to_have_attribute("aria-live", "assertive")
    banner.get_by_role("button", name="Go to cell").click()
    expect(opened.cell(1)).to_have_class(re.compile("jp-mod-active"))
    opened.run(3)
    expect(banner).to_have_count(0)


def test_of_a_cell_that_ran_out_of_memory_is_said_who_holds_it_and_what_helps(
    notebook: OpenNotebook,
) -> None:
    names = [{"name": "kept", "retained_bytes": 64 * MIB}]
    opened = with_postmortem(notebook, free_bytes=None, names=names, advice=[MARKUP])
    card = opened.section("postmortem").locator("article")
    expect(opened.bar(2)).to_have_attribute("aria-label", re.compile("out of memory$"))
    expect(card.locator("dt", has_text="Asked").locator("+ dd")).to_have_text("2 GiB")
    expect(card.locator("dt", has_text="Free").locator("+ dd")).to_have_text("?")
    expect(card).to_contain_text(MARKUP)
    card.get_by_role("button", name="cell [1]").click()
    expect(opened.cell(1)).to_have_class(re.compile("jp-mod-active"))
    card.get_by_role("button", name="Go to cell").click()
    expect(opened.cell(2)).to_have_class(re.compile("jp-mod-active"))
    card.get_by_role("button", name="Release caches").click()
    expect(opened.notice()).to_contain_text("Caches")
    card.get_by_role("button", name="Delete kept", exact=True).click()
    opened.page.locator(".jp-Dialog").get_by_role("button", name="Delete").click()
    expect(opened.notice()).to_contain_text(re.compile(r"kept: 6\d(\.\d)? MiB came back"))


def test_a_post_mortem_goes_when_its_cell_runs_again(notebook: OpenNotebook) -> None:
    opened = with_postmortem(notebook)
    section = opened.panel.locator("[data-kind=postmortem]")
    expect(section).to_be_visible()
    opened.run(2)
    expect(section).to_have_count(0)


def test_a_fix_that_is_none_of_the_panels_own_is_inserted_and_not_run(
    notebook: OpenNotebook,
) -> None:
    opened = with_postmortem(notebook, fix="kept.clear()  # <b>")
    opened.section("postmortem").get_by_role("button", name="Insert as a cell").click()
    expect(opened.cell(3).locator(".cm-content")).to_have_text("kept.clear()  # <b>")
    expect(opened.cell(3).locator(".jp-InputPrompt")).to_have_text(re.compile(r"^\[ \]:$"))


def test_how_the_kernel_before_this_one_died_is_told_with_its_source_as_text(
    notebook: OpenNotebook,
) -> None:
    opened = notebook([sending(example("last_session", code=MARKUP))])
    opened.run(1)
    past = opened.section("past")
    expect(past).to_contain_text("killed for want of memory while cell 5 ran")
    expect(past).to_contain_text("likely cause: out of memory")
    expect(past.get_by_role("img", name=re.compile("while the last cell ran"))).to_be_visible()
    past.locator("summary").click()
    expect(past.locator("pre")).to_have_text(MARKUP)


def test_what_was_released_is_in_the_journal_and_can_be_undone(notebook: OpenNotebook) -> None:
    entry = example("journal_that_grows")["entries"][0]
    undone = example("journal_that_grows", entries=[{**entry, "undo": False}])
    script = answering(
        journal=[example("journal")], undo=[undone, example("done_with_nothing_to_say")]
    )
    opened = notebook([script, sending(ABLE)])
    opened.run(1)
    opened.run(2)
    journal = opened.section("journal")
    expect(journal.get_by_role("button", name="Journal (2)")).to_be_visible()
    latest = journal.get_by_role("listitem").first
    expect(latest).to_contain_text("Out[2]")
    expect(latest).to_contain_text("64 MiB")
    expect(latest).to_contain_text("No cell mentions it, and no name reaches it.")
    latest.get_by_role("button", name="Undo: Out[2]").click()
    expect(opened.notice()).to_have_text("Out[2] is back.")
    expect(journal.get_by_role("button", name="Undo: Out[2]")).to_have_count(0)


def test_a_kernel_without_a_journal_is_not_asked_for_it(notebook: OpenNotebook) -> None:
    hello = capable("subscribe unsubscribe findings")
    opened = notebook([answering(journal=[example("journal")]), sending(hello), KEPT])
    for number in (1, 2, 3):
        opened.run(number)
    expect(opened.size(3)).to_have_text(re.compile(r"^\+64"))
    expect(opened.panel.locator("[data-kind=journal]")).to_have_count(0)


@pytest.mark.parametrize("page", [{"viewport": {"width": 680, "height": 900}}], indirect=True)
@pytest.mark.parametrize("theme", THEMES)
def test_in_a_narrow_panel_all_of_it_is_seen_heard_and_reached(
    notebook: OpenNotebook, theme: str
) -> None:
    messages = [
        ABLE,
        example("guard", index=2),
        example("guard_of_a_device_between_cells"),
        example("postmortem", cell=3),
        example("last_session"),
    ]
    told = answering(journal=[example("journal")])
    opened = notebook([told, KEPT, FAILS, sending(*messages)], name=f"narrow_{theme}")
    dress(opened, theme)
    for number in (1, 2, 3, 4):
        opened.run(number)
    opened.section("journal")
    opened.section("past").locator("summary").click()
    assert serious(opened) == []
    assert opened.panel.evaluate(CUT_OFF) == []
    assert opened.panel.evaluate(OVERLAPPING) == 0
    reached = reached_by_keyboard(opened)
    assert [it["at"] for it in reached] == list(range(opened.panel.locator(REACHABLE).count()))
    assert all(it["seen"] for it in reached)

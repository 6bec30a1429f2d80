"""The tour: a lesson in six stops, each with one to three questions. It can be walked through by
keyboard, left and resumed. No stop shows a fault, whatever the verdict on an answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect
from run_form import store, until
from running_app import App, Visit, models_ready
from view_pages import AXE, needs_axe, settle, stop_transitions

STOPS = ("cost", "dice", "chain", "tree", "which", "break", "yours")
VIEW = "document.querySelector('#tr-view .sq-tour').view"
# For each question, answers that lead to each of its verdicts. None: "Show the answer" was pressed.
ANSWERS: dict[str, list[Any]] = {
    "cost.length": [None, 2, 24, 1],
    "dice.stay": [None, 49, 60, 10],
    "dice.left": [None, [0, 9, 4, 2], [15, 0, 0, 0]],
    "chain.all": [None, 33, 80, 50, 10],
    "chain.mean": [None, 3.7, 2.7, 5],
    "tree.end": [None, "1", "4"],
    "tree.tokens": [None, 2, 1],
    "tree.chance": [None, 40, 5],
    "which.place": [
        None,
        ["0", "00", "000", "1"],
        ["0", "00", "000", "0000"],
        ["0", "1", "00", "01"],
    ],
    "which.ratio": [None, 1.24, 2],
    "which.machine": [None, "epyc-2-cores-bundled", "l40-llama-2-70b-offloaded"],
    "yours.guess": [None, [4, 2]],
}


@pytest.fixture
def page(visit: Callable[..., Page]) -> Page:
    return visit(has_form=False)


@pytest.fixture(scope="module")
def tour(browser: Browser, app: App) -> Iterator[Page]:
    """One open tour, shared by the tests that set all its answers themselves."""
    visit = Visit(browser, app.url, has_form=False)
    opened(visit.page)
    yield visit.page
    visit.check(app.url)


def opened(page: Page) -> None:
    expect(page.locator("[data-part=tour]")).to_be_visible(timeout=30_000)
    page.locator("[data-part=tour]").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".sq-tour-stop")).to_be_visible(timeout=30_000)


def answered(page: Page, stop: str, answers: dict[str, Any]) -> None:
    """Show a stop with these answers. A key is "stop.question"."""
    page.evaluate(
        f"([stop, answers]) => {{ {VIEW}.keep({{ stop, answers }}); {VIEW}.goTo(stop); }}",
        [stop, answers],
    )


def reach(page: Page, selector: str) -> None:
    """Press Tab until an element that fits `selector` has the focus."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"the Tab key does not reach {selector}")


def press(page: Page, selector: str, key: str = "Enter", times: int = 1) -> None:
    reach(page, selector)
    for _ in range(times):
        page.keyboard.press(key)


def typed(page: Page, question: str, number: str) -> None:
    reach(page, f"[data-part={question}] input")
    page.keyboard.type(number)
    page.keyboard.press("Enter")


def verdict(page: Page, question: str) -> str:
    shown = page.locator(f"[data-part={question}] [data-part=verdict]")
    expect(shown).to_be_visible()
    return str(shown.get_attribute("data-verdict"))


def go_on(page: Page, stop: str) -> None:
    expect(page.locator("[data-part=sentence]")).to_be_visible()
    press(page, "[data-part=next]")
    expect(page.locator(f".sq-tour-stop[data-part={stop}]")).to_be_visible()


def test_it_is_walked_through_by_keyboard_and_resumed_where_it_was_left(page: Page) -> None:
    opened(page)
    press(page, ".sq-tour-drag", "Home")
    press(page, "[data-part=check]")
    assert verdict(page, "length") == "off"
    go_on(page, "dice")
    typed(page, "stay", "49")
    assert verdict(page, "stay") == "right"
    reach(page, "[data-part=left] input")
    for share in (9, 4, 2):
        press(page, "[data-part=left] input", "ArrowRight", share)
    press(page, "[data-part=left] [data-part=check]")
    assert verdict(page, "left") == "right"
    go_on(page, "chain")

    press(page, "[data-part=leave]")
    expect(page.locator("#pg-view .sq-stage")).to_be_visible()
    page.wait_for_url(lambda url: "learn/tour" not in url)
    # if the page were reloaded before the models are ready, Gradio would report an error
    models_ready(page)
    page.goto(page.url.partition("#")[0])
    expect(page.locator("[data-part=tour]")).to_have_text("Resume the tour")
    opened(page)
    expect(page.locator(".sq-tour-stop[data-part=chain]")).to_be_visible()
    assert page.locator(".sq-tour-stops .is-done").count() == 2

    answered(page, "which", {})
    for place in ("0", "00", "000", "1"):
        press(page, f"[data-place='{place}']")
    press(page, "[data-part=place] [data-part=check]")
    assert verdict(page, "place") == "right"
    answered(page, "yours", {})
    reach(page, "[data-part=guess] input")
    page.keyboard.type("4")
    typed(page, "guess", "2")
    press(page, "[data-part=recorded]")
    expect(page.locator("[data-part=division]")).to_contain_text("Sequoia (recorded)")
    expect(page.locator("[data-part=source]")).to_contain_text("The run: recorded, ")


def test_a_bug_is_shown_beside_the_correct_decoder(page: Page) -> None:
    models_ready(page)
    opened(page)
    answered(page, "break", {})
    pictures = page.locator(".sq-tour .ls-pair > *")
    expect(pictures).to_have_count(2)
    page.click(".sq-tour [data-bug=last-token]")
    broken = page.locator(".sq-tour [data-part=measured-last-token] [data-kind=differs]")
    expect(broken).to_be_visible(timeout=60_000)
    expect(pictures).to_have_count(2)
    expect(pictures.first).to_have_attribute("data-part", "recorded-correct")
    page.click(".sq-tour [data-part=lossless]")
    expect(page.locator("#ls-view [data-part=tests]")).to_be_visible()


def test_the_picture_stays_at_the_rejection_until_the_question_is_answered(tour: Page) -> None:
    first = dict.fromkeys(("tree.end", "tree.tokens"))
    answered(tour, "tree", first)
    caption = tour.locator(".sq-tour-picture [data-part=caption]")
    controls = tour.locator(".sq-tour-picture .sq-step-controls")
    words = caption.inner_text()
    expect(controls).to_be_hidden()
    tour.evaluate(f"{VIEW}.stop.stage.tree.view.focus('n1')")
    for key in (".", " "):
        tour.keyboard.press(key)
        settle(tour)
        expect(caption).to_have_text(words)
    answered(tour, "tree", {**first, "tree.chance": 47})
    expect(controls).to_be_visible()


def test_the_tree_is_undecided_until_the_first_question_is_answered(tour: Page) -> None:
    decided = tour.locator(".sq-tour-picture g[data-s=accepted]")
    answered(tour, "tree", {})
    settle(tour)
    expect(decided).to_have_count(0)
    answered(tour, "tree", {"tree.end": "4"})
    expect(decided).not_to_have_count(0)


def test_an_incomplete_answer_is_not_checked(tour: Page) -> None:
    answered(tour, "dice", {})
    tour.click(".sq-tour [data-part=check]")
    expect(tour.locator("[data-part=stay] [role=alert]")).to_have_text(
        "Enter a number from 0 to 64."
    )
    expect(tour.locator("[data-part=stay] [data-part=verdict]")).to_be_hidden()


def test_the_tour_starts_over_if_a_stored_answer_does_not_fit_its_question(tour: Page) -> None:
    for answer in ("x", [], {}):
        answered(tour, "cost", {"cost.length": answer})
        expect(tour.locator("[data-part=length] [data-part=check]")).to_be_visible()
        assert tour.evaluate(f"Object.keys({VIEW}.state.answers).length") == 0


def test_every_verdict_is_reached_and_its_text_is_complete(tour: Page) -> None:
    for key, given in ANSWERS.items():
        stop, question = key.split(".")
        verdicts = set()
        for answer in given:
            answered(tour, stop, dict.fromkeys(ANSWERS) | {key: answer})
            words = tour.locator(".sq-tour-stop").inner_text()
            assert not any(fault in words for fault in ("{", "undefined", "NaN")), words
            shown = tour.locator(f".sq-tour [data-part={question}]")
            expect(shown).to_be_visible()
            verdict = shown.locator("[data-part=verdict]")
            verdicts.add(verdict.get_attribute("data-verdict"))
        assert verdicts == ({"shown"} if key == "yours.guess" else {"right", "off", "shown"}), key


def test_the_last_stop_divides_the_visitors_own_run(page: Page) -> None:
    """A table divides the run's tokens per step by the length of a step, which gives the
    speed-up."""
    opened(page)
    answered(page, "yours", {"yours.guess": [9, 2]})
    models_ready(page)
    page.click("[data-part=run]")
    expect(page.locator("#pg-run")).to_be_focused()
    page.keyboard.press("Enter")
    until(page, "s.meta.label === 'measured' && s.done && s.verdict", 120)
    total = store(page, "s.lanes[s.first].sum")
    page.click("[data-part=back-to-tour]")
    division = page.locator("[data-part=division]")
    expect(division).to_contain_text("Sequoia (measured)")
    source = page.locator(".sq-tour-stop [data-part=source]")
    expect(source).to_contain_text("Your last run: measured, ")
    cells = division.locator("tbody tr").nth(1).locator("td").all_inner_texts()
    assert float(cells[0]) == pytest.approx(total["tokens"] / total["steps"], abs=0.006)
    verdict = store(page, "s.verdict.speedups[s.first]")
    assert float(cells[2]) == pytest.approx(verdict["ratio"], abs=0.006)
    words = {"win": "faster", "slower": "slower", "no_clear_difference": "no clear difference"}
    expect(page.locator("[data-part=judged]")).to_contain_text(words[verdict["code"]])


@needs_axe
def test_axe_finds_nothing_wrong_in_any_stop(visit: Callable[..., Page]) -> None:
    page = visit("?__theme=dark", has_form=False, viewport={"width": 390, "height": 800})
    opened(page)
    stop_transitions(page)
    page.evaluate(AXE.read_text(encoding="utf-8"))
    for stop in STOPS:
        given = {key: answers[-1] for key, answers in ANSWERS.items()}
        for answers in ({}, given) if stop in ("dice", "which") else (given,):
            answered(page, stop, answers)
            settle(page)
            found = page.evaluate("axe.run('.sq-tour', { resultTypes: ['violations'] })")
            problems = [
                f"{stop} {rule['id']}: {node['target']} {node['failureSummary']}"
                for rule in found["violations"]
                for node in rule["nodes"]
            ]
            assert problems == []
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

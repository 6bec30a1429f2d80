"""The panels about the steps of a lane, in a real Chromium: the page's own script files, with canned
runs and hand-made messages.

The test page comes from a plain file server on this machine. After every test the console and the
requests are checked.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from view_pages import batch, give, made, one_lane, opened, settle, watch

from sequoia.algorithm.tree import Tree

VIEW = "[data-part=view] > summary"
FORWARD = ".sq-transport [aria-label^='One step forward']"


@pytest.fixture
def page(tab: Any) -> Iterator[Any]:
    """The empty test page."""
    yield from opened(tab, "run")


LAST = 10**6  # beyond the last step of any run


def text(page: Any, part: str) -> str:
    return page.locator(part).inner_text()


def at(page: Any) -> int:
    settle(page)
    return int(page.locator(".sq-stage").get_attribute("data-step"))


def live(run: dict[str, Any]) -> dict[str, Any]:
    """A canned run as one whose messages arrive."""
    lanes = [one_lane(run["trees"][0])]
    return {**run, "run": "r", "lanes": lanes, "step_lanes": [0] * len(run["steps"])}


def states(run: dict[str, Any], step: dict[str, Any]) -> list[str]:
    """The state of each node, worked out from the wire format alone."""
    tree = Tree(tuple(run["trees"][step["tree"]]))
    path = set(step["verdict"]["path"])
    refused = {t["node"] for t in step["verdict"]["trials"] if not t["accepted"]}
    return [
        "root"
        if node == 0
        else "accepted"
        if node in path
        else "rejected"
        if node in refused
        else "untested"
        if tree.parents[node] in path
        else "never"
        for node in range(len(tree))
    ]


PILLS = """() => [...document.querySelectorAll('.sq-n')]
  .filter(g => g.style.display !== 'none').map(g => {
  const box = g.querySelector('rect').getBoundingClientRect(),
    text = g.querySelector('text').getBoundingClientRect().width;
  return {key: g.dataset.key, x: box.x, y: box.y, w: box.width, h: box.height, text};
})"""


def collisions(page: Any) -> list[tuple[str, str]]:
    """Pairs of pills (the boxes of tokens in the tree) that overlap by more than half a pixel, and
    pills narrower than their text."""
    boxes = page.evaluate(PILLS)
    found = [(box["key"], "its text") for box in boxes if box["text"] > box["w"] + 0.5]
    for i, a in enumerate(boxes):
        for b in boxes[i + 1 :]:
            wide = min(a["x"] + a["w"], b["x"] + b["w"]) - max(a["x"], b["x"])
            high = min(a["y"] + a["h"], b["y"] + b["h"]) - max(a["y"], b["y"])
            if wide > 0.5 and high > 0.5:
                found.append((a["key"], b["key"]))
    return found


# -- messages --------------------------------------------------------------------------------------


def test_batches_add_up_and_a_repeat_changes_nothing(page: Any, canned: dict[str, Any]) -> None:
    """Guards against steps lost or doubled when the last message is sent again, as Gradio does at
    the end."""
    run = canned["64"]
    give(page, batch(live(run), 0, 3))
    assert at(page) == 2
    for message in (
        batch(live(run), 3, 8),
        batch(live(run), 3, 8),
        batch(live(run), 0, 3),
        batch(live(run), 6, 10, done=True),
    ):
        give(page, message)
    assert page.locator(".sq-stage").get_attribute("data-steps") == "10"
    assert page.evaluate("stage.store.trees.length") == len(run["trees"])
    assert page.evaluate("stage.store.steps.map(s => s.index)") == list(range(10))


def test_strange_messages_break_nothing(page: Any, canned: dict[str, Any]) -> None:
    """Words without a run, an error before the first step, then a new run."""
    give(page, {"v": 1, "notice": "loading the models"})
    assert "Press Run" in text(page, "[data-part=empty]")
    assert "loading the models" in text(page, "[data-part=notice]")
    give(page, batch(live(canned["16"]), 0, 0))
    assert "Processing the prompt" in text(page, "[data-part=claim]")
    give(page, {"v": 1, "run": "r", "done": True, "error": "out of memory", "notice": None})
    assert "out of memory" in text(page, "[data-part=error]")
    give(page, {**batch(live(canned["16"]), 0, 2), "run": "next"})
    assert page.locator("[data-part=error]").is_hidden()
    assert page.locator("[data-part=tree]").is_visible()


# -- the tree --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["16", "128", "chain", "one"])
def test_every_node_shows_its_state(page: Any, canned: dict[str, Any], name: str) -> None:
    """Compares the states in the page with states computed from the messages, at three steps."""
    run = canned[name]
    for i in (0, 3, len(run["steps"]) - 1):
        watch(page, run, i)
        shown = page.evaluate(
            "[...document.querySelectorAll('.sq-n[data-node]')].sort((a, b) => a.dataset.node - "
            "b.dataset.node).map(g => g.dataset.s)"
        )
        assert shown == states(run, run["steps"][i])
        last = run["steps"][i]["verdict"]["path"][-1]
        leaf = last not in run["trees"][run["steps"][i]["tree"]]
        assert page.locator(".sq-n[data-key=bonus]").get_attribute("data-s") == (
            "bonus" if leaf else "correction"
        )


def test_long_tokens_are_cut_and_shown_in_full_in_the_inspector(
    page: Any, canned: dict[str, Any]
) -> None:
    """Guards against long tokens running into the next column; the inspector has the whole text."""
    piece = " incomprehensibilities不可解性"
    give(page, made(canned["128"]["trees"][0], piece))
    assert collisions(page) == []
    assert page.locator(".sq-n[data-node='0'] text").first.text_content().endswith("…")
    page.locator(".sq-n[data-node='0']").hover()
    settle(page)
    assert text(page, "[data-part=card-token]") == piece.replace(" ", "·")


def test_focus_is_the_default_for_a_large_tree(page: Any, canned: dict[str, Any]) -> None:
    """Focus mode draws the accepted path and the nodes that were tried, and folds most others into
    cells. A click unfolds a cell. F switches to all nodes and back."""
    run = canned["512"]
    i = 4
    watch(page, run, i)
    keys = {pill["key"] for pill in page.evaluate(PILLS)}
    step = run["steps"][i]
    assert {
        f"n{node}"
        for node in (
            *step["verdict"]["path"],
            *(t["node"] for t in step["verdict"]["trials"]),
        )
    } <= keys
    assert len(keys) < 60
    assert page.locator("[data-part=minimap]").is_visible()
    page.locator(".sq-n[data-key$=':untried']").first.click()
    settle(page)
    assert len(page.evaluate(PILLS)) > len(keys)
    assert collisions(page) == []
    page.keyboard.press("f")
    settle(page)
    assert len(page.evaluate(PILLS)) == 513
    page.keyboard.press("f")
    settle(page)
    assert len(page.evaluate(PILLS)) < 100


def test_search_finds_and_unfolds(page: Any, canned: dict[str, Any]) -> None:
    """'/' opens the search. Keys typed there have no other effect. Enter unfolds a hit and shows
    it."""
    run = canned["512"]
    watch(page, run, 2)
    step = run["steps"][2]
    wanted = run["pieces"][str(step["tokens"][-1])].strip().lower()
    page.keyboard.press("/")
    page.keyboard.type(wanted)
    settle(page)
    tokens = (*step["tokens"], step["verdict"]["bonus"])
    hits = sum(wanted in run["pieces"][str(token)].lower() for token in tokens)
    assert text(page, ".sq-hits") == f"{hits} of 513"
    assert at(page) == 2
    for _ in range(hits):
        page.keyboard.press("Enter")
        settle(page)
        pinned = page.evaluate("stage.store.pin")
        key = "bonus" if pinned == "bonus" else f"n{pinned}"
        assert page.locator(f".sq-n[data-key={key}]").is_visible()


def test_hover_previews_click_pins_escape_unpins(page: Any, canned: dict[str, Any]) -> None:
    """The inspector explains the node under the pointer, else the pinned one, else the last one
    tried."""
    run = canned["128"]
    i = 4
    watch(page, run, i)

    def piece(node: int) -> str:
        return run["pieces"][str(run["steps"][i]["tokens"][node])].replace(" ", "·")

    node = page.locator(".sq-n[data-node='60']")
    last = run["steps"][i]["verdict"]["trials"][-1]["node"]
    assert text(page, "[data-part=card-token]") == piece(last)
    node.hover()
    settle(page)
    assert text(page, "[data-figure=node] dd") == "60"
    node.click()
    page.mouse.move(5, 5)
    settle(page)
    assert text(page, ".sq-kicker") == "pinned"
    assert text(page, "[data-part=card-token]") == piece(60)
    page.keyboard.press("Escape")
    settle(page)
    assert page.locator(".sq-kicker").is_hidden()
    assert page.locator("[data-figure=node]").is_hidden()


def test_heat_is_the_share_of_steps_that_accept_a_node(page: Any, canned: dict[str, Any]) -> None:
    """Guards against a heat layer that counts the wrong nodes."""
    run = canned["64"]
    watch(page, run, 5)
    page.keyboard.press("h")
    settle(page)
    for node in (1, 2, 9):
        share = sum(node in step["verdict"]["path"] for step in run["steps"]) / len(run["steps"])
        shade = next(i for i, most in enumerate((0, 0.05, 0.2, 0.5, 1)) if share <= most)
        assert page.locator(f".sq-n[data-node='{node}']").get_attribute("data-heat") == str(shade)


# -- text, time lines, keyboard and live runs ------------------------------------------------------


def test_text_carries_its_origin(page: Any, canned: dict[str, Any]) -> None:
    """The text shows which tokens came from the draft."""
    run = canned["64"]
    watch(page, run, LAST)
    drafted = sum(
        min(len(step["emitted"]), len(step["verdict"]["path"]) - 1) for step in run["steps"]
    )
    assert page.locator("[data-part=flow] .sq-tok-draft").count() == drafted
    assert (
        page.locator("[data-part=flow] .sq-tok-own").count()
        == sum(len(step["emitted"]) for step in run["steps"]) - drafted
    )
    shown = page.locator("[data-part=flow]").evaluate("e => e.textContent.replaceAll('⏎', '')")
    assert shown == "".join("".join(step["text"]) for step in run["steps"])


def test_the_end_of_a_lane_is_shown_with_its_reason(page: Any, canned: dict[str, Any]) -> None:
    """Guards against a stopped run being called finished."""
    give(page, batch(live(canned["64"]), 0, 3))
    assert text(page, "[data-part=end]") == ""
    for end, shown in (
        ("stopped", "stopped"),
        ("paused", "paused"),
        ("time", "time limit reached"),
    ):
        give(page, {"v": 1, "run": "r", "done": True, "end": end})
        assert text(page, "[data-part=end]") == shown
    give(page, batch(live(canned["64"]), 3, 4))
    assert text(page, "[data-part=end]") == ""


def test_the_end_of_a_file_is_read_from_its_last_step(page: Any, canned: dict[str, Any]) -> None:
    run = canned["16"]
    watch(
        page,
        {**run, "steps": [*run["steps"][:-1], {**run["steps"][-1], "finish": "eos"}]},
        len(run["steps"]) - 1,
    )
    assert text(page, "[data-part=end]") == "end of text"
    watch(page, run, len(run["steps"]) - 1)
    assert text(page, "[data-part=end]") == "stopped"


def test_a_run_whose_prompt_is_not_that_of_the_form_is_marked(
    page: Any, canned: dict[str, Any]
) -> None:
    """Guards against a recorded run that looks like the output for the prompt in the form."""
    run = canned["16"]
    watch(page, run, 2)
    assert run["meta"]["prompt"] in text(page, "[data-part=prompt]")
    for prompt, other in ((run["meta"]["prompt"] + " ", True), (run["meta"]["prompt"], False)):
        page.evaluate(
            "prompt => { stage.stage.prompts.page.prompt = () => prompt; stage.store.changed(); }",
            prompt,
        )
        settle(page)
        assert ("a different prompt" in text(page, "[data-part=prompt]")) is other


@pytest.mark.parametrize("button", [FORWARD, "[data-part=heat]", "[data-part=all]"])
def test_space_plays_after_a_click_but_presses_a_button_reached_by_tab(
    page: Any, canned: dict[str, Any], button: str
) -> None:
    """Guards against a space bar that presses the last clicked button again. A button reached with
    Tab must be pressed."""
    watch(page, canned["64"], 10)
    page.click(VIEW)
    page.click(button)
    page.keyboard.press(" ")
    assert page.evaluate("stage.store.playing") is True
    page.keyboard.press(" ")
    page.evaluate("stage.seek(10)")
    page.locator("[data-part=track]").focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press(" ")
    assert page.evaluate("stage.store.playing") is False
    assert at(page) != 10


def test_run_and_stop_have_keys(page: Any, canned: dict[str, Any]) -> None:
    """Control+Enter starts a run, except in the search field and in the help. Escape stops the run,
    except in an input, the search field and the help. If a node is pinned, Escape only unpins
    it."""
    watch(page, canned["64"], 10)
    page.evaluate(
        "() => { window.done = []; stage.stage.keys.page = {run: () => done.push('run'), stop: () "
        "=> done.push('stop')}; for (const tag of ['textarea', 'input']) "
        "document.body.append(document.createElement(tag)); }"
    )
    said = lambda: page.evaluate("done.splice(0)")  # noqa: E731
    for key, wanted in (
        ("Control+Enter", ["run"]),
        ("Meta+Enter", ["run"]),
        ("Enter", []),
        ("Escape", ["stop"]),
    ):
        page.keyboard.press(key)
        assert said() == wanted, key
    page.click(VIEW)
    page.evaluate("stage.store.set({pin: 1})")
    page.keyboard.press("Escape")
    assert (said(), page.evaluate("stage.store.pin")) == ([], None)
    for place, wanted in (
        ("body > textarea", ["run", "stop"]),
        ("body > input", ["run"]),
        ("[data-part=search]", []),
    ):
        page.locator(place).focus()
        page.keyboard.press("Control+Enter")
        page.keyboard.press("Escape")
        assert said() == wanted, place
    page.locator("body > input").blur()
    page.keyboard.press("?")
    page.keyboard.press("Control+Enter")
    page.keyboard.press("Escape")
    assert said() == []
    assert page.locator("[data-part=help]").is_hidden()


def test_keys_move_through_the_run(page: Any, canned: dict[str, Any]) -> None:
    """Checks the arrow keys, Home, End, space and "?". While someone is typing, keys do nothing
    else."""
    watch(page, canned["64"], 10)
    places = []
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft", "Home", "ArrowLeft", "End"):
        page.keyboard.press(key)
        places.append(at(page))
    assert places == [11, 12, 11, 0, 0, 47]
    page.keyboard.press("Home")
    page.keyboard.press(" ")
    page.wait_for_function("stage.store.at > 2")
    page.keyboard.press(" ")
    assert page.evaluate("stage.store.playing") is False
    page.keyboard.press("?")
    assert page.locator("[data-part=help]").is_visible()
    page.keyboard.press("Escape")
    assert page.locator("[data-part=help]").is_hidden()
    place = at(page)
    page.keyboard.press("/")
    assert page.locator("[data-part=search]").is_visible()
    page.keyboard.type("f l ")
    assert at(page) == place
    assert page.evaluate("stage.store.mode") is None


def test_nothing_is_animated_while_steps_arrive(page: Any, canned: dict[str, Any]) -> None:
    """Protects the speed of decoding on the same machine: any animation, however small, makes the
    browser paint sixty times a second."""
    give(page, batch(live(canned["64"]), 0, 5))
    give(page, batch(live(canned["64"]), 5, 9))
    page.wait_for_timeout(400)
    assert page.locator(".sq-stage.is-live").count() == 1
    assert (
        page.evaluate("document.getAnimations().filter(one => one.playState === 'running').length")
        == 0
    )


def test_following_a_live_run_stops_and_resumes(page: Any, canned: dict[str, Any]) -> None:
    """Going back to an earlier step stops follow mode, and L resumes it. Steps keep arriving in
    between."""
    run = canned["64"]
    give(page, batch(live(run), 0, 5))
    assert text(page, "[data-part=badge]") == "measured live"
    page.keyboard.press("ArrowLeft")
    give(page, batch(live(run), 5, 9))
    assert at(page) == 3
    page.keyboard.press("l")
    assert at(page) == 8
    give(page, batch(live(run), 9, 12))
    assert at(page) == 11


def test_track_and_bars_seek(page: Any, canned: dict[str, Any]) -> None:
    """A click on the track or on the bars goes to the step under the pointer. The bars show the
    time of each phase."""
    run = canned["128"]
    watch(page, run, 0)
    box = page.locator("[data-part=track]").bounding_box()
    count = len(run["steps"])
    page.mouse.click(box["x"] + box["width"] * 20.5 / count, box["y"] + 10)
    assert at(page) == 20
    assert page.locator("[data-part=track]").get_attribute("aria-valuenow") == "21"
    assert f"{run['steps'][20]['seconds']['draft'] * 1000:.1f} ms" in text(
        page, "[data-part=bar-values]"
    )
    bars = page.locator(".sq-bars-box")
    bars.click(position={"x": 46 + (bars.bounding_box()["width"] - 56) * 7.5 / count, "y": 60})
    assert at(page) == 7


def test_the_tree_can_be_walked_by_keyboard(page: Any, canned: dict[str, Any]) -> None:
    """Without a pointer: arrow keys move from cell to cell, Enter pins, and the label of a cell
    gives its depth."""
    watch(page, canned["16"], 3)
    page.locator(".sq-n[data-node='0']").focus()
    page.keyboard.press("ArrowRight")
    settle(page)
    focused = "document.activeElement"
    assert page.evaluate(f"{focused}.dataset.key") == "n1"
    assert "guess 1" in page.evaluate(f"{focused}.getAttribute('aria-label')")
    page.keyboard.press("Enter")
    assert page.evaluate("stage.store.pin") == 1
    assert at(page) == 3


# -- words --------------------------------------------------------------------------------------


def figures(page: Any) -> dict[str, str]:
    """The figures of the inspector that are shown, by their labels."""
    return page.evaluate(
        "Object.fromEntries([...document.querySelectorAll('.sq-figures > :not([hidden])')].map("
        "box => [box.querySelector('dt').textContent, box.querySelector('dd').textContent]))"
    )


def test_at_temperature_0_no_draw_is_shown(page: Any) -> None:
    """At temperature 0 the draw u and the ratio p/q do not affect the result."""
    run = made([-1, 0, 0], trials=[[1, 0.0, 0.6, 0.41, False, 1.0]])
    give(page, {**run, "run": "warm"})
    assert {"u", "p / q"} <= figures(page).keys()
    assert page.locator(".sq-inspector .sq-meter").is_visible()
    page.click("[data-part=story] > summary")
    assert "u 0.41" in text(page, "[data-part=trials]")
    give(page, {**run, "meta": {**run["meta"], "params": {"temperature": 0}}})
    assert not {"u", "p / q"} & figures(page).keys()
    assert page.locator(".sq-inspector .sq-meter").is_hidden()
    assert "u 0.41" not in text(page, "[data-part=trials]")


# -- motion, colours and space --------------------------------------------------------------------


def test_a_recorded_run_does_not_play_with_reduced_motion(
    page: Any, canned: dict[str, Any]
) -> None:
    page.emulate_media(reduced_motion="reduce")
    page.evaluate("text => stage.ingest(JSON.parse(text))", json.dumps(canned["16"]))
    settle(page)
    best = page.evaluate("modules.bestStep(stage.store)")
    assert (at(page), page.evaluate("stage.store.playing")) == (best, False)
    page.keyboard.press(" ")
    assert page.evaluate("stage.store.playing")  # it still plays on request
    page.emulate_media(reduced_motion="no-preference")


@pytest.mark.parametrize("shade", ["light", "dark"])
def test_colours_stand_out_from_their_background(
    page: Any, canned: dict[str, Any], shade: str
) -> None:
    """In each state that occurs in the step, the text of a pill has a contrast of at least 4.5 to 1
    with the pill."""
    page.evaluate("dark => document.body.classList.toggle('dark', dark)", shade == "dark")
    watch(page, canned["128"], 9)
    page.wait_for_timeout(250)
    worst = page.evaluate("""() => {
      const part = v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
      const light = c => c.match(/[\\d.]+/g).slice(0, 3)
        .reduce((sum, v, i) => sum + [0.2126, 0.7152, 0.0722][i] * part(+v), 0);
      const ratio = g => { const [a, b] = ['text', 'rect']
        .map(n => light(getComputedStyle(g.querySelector(n)).fill));
        return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05); };
      return Object.fromEntries([
        'root', 'accepted', 'rejected', 'untested', 'never', 'correction', 'bonus']
        .map(s => [s, document.querySelector(`.sq-n[data-s=${s}]`)])
          .filter(([, g]) => g).map(([s, g]) => [s, ratio(g)]));
    }""")
    assert len(worst) >= 5
    assert {s: round(r, 2) for s, r in worst.items() if r < 4.5} == {}

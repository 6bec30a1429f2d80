"""Pictures of a step's tree, as a visitor saves them. The tests read the files, and draw them again
without the page's style sheets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from view_pages import HOSTILE, all_hostile, give, opened, settle, watch

SVG = "{http://www.w3.org/2000/svg}"
SHOWN = "[...document.querySelectorAll('.sq-n')].filter(g => g.style.display !== 'none')"


@pytest.fixture
def page(tab: Any) -> Iterator[Any]:
    """The empty test page."""
    yield from opened(tab, "run")


def kept(page: Any, form: str, step: int) -> bytes:
    """The picture of `step`, as the button saves it."""
    with page.expect_download() as saved:
        page.evaluate("stage.stage.tree.tools.root.open = true")
        page.click(f"[data-part=tree] [data-save={form}]")
    assert saved.value.suggested_filename == f"sequoia-step-{step + 1}.{form}"
    return Path(saved.value.path()).read_bytes()


def drawing(page: Any, step: int = 0) -> ElementTree.Element:
    return ElementTree.fromstring(kept(page, "svg", step))


def words_of(picture: ElementTree.Element) -> list[str]:
    return [one.text or "" for one in picture.iter(f"{SVG}text")]


def tree_of(picture: ElementTree.Element) -> ElementTree.Element:
    """The part of a picture that is the tree."""
    return next(one for one in picture.iter(f"{SVG}svg") if one is not picture)


def mode(page: Any, name: str, **more: Any) -> None:
    page.evaluate("([mode, more]) => stage.store.set({ mode, ...more })", [name, more])
    settle(page)


@pytest.mark.parametrize("dark", [False, True])
def test_a_picture_says_what_it_shows_and_needs_nothing_from_the_page(
    page: Any, canned: dict[str, Any], dark: bool
) -> None:
    page.evaluate("dark => document.body.classList.toggle('dark', dark)", dark)
    run = canned["16"]
    watch(page, run, 3)
    picture = drawing(page, 3)
    words = words_of(picture)
    assert words[0].startswith("Step 4 (recorded): ")
    assert words[1] == f"{run['meta']['target']} + {run['meta']['draft']}"
    assert {"text so far", "large model"} <= {*words}
    assert any(one.endswith("out of reach") for one in words)
    names = {name for one in picture.iter() for name in one.attrib}
    assert not {
        name
        for name in names
        if name in ("class", "style", "role", "tabindex") or name.startswith(("data-", "aria-"))
    }
    paints = {one.attrib.get(name) for one in picture.iter() for name in ("fill", "stroke")} - {
        None,
        "none",
    }
    assert all(re.fullmatch("#[0-9a-f]{6}", paint) for paint in paints if paint)
    ground = next(picture.iter(f"{SVG}rect")).attrib["fill"]
    assert (int(ground[1:3], 16) < 60) == dark


def test_a_picture_contains_what_is_drawn_and_nothing_hidden(
    page: Any, canned: dict[str, Any]
) -> None:
    """Nodes that are no longer drawn stay on the page, hidden, until another tree is drawn."""
    run = canned["16"]
    for look, step in (("focus", 2), ("all", 3), ("focus", len(run["steps"]) - 1), ("focus", 0)):
        watch(page, run, step)
        mode(page, look)
        shown = page.evaluate(
            f"{SHOWN}.flatMap(g => [...g.querySelectorAll('text')].map(t => t.textContent))"
        )
        assert sorted(words_of(tree_of(drawing(page, step)))) == sorted(shown)


def test_a_picture_of_part_of_the_tree_says_so(page: Any, canned: dict[str, Any]) -> None:
    watch(page, canned["128"], 2)
    for look, said in (("focus", True), ("all", False)):
        mode(page, look)
        assert (
            any(
                one.startswith("Only part of the tree is drawn")
                for one in words_of(drawing(page, 2))
            )
            == said
        )


def test_hostile_text_stays_text(page: Any, tmp_path: Path) -> None:
    """The file is opened as a document of its own, where a script in it would run."""
    give(page, all_hostile())
    mode(page, "all")
    shown = page.evaluate(f"{SHOWN}.map(g => g.querySelector('.sq-n-text').textContent)")
    source = kept(page, "svg", 0)
    picture = ElementTree.fromstring(source)
    assert {one.tag.split("}")[1] for one in picture.iter()} <= {
        "svg",
        "title",
        "rect",
        "g",
        "path",
        "text",
    }
    assert len(shown) == len(HOSTILE) + 2
    assert {*shown} <= {*words_of(tree_of(picture))}
    assert kept(page, "png", 0)[:4] == b"\x89PNG"
    assert page.evaluate("window.pwned ?? null") is None
    file = tmp_path / "kept.svg"
    file.write_bytes(source)
    alone = page.context.new_page()
    alone.goto(file.as_uri())
    assert alone.evaluate("[window.pwned ?? null, document.documentElement.localName]") == [
        None,
        "svg",
    ]
    alone.close()


def test_a_picture_is_of_the_step_that_is_drawn(page: Any, canned: dict[str, Any]) -> None:
    """In a live run the newest step may not be drawn yet."""
    watch(page, canned["16"], 3)
    with page.expect_download() as saved:
        page.evaluate(
            "() => { stage.seek(5); document.querySelector('[data-part=tree] "
            "[data-save=svg]').click(); }"
        )
    assert saved.value.suggested_filename == "sequoia-step-4.svg"
    assert words_of(ElementTree.fromstring(Path(saved.value.path()).read_bytes()))[0].startswith(
        "Step 4 "
    )

"""Every name that a script asks an explanation for has one, and none is left that nobody asks
for."""

from __future__ import annotations

import re

import pytest

from ui.shared.theme import FOLDER
from ui.shared.tooltips import script, tooltips
from ui.shared.web_folder import WEB

SCRIPTS = "\n".join(
    path.read_text(encoding="utf-8")
    for folder in (WEB, FOLDER)
    for path in sorted(folder.rglob("*.js"))
)
BY_NAME = re.compile(r'S\.tooltips\["([^"]+)"\]|: "(button [^"]+)"')
MADE = ("why ", "way ", "shape ")  # and the name of a figure, a way to count, a shape


def test_every_requested_name_is_explained() -> None:
    asked = {name for pair in BY_NAME.findall(SCRIPTS) for name in pair if name}
    assert len(asked) > 20
    assert asked <= set(tooltips())


def test_no_explanation_is_unused() -> None:
    every = SCRIPTS.lower()  # some names are the word itself
    assert [
        name
        for name in tooltips()
        if f'"{name.lower()}"' not in every and not name.startswith(MADE)
    ] == []


@pytest.mark.parametrize("name", tooltips())
def test_an_explanation_is_a_sentence_or_says_what_a_button_does(name: str) -> None:
    words = tooltips()[name]
    assert words[0].isupper() or words[0].isdigit() or words.startswith(("t(n)", "T["))
    assert words.endswith(".") != name.startswith("button ")


def test_no_explanation_ends_the_script_it_stands_in() -> None:
    assert "</" not in script()
    assert script().startswith("window.Sequoia = {")

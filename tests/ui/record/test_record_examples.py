"""The recipes of the recorded examples are valid."""

from __future__ import annotations

from sequoia.algorithm.verifiers import VERIFIERS
from ui.record.examples import SHUFFLED, recipes
from ui.run import recordings

OTHERS = ("welcome-smollm2-135m", "smollm2-drafts", "a100")  # recorded one by one


def test_the_recipes_are_valid_and_recorded() -> None:
    found = recipes()
    assert {one.name for one in found} | {recordings.WELCOME, *OTHERS} == {*recordings.shipped()}
    for one in found:
        assert one.request(96).params.max_new_tokens == 96
        assert one.verifier in VERIFIERS
        assert one.draft in ("", SHUFFLED)
    assert sum(one.shows.startswith(("slower", "fewer")) for one in found) >= 4

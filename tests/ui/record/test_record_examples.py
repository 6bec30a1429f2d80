"""The recipes of the recorded examples are valid. Also tested: which of several runs is kept, and
the check that the kept run shows what its recipe requires."""

from __future__ import annotations

import pytest

from sequoia import Run, SequoiaError, StepTrace, Tree
from sequoia.algorithm.verifiers import VERIFIERS
from sequoia.algorithm.verifiers.verifier import Verdict
from sequoia.saved_files.race_file import LaneLog, RaceLog
from ui.record.examples import SHUFFLED, Recipe, recipes, require_shown
from ui.run import recordings

OTHERS = ("welcome-smollm2-135m", "smollm2-drafts", "a100")  # recorded one by one


def run(plain_seconds: float, seconds: float = 1.0) -> RaceLog:
    """A run of two lanes, each with one step that emits one token. seconds: the time of the first
    lane's step. plain_seconds: that of the second lane, plain decoding."""

    def lane(seconds: float) -> LaneLog:
        times = {"draft": 0.0, "verify": seconds, "overhead": 0.0}
        verdict = Verdict((0,), 1, ())
        step = StepTrace(
            0, 0, Tree.chain(1), (0,), (None,), (None,), verdict, (1,), times, text=("",)
        )
        return LaneLog("a lane", "", "sequoia", True, 1, False, Run({}, {}, (step,)))

    return RaceLog({}, (lane(seconds), lane(plain_seconds)))


def recipe(name: str, shows: str = "") -> Recipe:
    return Recipe(name, name, name + ".", "function", 0.6, ("best", 12, 6), shows)


def test_the_recipes_are_valid_and_recorded() -> None:
    found = recipes()
    assert {one.name for one in found} | {recordings.WELCOME, *OTHERS} == {*recordings.shipped()}
    for one in found:
        assert one.request(96).params.max_new_tokens == 96
        assert one.verifier in VERIFIERS
        assert one.draft in ("", SHUFFLED)
    assert sum(one.shows.startswith(("slower", "fewer")) for one in found) >= 4


def test_a_run_must_show_what_its_recipe_says() -> None:
    runs = {"a": run(0.8), "b": run(1.5)}
    for shows in ("", "slower", "slower than b"):
        require_shown(recipe("a", shows), runs)
    require_shown(recipe("b", "faster than a"), runs)
    with pytest.raises(SequoiaError, match=r"a: 0\.80, which is not clearly faster than 1\.00"):
        require_shown(recipe("a", "faster"), runs)

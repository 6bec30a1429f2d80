"""Which run the page opens with: a typical one, not the fastest."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sequoia import Run, StepTrace, Tree
from sequoia.algorithm.verifiers.verifier import Trial, Verdict
from sequoia.saved_files.race_file import LaneLog, RaceLog
from ui.record import __main__ as command
from ui.record import opening
from ui.record.opening import Candidate, chosen
from ui.shared.prompts import OPENING_FILE, Preset, read_prompts, surveyed_texts

FORK = Tree((-1, 0, 0))
PIECES = dict.fromkeys((0, 1, 2, 9), "")


def step(node: int, seconds: float = 1.0) -> StepTrace:
    """A step that accepts `node` of a tree with two children, and emits two tokens."""
    trials = tuple(Trial(k, k, 0.5, 0.5, 0.5, k == node, None) for k in range(1, node + 1))
    verdict = Verdict((0, node), 9, trials)
    times = {"draft": seconds, "verify": 0.0, "overhead": 0.0}
    return StepTrace(
        0, 0, FORK, (0, 1, 2), (None,) * 3, (None,) * 3, verdict, (node, 9), times, text=("", "")
    )


def candidate(name: str, speedup: float, node: int = 2) -> Candidate:
    """A prompt with one run, of the given speed-up. The run is a step that takes 1 s and emits two
    tokens."""
    plain = replace(step(node, speedup), tree=Tree.chain(1), tokens=(0,), draft_p=(None,))
    plain = replace(plain, target_p=(None,), verdict=Verdict((0,), 9, ()), emitted=(9,), text=("",))
    plain = replace(plain, seconds={**plain.seconds, "draft": speedup / 2})
    lanes = [
        LaneLog("a lane", "", "sequoia", one is plain, 3, False, Run({}, PIECES, (one,)))
        for one in (step(node), plain)
    ]
    return Candidate(name, (RaceLog({}, tuple(lanes)),))


def test_the_run_nearest_the_median_is_chosen_and_not_the_fastest() -> None:
    found = [candidate(name, by) for name, by in (("a", 1.0), ("b", 1.6), ("c", 1.5), ("d", 3.0))]
    assert chosen([*found, candidate("e", 1.7)]).name == "b"


def test_the_speed_up_of_a_prompt_is_the_median_of_its_runs() -> None:
    runs: list[Any] = [candidate("a", by).run for by in (1.0, 1.2, 5.0)]
    many = Candidate("a", tuple(runs))
    assert many.speedup == pytest.approx(1.2)
    assert many.run is runs[1]
    assert replace(many, runs=tuple(runs[:2])).speedup == pytest.approx(1.1)


def first_definition(text: str) -> str:
    """The line of the first function or class in `text`; all of `text` if it has none."""
    found = re.search(r"^ *(?:async )?(?:def|class) .*$", text, re.MULTILINE)
    return found.group() if found else text


@pytest.mark.parametrize("prompt", read_prompts(OPENING_FILE), ids=lambda prompt: prompt.name)
def test_no_prompt_is_a_text_that_trees_are_planned_on(prompt: Preset) -> None:
    """Trees are planned with acceptance rates measured on certain texts. The opening run must not
    use such a text. A prompt counts as one if the prompt or the text begins with the other, or if
    both have the same first definition."""
    surveyed = surveyed_texts("code")
    assert surveyed
    text = prompt.text.strip()
    assert not any(text.startswith(one) or one.startswith(text) for one in surveyed)
    assert first_definition(text) not in map(first_definition, surveyed)


def test_the_opening_run_is_written_to_the_given_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = [candidate(name, by) for name, by in (("a", 1.0), ("b", 1.6), ("c", 1.5))]
    monkeypatch.setattr(opening, "_candidates", lambda *_: found)
    assert command.main(["opening", "--out", str(tmp_path / "new")]) == 0
    written = json.loads((tmp_path / "new" / "welcome.json").read_text())
    assert written["meta"]["opening"]["median"] == 1.5
    assert "median 1.50x, middle 80%" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "temperature"),
    [
        ([], 0.6),
        (["--preset", "verifiers"], 1.0),
        (["--preset", "verifiers", "--temperature", "0"], 0.0),
    ],
)
def test_a_run_is_recorded_at_the_given_temperature_or_that_of_its_preset(
    options: list[str], temperature: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "host_of", lambda *_: None)
    asked = []
    made = candidate("a", 1.0).run
    monkeypatch.setattr(command, "record", lambda request, *_: asked.append(request) or made)
    assert command.main(["run", "mine", *options, "--out", str(tmp_path)]) == 0
    assert (tmp_path / "mine.json").exists()
    assert [one.params.temperature for one in asked] == [temperature]

"""Resampling of recorded steps, the file of recorded steps, and the command on a few races."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from fakes import tiny_pair

from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.tree import Tree
from sequoia.bench import race_errors
from sequoia.bench.race_errors import STEPS, Resampler, main, window
from sequoia.bench.recorded_steps import Session, read_sessions, record_session, write_sessions
from sequoia.errors import BadTrace

TREES = {"plain": Tree.chain(1), "chain": Tree.chain(3), "tree": Tree.kary(2, 3)}


@pytest.fixture(scope="module")
def session() -> Session:
    """At temperature 0, so that all lanes have the same text."""
    params = SamplingParams(temperature=0.0, max_new_tokens=24, ignore_eos=True)
    return record_session(tiny_pair(), "a prompt", "def area(", params, TREES)


def test_a_session_has_a_fixed_number_of_runs_of_each_kind(session: Session) -> None:
    assert {kind: len(runs) for kind, runs in session.by_kind.items()} == {
        "plain": 1,
        "chain": 2,
        "tree": 4,
    }
    assert all(sum(tokens for tokens, _ in run.steps) == 24 for run in session.runs)
    assert session.common == 24


def test_a_file_of_recorded_steps_is_read_as_it_was_written(
    session: Session, tmp_path: Path
) -> None:
    path = tmp_path / "new" / "steps.json"
    write_sessions(path, {"pair": "tiny", "device": "cpu"}, [session])
    about, (again,) = read_sessions(path)
    assert about == {"pair": "tiny", "device": "cpu"}
    for run, before in zip(again.runs, session.runs, strict=True):
        assert (run.kind, run.common) == (before.kind, before.common)
        assert [tokens for tokens, _ in run.steps] == [tokens for tokens, _ in before.steps]
        assert [seconds for _, seconds in run.steps] == pytest.approx(
            [seconds for _, seconds in before.steps], abs=1e-5
        )


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "other", "sessions": []}'])
def test_a_file_of_another_kind_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "steps.json"
    path.write_text(text)
    with pytest.raises(BadTrace, match="make one with --record"):
        read_sessions(path)


def test_a_file_without_enough_to_resample_is_refused(session: Session, tmp_path: Path) -> None:
    path = tmp_path / "steps.json"
    header = {"pair": "tiny", "device": "cpu"}
    for about, sessions, said in (
        (header, [], "it has no sessions"),
        ({"pair": "tiny"}, [session], "has no pair or device"),
        (header, [replace(session, runs=session.runs[:-1])], "3 runs of kind 'tree'; it needs 4"),
        (header, [replace(session, runs=session.runs[1:])], "0 runs of kind 'plain'; it needs 1"),
    ):
        write_sessions(path, about, sessions)
        with pytest.raises(BadTrace, match=said):
            read_sessions(path)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--races", "0"], "--races: 0 is not a whole number from 1"),
        (["--tokens", "96", "0"], "--tokens: 0 is not a whole number from 1"),
        (["--record", "--record-tokens", "64"], "--tokens: 96 is not a whole number from 1 to 64"),
        (["--record", "--record-tokens", "0"], "--record-tokens: 0 is not a whole number from 1"),
        (["--record", "--prompts", "0"], "--prompts: 0 is not a whole number from 1"),
        (["--record", "--repeats", "0"], "--repeats: 0 is not a whole number from 1"),
        (["--record", "--steps", "/dev/null/steps.json"], "/dev/null/steps.json cannot be written"),
    ],
)
def test_a_bad_option_is_refused_in_one_line(
    arguments: list[str], said: str, refuses: Callable[..., None]
) -> None:
    refuses(race_errors, arguments, said)


def test_a_race_longer_than_the_recorded_runs_is_refused(
    session: Session, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "steps.json"
    write_sessions(path, {"pair": "tiny", "device": "cpu"}, [session])
    shortest = min(run.length for run in session.runs)
    assert main(["--steps", str(path), "--tokens", "1", str(shortest + 1)]) == 2
    said = f"error: --tokens: {shortest + 1} is not a whole number from 1 to {shortest}"
    assert capsys.readouterr().err.startswith(said)


def test_a_window_cuts_steps_at_both_ends() -> None:
    steps = ((4, 0.4), (2, 0.1), (4, 0.8))
    assert window(steps, 2, 6) == ((2, 0.2), (2, 0.1), (2, pytest.approx(0.4)))
    assert window(steps, 0, 6, gain=2) == ((4, 0.2), (2, 0.05))


def test_lanes_of_a_resampled_race_are_different_runs_of_one_session(session: Session) -> None:
    lanes = [("tree", 1.0)] * 4
    race = Resampler([session], 1).race(lanes, 24, 5)
    assert {run.race for run in race} == {("a prompt", 5)}
    times = {tuple(seconds for _, seconds in run.steps) for run in race}
    assert len(times) == 4


def test_bundled_steps_are_small_and_can_be_read() -> None:
    assert STEPS.stat().st_size <= 300_000
    _, sessions = read_sessions(STEPS)
    assert {session.temperature for session in sessions} == {0.0, 0.6}
    assert all(len(session.by_kind["tree"]) == 4 for session in sessions)


def test_the_command_prints_its_figures(
    session: Session, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "steps.json"
    write_sessions(path, {"pair": "tiny", "device": "cpu"}, [session])
    assert main(["--steps", str(path), "--races", "2", "--tokens", "24"]) == 0
    printed = capsys.readouterr().out
    assert "identical lanes found different after one race" in printed
    assert "true difference of 10% found after enough races" in printed


def test_a_missing_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--steps", str(tmp_path / "none.json")]) == 2
    assert "none.json is not a file of recorded steps" in capsys.readouterr().err

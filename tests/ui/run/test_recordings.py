"""No file is trusted, and the memory for opened runs is bounded. Also the recorded examples."""

from __future__ import annotations

import json
import random
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sequoia.errors import BadTrace
from ui.run import recordings
from ui.run.messages import new_name
from ui.run.recordings import RunStore
from ui.run.report import drafted_lane

RACE = Path(__file__).resolve().parents[2] / "saved" / "races" / "greedy.json"


@pytest.fixture
def file() -> str:
    return RACE.read_text(encoding="utf-8")


def test_the_size_is_checked_before_the_file_is_read(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.json"
    path.write_text(file)
    monkeypatch.setattr(Path, "read_bytes", lambda _: pytest.fail("was read"))
    with pytest.raises(
        BadTrace, match=r"the file has [\d,]+ bytes; a race file may have at most 100$"
    ):
        recordings.opened(str(path), 100)


@pytest.mark.parametrize(
    "path", [None, 3, ["x"], {"path": "x"}, "/no/such/file.json", "/", "x\x00y"]
)
def test_an_invalid_path_is_refused(path: Any) -> None:
    with pytest.raises(BadTrace):
        recordings.opened(path, 1000)


@dataclass
class Sized:
    name: str
    node_count: int


def test_the_store_keeps_a_bounded_number_of_runs_and_nodes() -> None:
    """The newest run is kept even if it alone has too many nodes."""
    run_store = RunStore(runs=3, nodes=100)
    for name in "abcd":
        run_store.put(Sized(name, 10))
    assert [name for name in "abcd" if run_store.get(name)] == ["b", "c", "d"]
    run_store.put(Sized("e", 95))
    assert [name for name in "bcde" if run_store.get(name)] == ["e"]
    run_store.put(Sized("f", 1000))
    assert run_store.get("f")
    assert not run_store.get("e")


def test_a_race_of_few_nodes_and_long_texts_is_heavy(tmp_path: Path) -> None:
    """Guards against files of few nodes whose texts fill the memory. For example, a file of 6.7 MB
    took 35 MB of memory."""
    data = json.loads(RACE.read_text(encoding="utf-8"))
    light = recordings.opened(str(RACE), 10**7)
    pieces = data["lanes"][0]["run"]["pieces"]
    pieces |= {str(10**6 + i): "a" * 900 for i in range(1000)}
    path = tmp_path / "heavy.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    heavy = recordings.opened(str(path), 10**7)
    assert heavy.node_count >= light.node_count + 900_000 // recordings.NODE_BYTES


@pytest.mark.parametrize("name", [None, 3, [], {}, "nobody"])
def test_the_store_knows_only_its_own_names(name: Any) -> None:
    assert RunStore(1, 1).get(name) is None


def test_every_shipped_run_is_an_example_with_a_title_and_a_sentence() -> None:
    found = recordings.examples()
    assert found[0].name == recordings.WELCOME
    assert [one.name for one in found] == [*recordings.shipped()]
    assert len(found) >= 9
    assert len({one.title for one in found}) == len(found)
    for one in found:
        assert one.about.endswith(".")
        run = recordings.example(one.name)
        assert run.meta["label"] in ("recorded", "simulated")
        assert drafted_lane(run.log(), run.verdict).plain_seconds > 0
        assert recordings.example_shown_as(run.name).meta == run.meta
    assert sum(path.stat().st_size for path in recordings.shipped().values()) < 1_800_000


def test_a_pair_with_a_film_of_its_own_shows_that_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str
) -> None:
    monkeypatch.setattr(recordings, "RUNS", tmp_path)
    for name in ("welcome", "welcome-small", "another"):
        (tmp_path / f"{name}.json").write_text(file)
    for draft, name in (("small", "welcome-small"), ("other", "welcome"), ("", "welcome")):
        assert recordings.film_name(draft) == name
        assert recordings.film(name).name.partition(".")[0] == name
    (tmp_path / "welcome-small.json").write_text("{")
    assert recordings.film("welcome-small").name.partition(".")[0] == "welcome"


def test_any_readable_run_in_the_folder_is_an_example(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str
) -> None:
    """The title and the sentence are optional."""
    monkeypatch.setattr(recordings, "RUNS", tmp_path)
    (tmp_path / "mine.json").write_text(file)
    (tmp_path / "broken.json").write_text("{")
    assert recordings.examples() == [recordings.Example("mine", "mine", "")]


def test_names_cannot_be_guessed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The name of a run is enough to open it. So names consist of at least 9 random bytes from
    `secrets`, and do not depend on the state of `random`."""
    names = []
    for _ in range(200):
        random.seed(1)
        names.append(new_name())
    assert len({*names}) == len(names)
    given: list[int] = []
    monkeypatch.setattr(secrets, "token_urlsafe", lambda size: given.append(size) or "name")
    assert new_name() == "name"
    assert given[0] >= 9

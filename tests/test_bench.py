"""The benchmark's command on a tiny pair: every decoder takes part, ratios are of one round, and bad input is said."""

from __future__ import annotations

import json
import statistics
from pathlib import Path

import pytest
from fakes import noisy, save, tiny_model

from sequoia import bench, survey


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder, target = tmp_path_factory.mktemp("pair"), tiny_model()
    return ["--target", save(target, folder / "target"), "--draft", save(noisy(target, 0.05, 0), folder / "draft")]


def test_every_decoder_takes_part(folders: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "report.json"
    assert bench.main([*folders, "--prompts", "code", "--limit", "1", "--temperature", "0", "--tokens", "8", "--rounds", "2",
                       "--assistant-tokens", "2", "--grid", "--json", str(out)]) == 0
    rows = json.loads(out.read_text())["blocks"][0]["rows"]
    groups = {"plain", "chain", "k sequences", "Sequoia", "replanned", "dynamic", "grid", "generate", "assisted"}
    assert {row["group"] for row in rows} == groups
    base = min((row for row in rows if row["group"] == "plain"), key=lambda row: statistics.median(row["ms_per_token"]))
    for row in rows:
        assert row["ratio"] == pytest.approx([a / b for a, b in zip(base["ms_per_token"], row["ms_per_token"], strict=True)])
    said = capsys.readouterr().out
    for words in ("as fast as plain decoding on the same engine", "as fast as transformers assisted", "as fast as grid"):
        assert words in said


@pytest.mark.parametrize("prompts", ["nothing", "empty.json", "numbers.json"])
def test_prompts_that_are_none_are_refused(prompts: str, folders: list[str], tmp_path: Path,
                                           capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty.json").write_text("[]")
    (tmp_path / "numbers.json").write_text("[1]")
    assert bench.main([*folders, "--prompts", str(tmp_path / prompts), "--rounds", "1"]) == 2
    assert prompts in capsys.readouterr().err


def test_a_survey_is_written_and_can_be_shipped(folders: list[str], tmp_path: Path) -> None:
    out = tmp_path / "acceptance.json"
    (tmp_path / "verse.json").write_text(json.dumps(["Tiger, tiger", "Roses are"]))
    survey.main([*folders, "--prompts", str(tmp_path / "verse.json"), "prose", "--temperature", "0", "1", "--tokens", "8",
                 "--ranks", "4", "--out", str(out)])
    found = json.loads(out.read_text())["measured"]
    assert [(one["kind"], one["temperature"]) for one in found] == [("verse", 0), ("verse", 1), ("prose", 0), ("prose", 1)]
    assert all(0 < one["agreement"] <= 1 for one in found)
    assert all(0 < sum(one["rates"]) <= 1 and len(one["rates"]) == 4 for one in found)

"""The commands of the benchmark and of the acceptance survey, on a tiny target and draft. Every
decoder is measured, speed-ups are computed within each round, and bad input is refused."""

from __future__ import annotations

import json
import operator
import statistics
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from fakes import noisy, save, tiny_model, tiny_pair

from sequoia import Acceptance, HardwareProfile, SamplingParams, measure_profile, survey
from sequoia.algorithm.best_tree import best_tree
from sequoia.algorithm.expected_tokens import expected_tokens
from sequoia.bench import __main__ as benchmark
from sequoia.bench import decoders
from sequoia.bench.decoders import Contestant
from sequoia.bench.table import timed
from sequoia.errors import OutOfMemory
from sequoia.models.pair import Pair


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return named_models(tmp_path_factory.mktemp("pair"), tiny_model())


def named_models(folder: Path, target: Any) -> list[str]:
    """The options that name `target` and a draft like it, saved in `folder`."""
    draft = save(noisy(target, 0.05, 0), folder / "draft")
    return ["--target", save(target, folder / "target"), "--draft", draft]


@pytest.fixture(autouse=True)
def _few_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure the profile at a few sizes only, so that the tests are fast."""
    few = partial(measure_profile, sizes=(1, 4, 16), widths=(1, 4), seconds=0.5)
    monkeypatch.setattr(benchmark, "measure_profile", few)


def test_every_decoder_is_measured(
    folders: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "report.json"
    small = "--prompts code --limit 1 --temperature 0 --tokens 8 --rounds 2 --assistant-tokens 2"
    assert benchmark.main([*folders, *small.split(), "--json", str(out)]) == 0
    block = json.loads(out.read_text())["blocks"][0]
    rows = block["rows"]
    assert HardwareProfile.from_json(json.dumps(block["profile"])).target == "target"
    changing = {"dynamic", "stopping chain"}
    groups = {"plain", "chain", "k sequences", "Sequoia", "generate", "assisted"}
    assert {row["group"] for row in rows} == groups | changing
    plain = [row for row in rows if row["group"] == "plain"]
    base = min(plain, key=lambda row: statistics.median(row["ms_per_token"]))
    for row in rows:
        assert row["ratio"] == pytest.approx(
            [a / b for a, b in zip(base["ms_per_token"], row["ms_per_token"], strict=True)]
        )
    own = next(row for row in rows if row["group"] == "Sequoia")
    assert all(map(operator.lt, own["step_ms_per_token"], own["ms_per_token"]))
    said = capsys.readouterr().out
    assert f"predicted: {own['predicted']:.2f}x, with {own['expected_tokens']:.2f} tokens" in said
    assert "as fast as transformers assisted" in said


def test_other_drafts_of_the_same_target_are_measured_too(
    folders: list[str], tmp_path: Path
) -> None:
    out = tmp_path / "report.json"
    small = "--prompts code --limit 1 --temperature 0 --tokens 8 --rounds 1 --other-drafts"
    drafts = ["int8", "ngram"]
    assert benchmark.main([*folders, *small.split(), *drafts, "--json", str(out)]) == 0
    rows = json.loads(out.read_text())["blocks"][0]["rows"]
    groups = [row["group"] for row in rows]
    assert sum(group.startswith("Sequoia, draft ") for group in groups) == len(drafts)


def test_chat_prompts_need_a_chat_template(
    folders: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    small = "--prompts chat --limit 1 --temperature 0 --tokens 8 --rounds 1"
    assert benchmark.main([*folders, *small.split()]) == 2
    assert "no chat template" in capsys.readouterr().err


def test_a_lookup_is_measured_as_a_draft(folders: list[str], tmp_path: Path) -> None:
    """It has no model that `transformers` could be given as its assistant."""
    out = tmp_path / "report.json"
    small = "--draft ngram --prompts code --limit 1 --temperature 0 --tokens 8 --rounds 1"
    assert benchmark.main([*folders[:2], *small.split(), "--json", str(out)]) == 0
    rows = json.loads(out.read_text())["blocks"][0]["rows"]
    assert {"Sequoia", "generate"} <= {row["group"] for row in rows}
    assert "assisted" not in {row["group"] for row in rows}


@pytest.mark.parametrize(("many", "kept"), [(9.0, ["float32"]), (3.0, ["float32", "bfloat16"])])
def test_only_a_dtype_that_is_always_too_slow_is_left_out(
    many: float, kept: list[str], folders: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """bfloat16 is too slow in a pass over one row. It may be fast enough in a pass over as many
    rows as assisted generation verifies."""
    monkeypatch.setattr(decoders, "least_seconds", lambda _, n: [1, 9.0] if n == 1 else [2, many])
    named = {"target": folders[1], "draft": folders[3]}
    assert [*decoders.other_dtypes(named, "cpu", tiny_pair())] == kept


def test_a_dtype_that_does_not_fit_in_memory_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(**_: Any) -> Pair:
        raise OutOfMemory("the two models need about 72.0 GB on cuda:0; 4.1 GB is free")

    own = tiny_pair()
    monkeypatch.setattr(decoders, "load_pair", full)
    assert decoders.other_dtypes({}, "cpu", own) == {"float32": own}


def test_all_contestants_decode_a_prompt_before_the_next_one() -> None:
    """In each round, all contestants decode the first prompt, then the second. For one prompt in
    one round, all use the same seed."""
    seen: list[tuple[str, str, int]] = []

    def named(name: str) -> Contestant:
        def decode(prompt: str, params: SamplingParams) -> tuple[list[int], None]:
            seen.append((name, prompt, params.seed))
            return [1, 2, 3], None

        return Contestant(name, name, lambda: decode)

    rows = timed([named("one"), named("two")], ["a", "b"], SamplingParams(seed=5), 2, "title")
    warm = seen[:2]
    rounds = seen[2:]
    assert [(name, prompt) for name, prompt, _ in warm] == [("one", "a"), ("two", "a")]
    assert rounds == [
        (name, prompt, seed + i)
        for seed in (5, 1005)
        for i, prompt in enumerate("ab")
        for name in ("one", "two")
    ]
    assert [len(row.ms_per_token) for row in rows] == [2, 2]
    assert [row.tokens_per_step for row in rows] == [None, None]


@pytest.mark.parametrize(
    ("command", "options", "says"),
    [
        (benchmark, "--prompts nothing", "--prompts 'nothing' is neither"),
        (benchmark, "--json /dev/null/found.json", "/dev/null/found.json cannot be written"),
        (survey, "--draws 0", "draws: 0 is not a whole number from 1 to 1000"),
    ],
)
def test_a_bad_option_is_refused_before_models_are_loaded(
    command: ModuleType,
    options: str,
    says: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("numbers.json").write_text("[1]")
    monkeypatch.setattr(command, "load_pair", lambda **_: pytest.fail("models were loaded"))
    assert command.main(options.split()) == 2
    printed = capsys.readouterr().err
    assert printed.startswith(f"error: {says}")
    assert printed.count("\n") == 1


@pytest.mark.parametrize(
    ("command", "options", "says"),
    [
        (benchmark, "--offload -1", "invalid whole_number value: '-1'"),
        (survey, "--prompts code other/code.json", "names the same kind twice"),
    ],
)
def test_options_that_cannot_be_read_are_refused(
    command: ModuleType, options: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        command.main(options.split())
    assert says in capsys.readouterr().err


@pytest.mark.nightly
def test_a_survey_is_written_as_a_file(folders: list[str], tmp_path: Path) -> None:
    out = tmp_path / "acceptance.json"
    (tmp_path / "verse.json").write_text(json.dumps(["Tiger, tiger", "Roses are"]))
    small = "--temperature 0 1 --tokens 8 --ranks 4 --draws 2 --prompts prose"
    survey.main([*folders, *small.split(), str(tmp_path / "verse.json"), "--out", str(out)])
    found = json.loads(out.read_text())["measured"]
    settings = [(one["kind"], one["temperature"], one["draws"]) for one in found]
    assert settings == [(kind, t, 1 + t) for kind in ("prose", "verse") for t in (0, 1)]
    assert all(0 < one["agreement"] <= 1 for one in found)
    assert all(0 < sum(one["rates"]) <= 1 and len(one["rates"]) == 4 for one in found)
    for one in found:
        fitted = one["fitted"]
        rates = Acceptance(tuple(one["rates"])).smoothed()
        tree = best_tree(rates, survey.TRIED_NODES, survey.TRIED_LEVELS)
        assert (fitted["nodes"], fitted["levels"]) == (len(tree), tree.levels)
        assert fitted["tokens_per_step"] <= tree.levels
        assert expected_tokens(tree, Acceptance(tuple(fitted["rates"]))) == pytest.approx(
            fitted["tokens_per_step"], abs=1e-3
        )


def test_a_streamed_target_is_measured(tmp_path: Path) -> None:
    """On a CPU, layers are copied from host memory to host memory."""
    named = named_models(tmp_path, tiny_model(layers=4))
    small = "--device cpu --offload 1 --prompts code --limit 1 --temperature 0 --tokens 12"
    out = tmp_path / "report.json"
    assert benchmark.main([*named, *small.split(), "--rounds", "1", "--json", str(out)]) == 0
    report = json.loads(out.read_text())
    assert report["placement"] == "3 of 4 layers streamed from host memory"
    groups = {row["group"] for row in report["blocks"][0]["rows"]}
    assert {"plain", "Sequoia", "chain"} <= groups
    assert "generate" not in groups

"""The commands of the benchmark and of the acceptance survey, on a tiny target and draft. Every
decoder is measured, speed-ups are computed within each round, and bad input is refused."""

from __future__ import annotations

import json
import statistics
from argparse import Namespace
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from fakes import PROMPTS, noisy, same_pair, save, tiny_model, tiny_pair
from nightly_cases import nightly

from sequoia import Acceptance, HardwareProfile, SamplingParams, Tree, measure_profile, survey
from sequoia.algorithm.best_tree import best_tree
from sequoia.algorithm.expected_tokens import expected_tokens
from sequoia.bench import __main__ as benchmark
from sequoia.bench import decoders
from sequoia.bench.decoders import Contestant
from sequoia.bench.table import timed
from sequoia.errors import OutOfMemory
from sequoia.models.pair import Pair
from sequoia.planning.plan_for_machine import predict


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("pair")
    target = tiny_model()
    return [
        "--target",
        save(target, folder / "target"),
        "--draft",
        save(noisy(target, 0.05, 0), folder / "draft"),
    ]


@pytest.fixture(autouse=True)
def _few_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure the profile at a few sizes only, so that the tests are fast."""
    few = partial(measure_profile, sizes=(1, 4, 16), widths=(1, 4), seconds=0.5)
    monkeypatch.setattr(benchmark, "measure_profile", few)


@pytest.mark.slow
def test_every_decoder_is_measured(
    folders: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "report.json"
    assert (
        benchmark.main(
            [
                *folders,
                "--prompts",
                "code",
                "--limit",
                "1",
                "--temperature",
                "0",
                "--tokens",
                "8",
                "--rounds",
                "2",
                "--assistant-tokens",
                "2",
                "--json",
                str(out),
            ]
        )
        == 0
    )
    block = json.loads(out.read_text())["blocks"][0]
    rows = block["rows"]
    assert HardwareProfile.from_json(json.dumps(block["profile"])).target == "target"
    groups = {
        "plain",
        "chain",
        "k sequences",
        "Sequoia",
        "replanned",
        "dynamic",
        "stopping chain",
        "generate",
        "assisted",
    }
    assert {row["group"] for row in rows} == groups
    base = min(
        (row for row in rows if row["group"] == "plain"),
        key=lambda row: statistics.median(row["ms_per_token"]),
    )
    for row in rows:
        assert row["ratio"] == pytest.approx(
            [a / b for a, b in zip(base["ms_per_token"], row["ms_per_token"], strict=True)]
        )
    own = next(row for row in rows if row["group"] == "Sequoia")
    said = capsys.readouterr().out
    predicted = f"predicted: {own['predicted']:.2f}x, with {own['expected_tokens']:.2f} tokens"
    assert predicted in said
    assert all(
        step < whole
        for step, whole in zip(own["step_ms_per_token"], own["ms_per_token"], strict=True)
    )
    assert own["step_ratio"] == pytest.approx(
        [a / b for a, b in zip(base["step_ms_per_token"], own["step_ms_per_token"], strict=True)]
    )
    for words in (
        "as fast as plain decoding on the same engine",
        "as fast as transformers assisted",
    ):
        assert words in said


@pytest.mark.nightly
@pytest.mark.slow
def test_a_tree_that_learns_is_reset_for_each_prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    """`ready` makes the new tree before the timed decoding starts."""
    made: list[object] = []
    monkeypatch.setattr(decoders, "Dynamic", lambda *given: made.append(given) or Tree.chain(2))
    pair = tiny_pair()
    params = SamplingParams(max_new_tokens=4)
    profile = measure_profile(pair, sizes=(1, 4, 16), widths=(1, 4), rounds=1)
    contestants = decoders.ours(pair, {}, profile, 0.5, Acceptance((0.5, 0.2)), 0.0)
    dynamic = next(one for one in contestants if one.group == "dynamic")
    ready = [dynamic.ready() for _ in range(3)]
    assert len(made) == 3
    for decode in ready:
        decode("a", params)
    assert len(made) == 3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("few", "many", "kept"),
    [
        ([1.0, 9.0], [2.0, 9.0], ["float32"]),
        ([1.0, 9.0], [2.0, 3.0], ["float32", "bfloat16"]),
    ],
)
def test_only_a_dtype_that_is_always_too_slow_is_left_out(
    few: list[float],
    many: list[float],
    kept: list[str],
    folders: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A dtype is measured if it is fast enough in a pass over one row, or in a pass over as many
    rows as assisted generation verifies."""
    monkeypatch.setattr(decoders, "least_seconds", lambda _, width: few if width == 1 else many)
    named = {"target": folders[1], "draft": folders[3]}
    assert [*decoders.other_dtypes(named, "cpu", tiny_pair())] == kept


def test_the_benchmark_names_the_dtype_that_is_left_out(
    capsys: pytest.CaptureFixture[str],
) -> None:
    own = tiny_pair()
    benchmark._introduce(Namespace(tokens=8, rounds=1), own, {"float32": own})
    assert "in float32 only: bfloat16 would be much slower" in capsys.readouterr().out


def test_a_dtype_that_does_not_fit_in_memory_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On a GPU, `own` is already loaded in one of the two dtypes and is not loaded again."""
    own = tiny_pair()
    asked = []

    def full(**options: Any) -> Pair:
        asked.append(options["dtype"])
        raise OutOfMemory("the two models need about 72.0 GB on cuda:0; 4.1 GB is free")

    monkeypatch.setattr(decoders, "load_pair", full)
    assert decoders.other_dtypes({}, "cpu", own) == {"float32": own}
    assert asked == ["float32", "bfloat16"]
    monkeypatch.setattr(own.target, "device", torch.device("cuda", 0))
    monkeypatch.setattr(decoders, "_slowness", lambda targets: [1.0] * len(targets))
    assert decoders.other_dtypes({}, "cuda", own) == {"float32": own}
    assert asked == ["float32", "bfloat16", "bfloat16"]


@pytest.mark.slow
def test_predicted_speedups_use_the_measured_time_of_plain_decoding() -> None:
    """The predicted speed-up is the predicted tokens per step, times the measured seconds per token
    of plain decoding, divided by the predicted seconds per step. The profile predicts plain
    decoding too, but this prediction is not used."""
    pair = tiny_pair()
    acceptance = Acceptance((0.5, 0.2))
    profile = measure_profile(pair, sizes=(1, 4, 16), widths=(1, 4), rounds=1)
    contestants = decoders.ours(pair, {"float32": pair}, profile, 0.5, acceptance, 0.0)
    found = {one.group: one for one in contestants}
    chain = max(
        (predict(Tree.chain(n), acceptance, profile) for n in range(2, 13)),
        key=lambda plan: plan.predicted_speedup,
    )
    assert found["chain"].predicted == pytest.approx(
        chain.expected_tokens * 0.5 / chain.predicted_seconds
    )
    assert found["chain"].expected_tokens == chain.expected_tokens
    assert found["plain"].predicted is found["dynamic"].predicted is None


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


def test_tokens_per_step_do_not_depend_on_the_limit_of_tokens() -> None:
    """With a draft that is always right, a chain of 4 nodes gives 4 tokens per step. The third step
    exceeds the limit of 10 tokens, but all its 4 tokens are counted."""
    assert (
        survey.tokens_per_step(
            same_pair(),
            PROMPTS[:2],
            Tree.chain(4),
            SamplingParams(max_new_tokens=10, ignore_eos=True),
        )
        == 4
    )


@pytest.mark.parametrize(
    "arguments", [["--prompts", "code", "other/code.json"], ["--prompts", "a/b.json", "c/b.json"]]
)
def test_prompts_with_the_same_name_are_refused_before_anything_is_measured(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        survey.main(arguments)
    assert "names the same kind twice" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("prompts", "says"),
    [
        ("nothing", "--prompts '{}' is neither"),
        ("empty.json", "{} must contain"),
        ("numbers.json", "{} must contain"),
    ],
)
def test_files_without_prompts_are_refused_before_models_are_loaded(
    prompts: str, says: str, tmp_path: Path, refuses: Callable[..., None]
) -> None:
    (tmp_path / "empty.json").write_text("[]")
    (tmp_path / "numbers.json").write_text("[1]")
    path = str(tmp_path / prompts)
    refuses(benchmark, ["--prompts", path], says.format(path))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--tokens", "0"], "max_new_tokens: 0 is not a whole number"),
        (["--temperature", "0", "9"], "temperature: 9"),
        (["--seed", "-1"], "seed: -1 is not a whole number"),
    ],
)
def test_bad_sampling_parameters_are_refused_before_models_are_loaded(
    arguments: list[str], says: str, refuses: Callable[..., None]
) -> None:
    refuses(benchmark, arguments, says)


@pytest.mark.parametrize(
    ("option", "value", "says"),
    [
        ("--draws", "0", "draws: 0 is not a whole number from 1 to 1000"),
        ("--ranks", "1024", "ranks: 1024 is not a whole number from 1 to 1023"),
        ("--tokens", "4089", "tokens: 4089 is not a whole number from 8 to 4088"),
        ("--temperature", "9", "temperature: 9"),
    ],
)
def test_a_survey_refuses_a_bad_option_before_models_are_loaded(
    option: str, value: str, says: str, refuses: Callable[..., None]
) -> None:
    refuses(survey, [option, value], says)


def test_further_draws_of_a_prompt_differ() -> None:
    """Above temperature 0, two continuations of a prompt are not the same text counted twice."""
    pair = tiny_pair()
    tokens = 12
    once, twice = (
        survey.survey(pair, {"verse": PROMPTS[:1]}, [1.0], tokens, 4, draws)["measured"][0]
        for draws in (1, 2)
    )
    assert twice["visited"] > once["visited"]
    assert [*twice["accepted"]] != [2 * count for count in once["accepted"]]
    assert (once["prompts"], twice["prompts"]) == (1, 1)


@pytest.mark.nightly
@pytest.mark.slow
def test_a_survey_is_written_as_a_file(folders: list[str], tmp_path: Path) -> None:
    out = tmp_path / "acceptance.json"
    (tmp_path / "verse.json").write_text(json.dumps(["Tiger, tiger", "Roses are"]))
    survey.main(
        [
            *folders,
            "--prompts",
            str(tmp_path / "verse.json"),
            "prose",
            "--temperature",
            "0",
            "1",
            "--tokens",
            "8",
            "--ranks",
            "4",
            "--draws",
            "2",
            "--out",
            str(out),
        ]
    )
    found = json.loads(out.read_text())["measured"]
    assert [(one["kind"], one["temperature"]) for one in found] == [
        ("verse", 0),
        ("verse", 1),
        ("prose", 0),
        ("prose", 1),
    ]
    assert [one["draws"] for one in found] == [1, 2, 1, 2]
    assert all(0 < one["agreement"] <= 1 for one in found)
    assert all(0 < sum(one["rates"]) <= 1 and len(one["rates"]) == 4 for one in found)
    for one in found:
        fitted = one["fitted"]
        tree = best_tree(
            Acceptance(tuple(one["rates"])).smoothed(),
            survey.TRIED_NODES,
            survey.TRIED_LEVELS,
        )
        assert (fitted["nodes"], fitted["levels"]) == (len(tree), tree.levels)
        assert fitted["tokens_per_step"] <= tree.levels
        assert expected_tokens(tree, Acceptance(tuple(fitted["rates"]))) == pytest.approx(
            fitted["tokens_per_step"], abs=1e-3
        )


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", ["llama", *nightly("qwen2")]
)  # in qwen2, embedding and head share their weights
def test_offloading_is_compared_with_accelerate(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """On a CPU, layers are copied from host memory to host memory. At temperature 0 all three
    decoders emit the same text."""
    texts: list[tuple[int, ...]] = []
    monkeypatch.setattr(
        "sequoia.bench.table.repetition", lambda tokens: texts.append(tuple(tokens)) or 0.0
    )
    target = tiny_model(kind, layers=4)
    named = [
        "--target",
        save(target, tmp_path / "target"),
        "--draft",
        save(noisy(target, 0.05), tmp_path / "draft"),
    ]
    assert (
        benchmark.main(
            [
                *named,
                "--device",
                "cpu",
                "--offload",
                "1",
                "--prompts",
                "code",
                "--limit",
                "1",
                "--temperature",
                "0",
                "0.6",
                "--tokens",
                "12",
                "--rounds",
                "2",
                "--json",
                str(tmp_path / "report.json"),
            ]
        )
        == 0
    )
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["placement"] == "3 of 4 layers streamed from host memory"
    for block in report["blocks"]:
        assert [row["group"] for row in block["rows"]] == ["plain", "Sequoia", "accelerate"]
        assert all(len(row["ms_per_token"]) == len(row["ratio"]) == 2 for row in block["rows"])
        assert block["rows"][0]["ratio"] == [1.0, 1.0]
        assert block["rows"][2]["tokens_per_step"] == 1
    # at temperature 0 one text occurs six times (three decoders, two rounds); at 0.6 only the two
    # plain decoders agree
    assert texts.count(statistics.mode(texts)) >= 6
    said = capsys.readouterr().out
    for words in (
        "plain, layers streamed",
        "as fast as plain, accelerate cpu_offload",
        "say nothing about a GPU",
    ):
        assert words in said


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--offload", "-1"], "'-1' is not a number of layers (0 or more)"),
        (["--rounds", "x"], "argument --rounds: 'x' is not a whole number (1 or more)"),
    ],
)
def test_bad_options_are_refused(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        benchmark.main(arguments)
    assert words in capsys.readouterr().err


def test_a_report_that_cannot_be_written_is_refused_before_anything_is_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(benchmark, "load_pair", lambda **_: pytest.fail("models were loaded"))
    assert benchmark.main(["--json", "/dev/null/found.json"]) == 2
    assert "/dev/null/found.json cannot be written" in capsys.readouterr().err


def test_more_resident_layers_than_the_target_has_are_refused(
    folders: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert benchmark.main([*folders, "--device", "cpu", "--offload", "3"]) == 2
    assert "resident layers: 3 is not a whole number from 0 to 2" in capsys.readouterr().err

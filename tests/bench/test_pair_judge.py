"""The evaluation of a pair (target and draft): what counts as Python, and the figures of tiny pairs
over a few excerpts. Every draw is seeded."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from fakes import hopeless_pair, same_pair, tiny_pair

from sequoia.assets_folder import ASSETS
from sequoia.bench import pair_judge
from sequoia.bench.judged_table import table
from sequoia.bench.pair_judge import Continuation, Excerpt, Task, excerpts_of, judge, main
from sequoia.bench.parses import parses, without_last_line
from sequoia.errors import SequoiaError

EXCERPTS = [
    Excerpt("a", "def total(values):\n", "    return sum(values)\n" * 3),
    Excerpt("b", "class Counter:\n    def __init__(self):\n", "        self.count = 0\n" * 2),
]
TASK = Task(tokens=12, draws=2, timed=1)


# -- truncated Python ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a = 1\nb = (1,\n     2", "a = 1\n"),
        ('a = 1\nb = """x\ny', "a = 1\n"),
        ("a = 1\nb = 'it", "a = 1\n"),
        ("a = 1\n# note\nb = $", "a = 1\n# note\n"),
        ("if x:\n    b = 2\n    c = foo(\n        1,", "if x:\n    b = 2\n"),
        ('def f():\n    """doc\n    more', "def f():\n"),
        ("a = 1\nb = 2\n", "a = 1\n"),
        ("a = 1\nb = 2\n\n\n# note\n", "a = 1\n"),
        ("", ""),
    ],
)
def test_the_last_logical_line_is_removed(text: str, left: str) -> None:
    """Guards against a cut at a physical line, which leaves half of a call or of a docstring."""
    assert without_last_line(text) == left


@pytest.mark.parametrize(
    ("text", "is_python"),
    [
        ("def f(x):\n    return x\n", True),
        ('a = "\x0c"\nb = (', True),  # a form feed is no line end
        ("def f(x):\n    y = g(x)\n    return [y, (", True),  # truncated
        ("def f():\n    return g(", True),  # truncated in the first statement of a block
        ("class A:\n    '''doc", True),
        ("@dec\nde", True),
        ("try:\n    a()\n", True),  # truncated before the `except`
        ("def f():\n    try:\n        a()\n        b(", True),
        ("try:\n    a()\nb()\nc(", False),
        ("if x:\ny = 1\nz(", False),
        ("def f(x):\n    return x)\n    y = (\n", False),  # wrong before the last line
        ("def f(x):\n  return x\n    y = 1\nz = 2\n", False),
        ("The parser reads one token at a time.\nThen it goes on.", False),
    ],
)
def test_what_counts_as_python(text: str, is_python: bool) -> None:
    assert parses(text) is is_python


def test_empty_and_looping_continuations_do_not_count_as_code() -> None:
    def written(text: str, repetition: float) -> Continuation:
        return Continuation("def f():\n", text, repetition, 0.6, 0, 3, 9)

    assert written("    return 1\n", 0.0).is_code
    assert not written("    return 1\n", pair_judge.REPEATED).is_code
    assert not written("  \n", 0.0).is_code
    assert not written("    return 1)\n    x\n", 0.0).is_code


# -- figures ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_draft_equal_to_the_target_shares_all_mass_and_a_hopeless_draft_little() -> None:
    """The figures of these two extreme cases are known. Guards against comparing p or q with
    itself."""
    same = judge(same_pair(), {"code": EXCERPTS}, TASK)["kinds"]["code"]
    poor = judge(hopeless_pair(), {"code": EXCERPTS}, TASK)["kinds"]["code"]
    assert same["shared_mass"] == pytest.approx(1, abs=1e-5)
    assert same["acceptance_by_rank"][0] == pytest.approx(1, abs=1e-5)
    assert same["tokens_per_step"] == pytest.approx(max(judge_levels()), abs=1e-4)
    assert poor["shared_mass"] < 0.5
    assert poor["tokens_per_step"] < same["tokens_per_step"]


def judge_levels() -> list[int]:
    """The level of each node in the tree used for all pairs. A step emits as many tokens as the
    level of the last accepted node."""
    tree = pair_judge.best_tree(
        pair_judge.Acceptance(pair_judge.TREE_RATES),
        pair_judge.TRIED_NODES,
        pair_judge.TRIED_LEVELS,
    )
    return [depth + 1 for depth in tree.depths]


def test_bits_per_byte_match_the_loss_that_the_model_returns() -> None:
    pair = tiny_pair()
    found = judge(pair, {"code": EXCERPTS[:1]}, Task(tokens=4, draws=1, timed=0))["kinds"]["code"]
    ids = torch.tensor([pair.encode(EXCERPTS[0].text)])
    nats = pair.target.hf(input_ids=ids, labels=ids).loss.item() * (ids.shape[1] - 1)
    assert found["bits_per_byte"] == pytest.approx(
        nats / math.log(2) / len(EXCERPTS[0].text), rel=1e-4
    )
    assert found["speed_up"] is None


@pytest.mark.slow
def test_an_evaluation_is_repeatable_and_makes_all_continuations() -> None:
    first = judge(tiny_pair(), {"code": EXCERPTS}, Task(tokens=12, draws=2, timed=0))
    second = judge(tiny_pair(), {"code": EXCERPTS}, Task(tokens=12, draws=2, timed=0))
    assert first == second
    written = first["kinds"]["code"]["written"]
    assert [(each["temperature"], each["seed"]) for each in written[::2]] == [
        (0.0, 0),
        (0.6, 0),
        (0.6, 1),
    ]
    assert written[2]["text"] != written[4]["text"]
    assert 0 <= first["kinds"]["code"]["temperatures"]["0.6"]["parse"] <= 1


@pytest.mark.slow
def test_the_table_compares_pairs_excerpt_by_excerpt() -> None:
    before = json.loads(json.dumps(judge(hopeless_pair(), {"code": EXCERPTS}, TASK)))
    after = judge(same_pair(), {"code": EXCERPTS}, TASK)
    lines = table(after, before).splitlines()
    assert lines[0] == "code, 2 excerpts"
    shared = next(line for line in lines if "sum of min(p, q)" in line)
    assert [float(word) for word in shared.split()[-2:]] == [
        round(before["kinds"]["code"]["shared_mass"], 3),
        1.0,
    ]
    changed = next(
        line for line in lines if line.startswith("  tokens per step, teacher-forced: +")
    )
    change = after["kinds"]["code"]["tokens_per_step"] - before["kinds"]["code"]["tokens_per_step"]
    assert f"{change:+.3f}" in changed
    assert len(table(after, None).splitlines()) == len(lines) - 2


def test_all_figures_of_the_table_are_in_one_column() -> None:
    found = judge(tiny_pair(), {"code": EXCERPTS[:1]}, Task(tokens=4, draws=1, timed=1))
    rows = table(found, None).splitlines()[1:]
    assert "speed-up" in rows[-2]
    assert {len(row) for row in rows} == {66}


# -- excerpts, models and the command line ---------------------------------------------------------


def test_the_bundled_excerpts_are_complete() -> None:
    for kind, count in (("code", 50), ("prose", 20)):
        found = excerpts_of(ASSETS / "judge", kind)
        assert len(found) == len({excerpt.prompt for excerpt in found}) == count
        assert all(len(excerpt.rest) > 200 for excerpt in found)
        assert all(
            item["licence"] for item in json.loads((ASSETS / "judge" / f"{kind}.json").read_text())
        )


def test_a_tokenizer_without_a_beginning_of_text_token_adds_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loaded = replace(tiny_pair(), tokenizer=SimpleNamespace(bos_token_id=None))
    monkeypatch.setattr(pair_judge, "load_pair", lambda **_: loaded)
    assert pair_judge.pair_of("target", "draft").begin == ()


@pytest.mark.parametrize("text", ["[]", "{", '[{"prompt": "a"}]'])
def test_damaged_excerpts_are_refused(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    (tmp_path / "code.json").write_text(text)
    with pytest.raises(SequoiaError, match=r"code\.json"):
        excerpts_of(tmp_path, "code")
    assert main(["--excerpts", str(tmp_path)]) == 2
    assert capsys.readouterr().err.startswith("error: ")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--limit", "0"], "--limit: 0 is not a whole number"),
        (["--before", "nowhere.json"], "--before: 'nowhere.json'"),
        (["--tokens", "0"], "--tokens: 0 is not a whole number from 1 to 4096"),
        (["--draws", "0"], "--draws: 0 is not a whole number from 1 to 1000"),
        (["--timed", "-1"], "--timed: -1 is not a whole number from 0"),
        (["--threads", "0"], "--threads: 0 is not a whole number from 1"),
        (["--json", "/dev/null/found.json"], "/dev/null/found.json cannot be written"),
    ],
)
def test_a_bad_option_is_refused_in_one_line(
    arguments: list[str], said: str, refuses: Callable[..., None]
) -> None:
    refuses(pair_judge, arguments, said)


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"kinds": {"code": {"excerpts": 2}}}'])
def test_a_damaged_file_to_compare_with_is_refused_before_models_are_loaded(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "before.json"
    path.write_text(text)
    assert main(["--before", str(path), "--target", "nowhere"]) == 2
    said = f"error: --before: {str(path)!r}: not a file that --json wrote ("
    assert capsys.readouterr().err.startswith(said)


def test_results_over_other_excerpts_are_not_compared() -> None:
    found = judge(tiny_pair(), {"code": EXCERPTS}, TASK)
    other = judge(tiny_pair(), {"code": EXCERPTS[:1]}, TASK)
    with pytest.raises(SequoiaError, match="results for 1 excerpts, not 2"):
        table(found, other)


def test_results_over_other_excerpts_are_refused_before_anything_is_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = tmp_path / "before.json"
    before.write_text(json.dumps(judge(tiny_pair(), {"code": EXCERPTS}, TASK)), encoding="utf-8")
    monkeypatch.setattr(pair_judge, "judge", None)  # not called
    assert main(["--kinds", "code", "--limit", "1", "--before", str(before)]) == 2
    assert "results for 2 excerpts, not 1" in capsys.readouterr().err

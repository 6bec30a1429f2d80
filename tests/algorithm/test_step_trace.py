"""Traces, their totals, and run files: a replay shows the same as the live run, and a hostile file
raises BadTrace and nothing else."""

from __future__ import annotations

import json
import math
import pickle
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from fake_tokenizers import KINDS
from fakes import PROMPTS, tiny_pair

from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.step_trace import PHASES, DecodeStats, StepTrace, repetition
from sequoia.algorithm.tree import MAX_NODES, Tree
from sequoia.algorithm.verifiers import VERIFIERS
from sequoia.algorithm.verifiers.verifier import Trial, Verdict
from sequoia.checked_types import MAX_STEPS
from sequoia.decoding.engine import Decoder, run
from sequoia.decoding.recorder import Recorder
from sequoia.decoding.recorder import rounded as digits_kept
from sequoia.errors import BadTrace
from sequoia.saved_files.run_file import Run
from sequoia.validate_input import MAX_JSON_BYTES

TREE = Tree((-1, 0, 0, 0, 1, 1, 2, 4))
META = {
    "label": "measured",
    "prompt": PROMPTS[1],
    "params": {"temperature": 0.8, "seed": 2**63 - 1},
    "versions": {"a": "1"},
}


@cache
def recorded(verifier: str = "sequoia", tokens: int = 40) -> tuple[tuple[StepTrace, ...], Run]:
    """The traces of a real run and its recording."""
    pair = tiny_pair()
    decoder = Decoder(
        pair,
        PROMPTS[1],
        SamplingParams(temperature=0.8, max_new_tokens=tokens, seed=5, ignore_eos=True),
        TREE,
        verifier,
        has_heads=True,
    )
    recorder = Recorder(pair, decoder.prompt, META)
    traces = []
    for trace in run(decoder):
        traces.append(trace)
        recorder.add(trace)
    return tuple(traces), recorder.run()


def step(
    path: tuple[int, ...] = (0,),
    trials: tuple[tuple[int, bool], ...] = (),
    tree: Tree = TREE,
    emitted: int | None = None,
    **seconds: float,
) -> StepTrace:
    """A trace made by hand. Token ids are node numbers; the bonus is 99."""
    follows = (*path[1:], 99)[:emitted]
    verdict = Verdict(
        path, 99, tuple(Trial(node, node, 0.5, 0.5, 0.5, accepted) for node, accepted in trials)
    )
    nothing = (None,) * len(tree)
    return StepTrace(
        0, 7, tree, tuple(range(len(tree))), nothing, nothing, verdict, follows, seconds
    )


# -- totals and repetition -------------------------------------------------------------------------


def test_totals_of_no_steps_do_not_divide_by_zero() -> None:
    stats = DecodeStats.fold([])
    assert (stats.steps, stats.tokens, stats.total_seconds) == (0, 0, 0)
    assert all(math.isnan(value) for value in (stats.tokens_per_step, stats.overhead_share))


def test_totals_of_three_steps_counted_by_hand() -> None:
    stats = DecodeStats.fold(
        [
            step(
                (0, 1, 5), ((1, True), (4, False), (5, True)), draft=1.0, verify=2.0, overhead=0.5
            ),
            step((0, 2), ((1, False), (2, True), (6, False)), draft=1.0, verify=2.0, overhead=0.5),
            step((0,), ((1, False), (2, False), (3, False)), draft=2.0, verify=3.0, overhead=0.0),
        ]
    )
    assert (stats.steps, stats.tokens) == (3, 3 + 2 + 1)
    assert dict(stats.seconds) == {"draft": 4.0, "verify": 7.0, "overhead": 1.0}
    assert (stats.tokens_per_step, stats.overhead_share) == (
        2.0,
        1 / 12,
    )


def test_a_cut_step_counts_its_emitted_tokens() -> None:
    assert DecodeStats.fold([step((0, 1, 4), ((1, True), (4, True)), emitted=1)]).tokens == 1


def test_adding_a_step_does_not_change_earlier_totals() -> None:
    first = DecodeStats.fold([step((0, 1), ((1, True), (4, False), (5, False)), draft=1.0)])
    seconds = dict(first.seconds)
    first.add(step((0,), ((1, False), (2, False), (3, False)), draft=1.0))
    assert (first.steps, dict(first.seconds)) == (1, seconds)


@pytest.mark.parametrize(
    ("tokens", "share"),
    [([], 0.0), ([1] * 8, 0.0), ([1] * 10, 2 / 3), ([*range(100)] * 2, 93 / 193)],
)
def test_repetition_is_the_share_of_8_grams_that_occurred_before(
    tokens: list[int], share: float
) -> None:
    assert repetition(tokens) == pytest.approx(share)


# -- text ------------------------------------------------------------------------------------------


def emitting(tokens: tuple[int, ...], index: int = 0, finish: str | None = None) -> StepTrace:
    """A step made by hand: a chain, all of it accepted, that emits exactly `tokens`."""
    tree = Tree.chain(len(tokens))
    path = tuple(range(len(tokens)))
    verdict = Verdict(
        path,
        tokens[-1],
        tuple(Trial(node, tokens[node - 1], 1.0, 1.0, 0.5, True) for node in path[1:]),
    )
    nothing = (None,) * len(tree)
    return StepTrace(
        index,
        7,
        tree,
        (0, *tokens[:-1]),
        nothing,
        nothing,
        verdict,
        tokens,
        dict.fromkeys(PHASES, 0.1),
        finish,
    )


@pytest.mark.parametrize("finish", ["length", None])
def test_a_character_cut_off_at_the_end_is_recorded(finish: str | None) -> None:
    """The last tokens are only a part of a character, so the text must end with U+FFFD, in the
    messages and in the file. Otherwise nothing would show these tokens."""
    pair = tiny_pair()
    recorder = Recorder(pair, (), META)
    smile = tuple(pair.tokenizer("a🙂")["input_ids"])
    step = recorder.add(emitting(smile[:3], finish=finish)).step
    assert "".join(step.text) + recorder.pending == "a\ufffd"
    assert bool(recorder.pending) == (finish is None)
    kept = Run.from_json(recorder.run().to_json())
    assert kept.texts == (("a", "", "\ufffd"),)


def test_a_character_cut_off_by_a_pause_is_completed_by_the_next_step() -> None:
    pair = tiny_pair()
    recorder = Recorder(pair, (), META)
    smile = tuple(pair.tokenizer("a🙂")["input_ids"])
    recorder.add(emitting(smile[:3]))
    assert recorder.run().texts[0][-1] == "\ufffd"
    recorder.add(emitting(smile[3:], 1))
    assert "".join(text for texts in recorder.run().texts for text in texts) == "a🙂"
    assert recorder.pending == ""


@pytest.mark.parametrize("kind", ["byte-level", "byte fallback, Llama", "word pieces"])
def test_the_texts_of_the_steps_join_to_the_whole_text_in_messages_and_file(kind: str) -> None:
    """If tokens are bytes, a step may end inside a character. The last step does not, because the
    last token completes the last character."""
    tokenizer = KINDS[kind]()
    ids = tokenizer("the 你好世界 👩\u200d💻 a🙂", add_special_tokens=False)["input_ids"]
    prompt = tuple(ids[:1])
    rest = ids[1:]
    recorder = Recorder(replace(tiny_pair(), tokenizer=tokenizer), prompt, META)
    shown = list[str]()
    for index, start in enumerate(range(0, len(rest), 4)):
        finish = "length" if start + 4 >= len(rest) else None
        shown += recorder.add(emitting(tuple(rest[start : start + 4]), index, finish)).step.text
    whole = tokenizer.decode(ids).removeprefix(tokenizer.decode(prompt))
    assert "".join(shown) == whole
    assert (
        "".join(text for texts in Run.from_json(recorder.run().to_json()).texts for text in texts)
        == whole
    )


# -- run files, messages and pickling --------------------------------------------------------------


@pytest.mark.parametrize("verifier", VERIFIERS)
def test_a_recorded_run_is_read_back_from_its_file(verifier: str) -> None:
    """The replay has the live run's decisions exactly, the nodes' probabilities to six digits, and
    the times of phases to a tenth of a µs. Residual probabilities, the expected number of accepted
    nodes, and the times of draft passes are saved with four digits."""
    traces, kept = recorded(verifier)
    back = Run.from_json(kept.to_json())
    assert (back.meta, dict(back.pieces), back.texts) == (META, dict(kept.pieces), kept.texts)
    live = DecodeStats.fold(traces)
    replay = DecodeStats.fold(back.steps)
    for name in ("steps", "tokens"):
        assert getattr(live, name) == getattr(replay, name)
    assert all(
        replay.seconds[phase] == pytest.approx(live.seconds[phase], abs=1e-7 * live.steps)
        for phase in PHASES
    )
    for ours, theirs in zip(traces, back.steps, strict=True):
        for name in ("index", "prefix_len", "tree", "tokens", "emitted", "finish"):
            assert getattr(ours, name) == getattr(theirs, name)
        assert (ours.verdict.path, ours.verdict.bonus) == (
            theirs.verdict.path,
            theirs.verdict.bonus,
        )
        assert rounded(ours) == rounded(theirs)
        head_count = len(ours.verdict.trials) + 1 if VERIFIERS[verifier].chances else 0
        assert len(theirs.residual_heads) == head_count
        assert theirs.level_seconds == pytest.approx(ours.level_seconds, rel=1e-3)
        for head, read in zip(ours.residual_heads, theirs.residual_heads, strict=True):
            assert head.tokens == read.tokens
            assert read.p == pytest.approx(head.p, rel=1e-3)
            assert read.q == pytest.approx(head.q, rel=1e-3)


def test_a_file_without_residuals_and_level_times_is_read() -> None:
    data = json.loads(small_file())
    for trace in data["steps"]:
        del trace["residual_heads"], trace["level_seconds"]
    opened = Run.from_json(json.dumps(data))
    assert [(trace.residual_heads, trace.level_seconds) for trace in opened.steps] == [
        ((), ()) for _ in opened.steps
    ]


def rounded(trace: StepTrace) -> list[Any]:
    def digits(value: Any) -> Any:
        return value if value is None else float(f"{float(value):.6g}")

    return [
        *map(digits, (*trace.draft_p, *trace.target_p)),
        *(
            (t.node, t.token, digits(t.p), digits(t.q), digits(t.u), t.accepted, digits(t.mass))
            for t in trace.verdict.trials
        ),
    ]


def test_a_file_that_is_read_and_written_again_is_the_same() -> None:
    text = recorded()[1].to_json()
    assert Run.from_json(text).to_json() == text


def test_the_texts_of_a_run_are_its_emitted_tokens() -> None:
    traces, kept = recorded()
    tokenizer = tiny_pair().tokenizer
    whole = tokenizer.decode([token for trace in traces for token in trace.emitted])
    shown = "".join(text for texts in kept.texts for text in texts)
    assert shown.rstrip("\ufffd") == whole.rstrip("\ufffd")[: len(shown.rstrip("\ufffd"))]
    assert [len(texts) for texts in kept.texts] == [len(trace.emitted) for trace in traces]


def test_every_piece_is_given_once_before_its_use() -> None:
    traces, kept = recorded()
    recorder = Recorder(tiny_pair(), (), {})
    pieces = {}
    for trace in traces:
        made = recorder.add(trace)
        assert not pieces.keys() & made.pieces.keys()
        pieces |= made.pieces
        assert {*trace.shown_tokens, trace.verdict.bonus} <= pieces.keys()
    assert pieces == kept.pieces


def test_a_recorded_step_keeps_seven_decimals_of_its_seconds() -> None:
    trace = step((0, 1), ((1, True), (4, False)), draft=0.123456789)
    assert digits_kept(trace).seconds == {"draft": 0.1234568}
    assert digits_kept(trace).verdict == trace.verdict


def test_traces_can_be_pickled() -> None:
    """So that they can be sent to another process."""
    for trace in recorded()[0][:3]:
        assert pickle.loads(pickle.dumps(trace)) == trace


def test_a_run_that_is_too_large_is_not_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sequoia.saved_files.run_file.MAX_JSON_BYTES", 1000)
    with pytest.raises(BadTrace, match=r"a run file may have at most 1,000 bytes; this one has"):
        recorded()[1].to_json()


# -- hostile files ---------------------------------------------------------------------------------


@cache
def small_file() -> str:
    return recorded(tokens=8)[1].to_json()


def changed(change: Callable[[dict], Any]) -> str:
    data = json.loads(small_file())
    change(data)
    return json.dumps(data)


def with_path(data: dict) -> dict:
    """The first step with an accepted child."""
    return next(step for step in data["steps"] if len(step["verdict"]["path"]) > 1)


def at_step(name: str, value: Any) -> Callable[[dict], None]:
    return lambda data: with_path(data).__setitem__(name, value)


def in_verdict(name: str, value: Any) -> Callable[[dict], None]:
    return lambda data: with_path(data)["verdict"].__setitem__(name, value)


# Parts that contradict each other. tests/guarantee/test_saved_files.py tests wrong types, numbers
# and missing fields.
HOSTILE: dict[str, tuple[Callable[[dict], Any], str]] = {
    "another format": (lambda d: d.update(format="sequoia-tree"), "not a sequoia-run file"),
    "an unknown field": (lambda d: d["meta"].update(x=1), "meta.x: 1; "),
    "too many steps": (
        lambda d: d.update(steps=d["steps"][:1] * (MAX_STEPS + 1)),
        f"at most {MAX_STEPS}",
    ),
    "many pieces": (lambda d: d.update(pieces=dict.fromkeys(range(300_001), "")), "at most 300000"),
    "steps out of order": (lambda d: d["steps"].reverse(), "steps.0.index: "),
    "a huge tree": (
        lambda d: d["trees"].__setitem__(0, [-1] + [0] * MAX_NODES),
        f"more than {MAX_NODES} nodes",
    ),
    "too few tokens": (at_step("tokens", [1, 2]), "2 tokens, 8 draft_p, 8 target_p for a tree"),
    "a path not down the tree": (in_verdict("path", [0, 7]), "does not lead down the tree"),
    "a trial of another token": (
        lambda d: with_path(d)["verdict"]["trials"][0].update(token=99_999),
        "a trial is not of a drafted token",
    ),
    "another token emitted": (
        lambda d: emit_another(with_path(d)),
        "emitted tokens must be the accepted path",
    ),
    "text missing": (at_step("text", []), "each with its text"),
    "too few residuals": (
        lambda d: with_path(d)["residual_heads"].pop(),
        "one for each trial and one for the token after them",
    ),
    "no pieces": (lambda d: d.update(pieces={}), "its text is not among the pieces"),
    "a clock of its own": (at_step("clock", "fast"), "all steps of a run must have the run's"),
}


def emit_another(trace: dict) -> None:
    trace["emitted"][0] = next(token for token in trace["tokens"] if token != trace["emitted"][0])


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_file_is_rejected_with_the_reason(what: str) -> None:
    change, reason = HOSTILE[what]
    with pytest.raises(BadTrace, match=reason) as caught:
        Run.from_json(changed(change))
    assert len(str(caught.value)) < 300


def test_the_size_is_checked_first() -> None:
    with pytest.raises(BadTrace, match=f"at most {MAX_JSON_BYTES:,} bytes; this one has"):
        Run.from_json(" " * (MAX_JSON_BYTES + 1))

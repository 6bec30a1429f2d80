"""Logs of other engines, in the forms of their documentation and sources, written by us: each gives
the right rate, or a sentence that says why not."""

from __future__ import annotations

import contextlib
import json
import random

import pytest

from sequoia.engines.read_log import MOST_CHARS, read_log
from sequoia.errors import BadLog

# 10 steps with chains of 3: 4 accept none, 2 accept 1, 1 accepts 2, 3 accept all
# accepted 13; tried 13 + 7 (the 7 that stopped early)
HISTOGRAM = [4, 2, 1, 3]
RATE = 13 / 20
SUMMARY = {
    "num_spec_steps": 10,
    "num_draft_tokens": 30,
    "num_accepted_draft_tokens": 13,
    "num_spec_tokens": 3,
    "acceptance_histogram": HISTOGRAM,
}
META = {
    "completion_tokens": 23,
    "spec_verify_ct": 10,
    "spec_num_proposed_drafts": 30,
    "spec_num_correct_drafts": 13,
    "spec_accept_length": 2.3,
}
LINE = (
    "(APIServer pid=1) INFO 05-03 18:50:55 [metrics.py:101] SpecDecoding metrics: Mean acceptance "
    "length: 2.30, Accepted throughput: 0.05 tokens/s, Drafted throughput: 0.05 tokens/s, "
    "Accepted: 13 tokens, Drafted: 30 tokens, Per-position acceptance rate: 0.600, 0.400, 0.300, "
    "Avg Draft acceptance rate: 43.3%"
)
STATISTICS = (
    "statistics draft: #calls(b,g,a) = 1 10 6, #gen drafts = 10, #acc drafts = 6, #gen tokens = 30"
    ", #acc tokens = 13, dur(b,g,a) = 0.006, 21.272, 0.010 ms"
)


def response(**metrics: object) -> str:
    return json.dumps({"id": "x", "choices": [{"text": "a"}], "metrics": metrics})


@pytest.mark.parametrize(
    ("text", "engine", "rate"),
    [
        (response(speculative_decoding=SUMMARY), "vLLM", RATE),
        (response(speculative_decoding={"acceptance_histogram": {"0": 4, "1": 2, "2": 1, "3": 3}}),
         "vLLM", RATE),
        (response(speculative_decoding={**SUMMARY, "per_step_accepted": [0, 3]}), "vLLM", RATE),
        ("\n".join([response(speculative_decoding=SUMMARY)] * 3), "vLLM", RATE),
        (json.dumps([json.loads(response(speculative_decoding=SUMMARY))]), "vLLM", RATE),
        (LINE, "vLLM", RATE),
        (f"noise\n{LINE}\n{LINE}\nmore noise", "vLLM", RATE),
        (json.dumps({"meta_info": {**META, "spec_correct_drafts_histogram": HISTOGRAM}}), "SGLang",
         RATE),
        (json.dumps({"text": "a", "meta_info": META}), "SGLang", 0.637),
        (json.dumps({"timings": {"draft_n": 30, "draft_n_accepted": 13}}), "llama.cpp", 13 / 30),
        ("draft acceptance rate = 0.43333 (   13 accepted /   30 generated)", "llama.cpp", 13 / 30),
        ("slot print_timing: draft acceptance = 0.43333 ( 13 accepted / 30 generated), mean "
         "acceptance length = 2.3", "llama.cpp", 13 / 30),
        (f"draft acceptance rate = 0.43333 (13 accepted / 30 generated)\n{STATISTICS}", "llama.cpp",
         0.637),
        (json.dumps({"spec_decode_acceptance": {"engine": "vllm", "num_spec_tokens": 3,
                     "acceptance_histogram": {"0": 4, "1": 2, "2": 1, "3": 3}}}), "vLLM", RATE),
        (json.dumps({"spec_decode_acceptance": {"engine": "sglang",
                     "acceptance_histogram": {"0": 4, "1": 2, "2": 1, "3": 3}}}), "SGLang", RATE),
    ],
)  # fmt: skip
def test_the_rate_of_each_form_is_read(text: str, engine: str, rate: float) -> None:
    found = read_log(text)
    assert found.engine == engine
    assert found.rate == pytest.approx(rate, abs=0.001)
    assert found.is_least == (rate == 13 / 30)


def test_llama_bench_gives_the_times_of_passes() -> None:
    rows = [{"n_prompt": n, "n_gen": 0, "avg_ns": 1e6 * (9 + n)} for n in (8, 1, 4, 2)]
    rows.append({"n_prompt": 0, "n_gen": 128, "avg_ns": 5e8})
    found = read_log(json.dumps(rows))
    assert found.engine == "llama.cpp"
    assert [size for size, _ in found.passes] == [1, 2, 4, 8]
    assert found.passes[-1][1] == pytest.approx(0.017)


@pytest.mark.parametrize(
    "text",
    [
        "", "   ", "[]", "{}", "null", "[1, 2]", "hello", "{", '{"metrics": {}}', "0.7, 0.1",
        '{"metrics": {"speculative_decoding": null}}',
        '{"acceptance_histogram": []}', '{"acceptance_histogram": 5}',
        '{"acceptance_histogram": [1, -2]}', '{"acceptance_histogram": [1.5]}',
        '{"acceptance_histogram": {"x": 2}}',
        '{"acceptance_histogram": [0, 0, 5], "num_spec_tokens": 1}',
        '{"acceptance_histogram": [1], "num_spec_tokens": 1000000}',
        '{"acceptance_histogram": {"-1": 2}}', '{"spec_verify_ct": "many"}',
        '{"spec_verify_ct": 0}',
        '{"draft_n": 3, "draft_n_accepted": 5}', '{"draft_n": null, "draft_n_accepted": 5}',
        '{"n_prompt": 1, "avg_ns": "fast"}', '[{"n_prompt": 0, "n_gen": 8, "avg_ns": 5}]',
        "draft acceptance rate = 0.4 (30 accepted / 13 generated)",
        "SpecDecoding metrics: Mean acceptance length:", "[" * 100_000, "x" * (MOST_CHARS + 1),
        LINE + '\ndraft acceptance rate = 0.4 (13 accepted / 30 generated)',
        LINE.replace("Accepted: 13", "Accepted: 50"), LINE.replace("0.600", "3.0"),
        LINE.replace("Drafted: 30", "Drafted: " + 5000 * "9"),
        '{"n_prompt": 1, "avg_ns": ' + 400 * "9" + "}",
    ],
)  # fmt: skip
def test_anything_else_is_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(BadLog) as refusal:
        read_log(text)
    assert 10 < len(str(refusal.value)) < 200


def test_a_cut_log_is_read_or_refused() -> None:
    whole = "\n".join([LINE, response(speculative_decoding=SUMMARY)])
    read = 0
    for end in random.Random(1).sample(range(len(whole)), 60):
        with contextlib.suppress(BadLog):
            assert read_log(whole[:end]).rate == pytest.approx(RATE)
            read += 1
    assert read > 10


def test_several_logs_are_weighted_by_their_steps() -> None:
    """As one log of all their steps."""
    parts = ([9, 0, 0, 0, 1], [0, 0, 0, 0, 30])
    apart = read_log("\n".join(json.dumps({"acceptance_histogram": one}) for one in parts))
    together = read_log(json.dumps({"acceptance_histogram": [9, 0, 0, 0, 31]}))
    assert apart.positions == pytest.approx(together.positions)
    assert apart.rate == pytest.approx(together.rate)

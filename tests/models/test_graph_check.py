"""CUDA graphs that fail or give wrong results are switched off when a model is loaded. The model
states the reason and decodes with its plain forward.

No graphics card is needed: functions that imitate a card's faults replace the CUDA capture.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable

import pytest
import torch
from decoded import emitted
from fakes import PROMPTS, tiny_pair

from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.tree import Tree
from sequoia.decoding.engine import Decoder, run
from sequoia.models import choose_forward, cuda_graphs
from sequoia.models.choose_forward import use_fast_forward
from sequoia.models.cuda_graphs import Capture, Replay
from sequoia.models.pair import Pair
from sequoia.models.self_test import self_test
from sequoia.models.tree_forward import TreeModel, transformers_forward

GREEDY = SamplingParams(max_new_tokens=20, ignore_eos=True)
TREE = Tree((-1, 0, 0, 1, 1, 2))
Change = Callable[[torch.Tensor], torch.Tensor]


def right(work: Replay) -> Replay:
    return work


def raising(problem: Exception, before: int = 0) -> Capture:
    """A capture that works `before` times and then raises `problem`."""
    left = [None] * before

    def capture(work: Replay) -> Replay:
        if left:
            left.pop()
            return work
        raise problem

    return capture


def changing(change: Change) -> Capture:
    """A capture whose replays give results changed by `change`."""
    return lambda work: lambda: change(work())


def at_node_5(logits: torch.Tensor) -> torch.Tensor:
    changed = logits.clone()
    changed[5:6, 7] += 0.3 * logits[5:6].std()
    return changed


def not_a_number(logits: torch.Tensor) -> torch.Tensor:
    return logits * float("nan")


def frozen(work: Replay) -> Replay:
    """A capture whose replays all give the first result, as if they did not read their input."""
    result = work().clone()
    return lambda: result


def writing_nowhere(work: Replay) -> Replay:
    """A capture whose replays leave the cache as it was before."""
    # the variables that `work` uses from the function around it, by name
    held = dict(zip(work.__code__.co_freevars, work.__closure__ or (), strict=True))
    layers = held["kv_cache"].cell_contents.cache_layers

    def replay() -> torch.Tensor:
        before = [(layer.keys.clone(), layer.values.clone()) for layer in layers]
        result = work()
        for layer, (keys, values) in zip(layers, before, strict=True):
            layer.keys.copy_(keys)
            layer.values.copy_(values)
        return result

    work()
    return replay


def holding_the_length(work: Replay) -> Replay:
    """A capture whose replays have the positions after the first prefix, whatever the prefix is.
    Such a graph results if a model's code reads the cache's length."""
    held = dict(zip(work.__code__.co_freevars, work.__closure__ or (), strict=True))
    captured, kv_cache = (held[name].cell_contents for name in ("self", "kv_cache"))
    length = kv_cache.length

    def replay() -> torch.Tensor:
        captured._positions += length - kv_cache.length
        return work()

    return replay


FAULTS = {
    "capture raises": (
        raising(RuntimeError("operation not permitted")),
        r"a pass cannot be captured: operation not permitted",
    ),
    "a later capture raises": (
        raising(RuntimeError("not permitted"), before=1),
        r"a pass cannot be captured: not permitted",
    ),
    "no memory": (
        raising(torch.OutOfMemoryError("CUDA out of memory")),
        r"no memory was left to test CUDA graphs",
    ),
    "wrong at one node": (
        changing(at_node_5),
        r"after 3 tokens, .* differed by 0\.3\d? .* \(allowed: 0\.001\)",
    ),
    "not a number": (changing(not_a_number), r"after 3 tokens, .* differed by nan .*"),
    "the first length is kept": (
        holding_the_length,
        r"after 3 tokens, the replay differed by \S+ .*",
    ),
    "input is not read": (frozen, r"after 3 tokens, the replay differed by \S+ .*"),
    "cache is not written": (writing_nowhere, r"after .* the replay differed by \S+ .*"),
}


def graphed(capture: Capture, monkeypatch: pytest.MonkeyPatch, grouped: bool = False) -> Pair:
    """A pair whose models look for a faster forward as if on a card. `capture` replaces the CUDA
    capture. grouped: whether the models count as able to use grouped attention."""
    pair = tiny_pair(context=1024)
    monkeypatch.setattr(choose_forward, "CudaCapture", lambda _: capture)
    monkeypatch.setattr(choose_forward, "fused_forward", lambda _: None)
    if not grouped:
        monkeypatch.setattr(choose_forward, "grouped_forward", lambda _: None)
    monkeypatch.setattr(TreeModel, "may_use_graphs", True)
    for model in (pair.target, pair.draft):
        model.forward = TreeModel(model.hf, model.name).forward
        use_fast_forward(model)
    return pair


def text(pair: Pair) -> list[int]:
    return emitted(run(Decoder(pair, PROMPTS[0], GREEDY, TREE)))


def test_graphs_that_are_right_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = graphed(right, monkeypatch)
    assert pair.target.forward_name == "transformers, as CUDA graphs"
    assert pair.target.no_fast_forward == ""


@pytest.mark.parametrize("fault", FAULTS)
def test_graphs_that_go_wrong_are_switched_off_with_the_reason(
    fault: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    capture, words = FAULTS[fault]
    expected = text(tiny_pair(context=1024))
    caplog.clear()
    with caplog.at_level(logging.WARNING, "sequoia.models.choose_forward"):
        pair = graphed(capture, monkeypatch)
    why = pair.target.no_fast_forward
    assert re.fullmatch(f"CUDA graphs off: {words}", why)
    assert f"target runs without its faster forward in float32: {why}" in caplog.text
    assert pair.target.forward_name == "transformers"
    self_test(pair.target)
    assert text(pair) == expected


def test_graphs_that_are_wrong_only_after_longer_prefixes_are_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[Replay] = []

    def capture(work: Replay) -> Replay:
        made.append(work)
        first = len(made) <= 2  # the two graphs for short prefixes: tree, single token
        return work if first else (lambda: work() * 1.5)

    pair = graphed(capture, monkeypatch)
    assert re.match(
        rf"CUDA graphs off: after {cuda_graphs.STEP + 3} tokens, .* differed by \S+ ",
        pair.target.no_fast_forward,
    )


def test_graphs_are_tried_again_without_grouped_attention(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """If grouped attention gives wrong logits, graphs without it are tried."""

    def wrong(hf: object) -> cuda_graphs.Forward:
        return lambda *given: transformers_forward(hf, *given) * 1.5

    monkeypatch.setattr(choose_forward, "grouped_forward", wrong)
    pair = graphed(right, monkeypatch, grouped=True)
    assert pair.target.forward_name == "transformers, as CUDA graphs"
    assert pair.target.no_fast_forward == ""
    assert (
        "target: trying another faster forward; the last was rejected: its logits in float32 differ"
        in caplog.text
    )

"""A run in its own thread: it waits for the models, and frees the engine even if an error ends
it."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
import torch
from visits import sent

from sequoia import Decoder, Pair, Run
from sequoia.algorithm.verifiers import VERIFIERS
from sequoia.errors import BadModel
from ui.run.decode_job import DecodeJob
from ui.serving.model_host import ModelHost
from ui.shared.tree_menu import SHAPES

PLANNED = ("planned", "", "sequoia")


def steps_of(texts: list[str]) -> list[Any]:
    return [step for text in texts for step in json.loads(text).get("steps", [])]


def lane_run(live: DecodeJob) -> Run:
    """The run of the first lane."""
    return live.recording.log().lanes[0].run


def emitted(live: DecodeJob) -> list[int]:
    return [token for step in lane_run(live).steps for token in step.emitted]


def test_more_tokens_than_the_model_supports_are_refused(
    make: Callable[..., DecodeJob], pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are refused before a tree is planned, because planning takes seconds."""
    monkeypatch.setattr(pair.target, "limit", 40)
    monkeypatch.setattr(pair.target, "limit_reason", "the rotary frequencies change")
    monkeypatch.setattr("ui.shared.tree_request.default_plan", lambda *_: pytest.fail("planned"))
    live = make(lanes=[PLANNED], prompt="0123456789", max_new_tokens=31)
    live.start(None)
    error = next(message["error"] for message in sent(live.messages()) if message.get("error"))
    assert "10 tokens and 31 new ones are 41; the models' limit is 40" in error


def test_waiting_between_steps_is_not_timed(
    make: Callable[..., DecodeJob], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards against counting a pause as time of the step after it. Here the clock is moved forward
    by an hour in each pause."""
    waited = [0.0]
    clock = time.perf_counter
    monkeypatch.setattr(time, "perf_counter", lambda: clock() + waited[0])
    live = make(max_new_tokens=40)
    for _ in range(3):
        live.start(1)
        list(live.messages())
        waited[0] += 3600.0
    assert all(step.total_seconds < 3600 for step in lane_run(live).steps)


def test_an_early_run_waits_for_the_models(pair: Pair, make: Callable[..., DecodeJob]) -> None:
    loaded = threading.Event()
    model_host = ModelHost(lambda: (loaded.wait(10), pair)[1], 2)
    model_host.open()
    live = make(model_host=model_host, max_new_tokens=4)
    live.start(None)
    texts = iter(live.messages())
    first = json.loads(next(texts))
    assert "waiting for the models" in first["notice"]
    assert "run" not in first
    loaded.set()
    assert sum(len(step["emitted"]) for step in steps_of(list(texts))) == 4


def test_models_that_do_not_load_are_reported(make: Callable[..., DecodeJob]) -> None:
    def refuse() -> Pair:
        raise BadModel("no such folder 'x'")

    model_host = ModelHost(refuse, 2)
    model_host.open()
    live = make(model_host=model_host)
    live.start(None)
    assert "no such folder 'x'" in json.loads(list(live.messages())[-1])["error"]
    assert model_host.status.stage == "failed"


def test_an_unexpected_error_shows_no_path_and_the_next_run_is_unaffected(
    make: Callable[..., DecodeJob], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("/secret/path.py line 3")

    with monkeypatch.context() as patch:
        patch.setattr(Decoder, "step", broken)
        live = make()
        live.start(None)
        last = json.loads(list(live.messages())[-1])
    assert last["error"]
    assert "secret" not in last["error"]
    after = make(max_new_tokens=6)
    after.start(None)
    assert sum(len(step["emitted"]) for step in steps_of(list(after.messages()))) == 6


OUT_OF_MEMORY_AT = [
    "sequoia.models.tree_forward.TreeModel.open",
    "sequoia.decoding.engine.Decoder.prefill",
    "sequoia.decoding.step.Drafter.fill",
    "sequoia.models.tree_forward.Context.forward",
    "sequoia.models.cache_and_mask.KVCache.keep",
]


@pytest.mark.parametrize(
    "problem",
    [
        MemoryError(),
        torch.OutOfMemoryError(),
        RuntimeError("CPU: can't allocate memory"),
        RuntimeError("CUDA error: out of memory\nCompile with..."),
        RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
    ],
    ids=["Python", "torch", "a CPU", "CUDA", "cuBLAS"],
)
@pytest.mark.parametrize("point", OUT_OF_MEMORY_AT)
def test_out_of_memory_is_shown_and_the_next_run_is_unaffected(
    make: Callable[..., DecodeJob],
    monkeypatch: pytest.MonkeyPatch,
    problem: Exception,
    point: str,
) -> None:
    def full(*_: object, **__: object) -> None:
        raise problem

    with monkeypatch.context() as patch:
        patch.setattr(point, full)
        live = make()
        live.start(None)
        assert "Out of memory" in json.loads(list(live.messages())[-1])["error"]
    after = make(max_new_tokens=6)
    after.start(None)
    assert len(steps_of(list(after.messages()))) > 0


def test_a_card_that_stopped_working_ends_the_run_and_later_runs_say_so(
    make: Callable[..., DecodeJob], model_host: ModelHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After an illegal memory access, every further call to CUDA raises the same error, even the
    call that frees memory. The run must still report its end, or its page would wait for ever."""

    def lost(*_: object) -> None:
        raise RuntimeError("CUDA error: an illegal memory access was encountered\nFor debugging...")

    def problem(_: torch.device) -> str:
        return "CUDA error: an illegal memory access was encountered"

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "empty_cache", lost)
    monkeypatch.setattr(Decoder, "step", lost)
    monkeypatch.setattr("ui.serving.model_host.gpu_problem", problem)
    words = (
        "The graphics card stopped working (CUDA error: an illegal memory access was encountered). "
        "Start the program again."
    )
    for _ in range(2):
        live = make()
        live.start(None)
        assert json.loads(list(live.messages())[-1])["error"] == words
    assert (model_host.status.stage, model_host.status.words) == ("failed", words)


# for each shape that has fields in the form, values of these fields that give a small tree
FIELDS = {
    "best": "12, 4",
    "chain": "5",
    "sequences": "3, 2",
    "kary": "2, 3",
    "branching": "3, 1",
    "lab": "-1 0 0 1",
    "dynamic": "12, 4",
}


@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.parametrize("verifier", VERIFIERS)
def test_every_shape_runs_with_every_verifier(
    make: Callable[..., DecodeJob], kind: str, verifier: str
) -> None:
    live = make(max_new_tokens=8, lanes=[(kind, FIELDS.get(kind, ""), verifier)])
    live.start(None)
    texts = list(live.messages())
    assert live.error is None
    assert sum(len(step["emitted"]) for step in steps_of(texts)) == 8
    run = lane_run(live)
    # whether the tree may change from step to step
    changes = kind in ("dynamic", "lookup")
    nodes = run.meta["tree"].get("nodes")
    assert (nodes is None) == changes
    assert changes or nodes > 8 or len(run.steps[0].tree) == nodes

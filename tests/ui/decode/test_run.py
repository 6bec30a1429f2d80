"""A run in its own thread: it stops after the current step, keeps to its time limit, waits for its
turn, and frees the engine even if an error ends it."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from visits import Gate, decode_request, sent

import ui.decode.run
from sequoia import Acceptance, Decoder, Pair, Plan, Tree
from sequoia.algorithm.verifiers import VERIFIERS
from sequoia.errors import BadModel
from ui.decode.recordings import RunStore
from ui.decode.run import DecodeJob, PlainRun, plain_run
from ui.serving.limits import LOCAL, Limits
from ui.serving.model_host import ModelHost
from ui.shared.tree_menu import SHAPES
from ui.shared.tree_request import TreeRequest


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    gate = Gate()
    monkeypatch.setattr(ui.decode.run, "Decoder", gate.before(Decoder))
    yield gate
    gate.open()


def steps_of(texts: list[str]) -> list[Any]:
    return [step for text in texts for step in json.loads(text).get("steps", [])]


def emitted(live: DecodeJob) -> list[int]:
    return [token for step in live.recording.run().steps for token in step.emitted]


def test_a_planned_chain_says_why(
    make: Callable[..., DecodeJob], monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = Plan(Tree.chain(3), 1.5, 0.1, 1.2, Acceptance((0.5, 0.1)), "recorded")
    monkeypatch.setattr("ui.shared.tree_request.default_plan", lambda *_: plan)
    live = make(tree_request=TreeRequest("planned"), tokens=4)
    live.start(None)
    meta = next(message["meta"] for message in sent(live.messages()) if "meta" in message)
    assert meta["tree"]["why"].startswith("A chain: its last node is predicted to add ")
    assert meta["tree"]["description"].endswith(", from acceptance rates")
    assert meta["tree"]["rates"] == "recorded"
    assert meta["acceptance"] == [0.5, 0.1]


def test_more_tokens_than_the_model_supports_are_refused(
    make: Callable[..., DecodeJob], pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are refused before a tree is planned, because planning takes seconds."""
    monkeypatch.setattr(pair.target, "limit", 40)
    monkeypatch.setattr(pair.target, "limit_reason", "the rotary frequencies change")
    monkeypatch.setattr("ui.shared.tree_request.default_plan", lambda *_: pytest.fail("planned"))
    live = make(tree_request=TreeRequest("planned"), prompt="0123456789", tokens=31)
    live.start(None)
    error = next(message["error"] for message in sent(live.messages()) if message.get("error"))
    assert "10 tokens and 31 new ones are 41; the models' limit is 40" in error


def test_stop_ends_the_run_after_the_current_step(
    make: Callable[..., DecodeJob], gate: Gate
) -> None:
    """Guards against a Stop that takes effect only at the end of the run. Only the step under way
    is finished."""
    live = make(tokens=100)
    live.start(None)
    for _ in range(3):
        assert gate.begun.acquire(timeout=10)
        gate.passes.release()
    assert gate.begun.acquire(timeout=10)  # the fourth step is under way
    live.halt()
    gate.passes.release()
    texts = list(live.messages())
    assert len(steps_of(texts)) == 4
    assert json.loads(texts[-1])["done"] is True
    assert json.loads(texts[-1])["end"] == "stopped"
    assert not live.busy
    assert live.holding


def test_a_run_ends_at_its_time_limit(make: Callable[..., DecodeJob]) -> None:
    live = make(limits=Limits(seconds=0.0), tokens=100)
    live.start(None)
    texts = list(live.messages())
    assert len(steps_of(texts)) == 1
    assert "time limit of" in json.loads(texts[-1])["notice"]
    assert not live.holding


def test_a_run_complete_at_its_time_limit_is_not_called_stopped(
    make: Callable[..., DecodeJob],
) -> None:
    live = make(limits=Limits(seconds=0.0), tokens=1)
    live.start(None)
    last = json.loads(list(live.messages())[-1])
    assert (last["end"], last["notice"]) == ("length", None)


def test_a_baseline_that_ends_inside_a_character_shows_the_incomplete_character(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Held:
        """A stream that receives only the first bytes of a character."""

        pending = "\ufffd"

        def __init__(self, *_: Any) -> None:
            pass

        def add(self, _: int) -> str:
            return ""

    monkeypatch.setattr("ui.decode.run.TextStream", Held)
    found = plain_run(pair, decode_request(tokens=3), lambda: False)
    assert found.texts == ("", "", "\ufffd")


def test_stepping_gives_one_step_each_and_the_same_tokens(make: Callable[..., DecodeJob]) -> None:
    """Guards against a pause that loses the state of the caches or of the random draws."""
    straight = make(tokens=20)
    stepped = make(tokens=20)
    straight.start(None)
    list(straight.messages())
    for n in range(1, 4):
        stepped.start(1)
        list(stepped.messages())
        assert len(stepped.recording.run().steps) == n
        assert stepped.holding
    stepped.start(None)
    list(stepped.messages())
    assert emitted(stepped) == emitted(straight)
    assert not stepped.holding


def test_plain_decoding_is_timed_only_after_the_run(
    make: Callable[..., DecodeJob], gate: Gate
) -> None:
    live = make(compare=True)
    live.start(None)
    metas = []
    for text in live.messages():
        if meta := json.loads(text).get("meta"):
            metas.append(meta)
            gate.open()
    assert metas[0]["plain_seconds"] is None
    assert metas[-1]["plain_seconds"] > 0
    assert live.recording.run().meta["plain_seconds"] == metas[-1]["plain_seconds"]
    verdict = metas[-1]["speedup"]
    assert 0 < verdict["low"] <= verdict["ratio"] <= verdict["high"]
    own, plain = verdict["seconds"]
    assert verdict["ratio"] == pytest.approx(plain / own)
    assert (verdict["runs"], verdict["label"]) == (1, "measured")
    plain = metas[-1]["plain"]
    assert len(plain["text"]) == len(plain["seconds"])
    assert sum(plain["seconds"]) == pytest.approx(
        metas[-1]["plain_seconds"] * len(plain["seconds"]), rel=1e-3
    )


def test_at_temperature_0_plain_decoding_writes_the_same_text(
    make: Callable[..., DecodeJob],
) -> None:
    live = make(compare=True, tokens=24, temperature=0.0)
    live.start(None)
    list(live.messages())
    run = live.recording.run()
    written = "".join(text for step in run.texts for text in step)
    plain = run.meta["plain"]
    assert "".join(plain["text"]) == written
    assert (plain["same"], plain["finish"]) == (24, "length")


def test_plain_decoding_that_was_stopped_early_says_so(
    make: Callable[..., DecodeJob], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock of `plain_run` is 1 s later each time it is read, so there are two steps."""
    clock = iter(range(1000))
    monkeypatch.setattr("ui.decode.run.time", SimpleNamespace(monotonic=lambda: next(clock)))
    live = make(compare=True, tokens=24, temperature=0.0)
    live.start(None)
    list(live.messages())
    plain = live.recording.run().meta["plain"]
    assert (len(plain["text"]), plain["same"]) == (2, 2)
    assert (plain["finish"], plain["limit"]) == ("time", 3.0)


def test_waiting_between_steps_is_not_timed(
    make: Callable[..., DecodeJob], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards against counting a pause as time of the step after it. Here the clock is moved forward
    by an hour in each pause."""
    waited = [0.0]
    clock = time.perf_counter
    monkeypatch.setattr(time, "perf_counter", lambda: clock() + waited[0])
    live = make(tokens=40)
    for _ in range(3):
        live.start(1)
        list(live.messages())
        waited[0] += 3600.0
    assert all(step.total_seconds < 3600 for step in live.recording.run().steps)


NOT_TIMED = "No speed-up shown: the plain baseline was not timed."


def test_a_stopped_run_says_that_its_speed_up_is_missing(
    make: Callable[..., DecodeJob], gate: Gate
) -> None:
    live = make(tokens=100, compare=True)
    live.start(None)
    assert gate.begun.acquire(timeout=10)
    live.halt()
    gate.passes.release()
    last = json.loads(list(live.messages())[-1])
    words = "Stopped. Resume or Step to continue."
    assert (last["end"], last["notice"]) == ("stopped", f"{words} {NOT_TIMED}")


@pytest.mark.parametrize(
    ("fields", "steps", "end", "notice"),
    [
        (
            {"compare": True, "limits": Limits(seconds=0.0)},
            None,
            "time",
            f"Stopped at the time limit of 0 s. {NOT_TIMED}",
        ),
        ({"compare": True}, 2, "paused", None),
        ({"compare": True}, None, "length", None),
        ({"compare": False}, None, "length", None),
        ({"compare": True, "tree_request": TreeRequest("plain")}, None, "length", None),
    ],
    ids=["time", "paused", "timed", "not asked for", "plain itself"],
)
def test_the_last_message_says_why_the_run_ended_and_if_its_speed_up_is_missing(
    make: Callable[..., DecodeJob],
    request: pytest.FixtureRequest,
    fields: dict[str, Any],
    steps: int | None,
    end: str,
    notice: str | None,
) -> None:
    live = make(tokens=40, **fields)
    live.start(steps)
    said = sent(live.messages())
    assert [message["end"] for message in said if message.get("done")] == [end]
    assert said[-1]["notice"] == notice
    is_timed = live.recording.meta["plain_seconds"] is not None
    assert is_timed == (request.node.callspec.id == "timed")


def test_a_stopped_timing_is_mentioned(
    make: Callable[..., DecodeJob], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ui.decode.run, "plain_run", lambda *_: PlainRun())
    live = make(compare=True)
    live.start(None)
    assert json.loads(list(live.messages())[-1])["notice"] == NOT_TIMED


def test_a_second_run_shows_its_position_and_then_begins(
    make: Callable[..., DecodeJob], gate: Gate
) -> None:
    first = make(tokens=2, tree_request=TreeRequest("plain"))
    second = make(tokens=2, tree_request=TreeRequest("plain"))
    first.start(None)
    assert gate.begun.acquire(timeout=10)
    second.start(None)
    received = iter(second.messages())
    assert json.loads(next(received))["notice"].startswith("1 run ahead of you")
    gate.passes.release(10)
    list(first.messages())
    assert len(steps_of(list(received))) == 2


def test_an_early_run_waits_for_the_models(pair: Pair, make: Callable[..., DecodeJob]) -> None:
    loaded = threading.Event()
    model_host = ModelHost(lambda: (loaded.wait(10), pair)[1], 2)
    model_host.open()
    live = make(model_host=model_host, tokens=4)
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
    after = make(tokens=6)
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
    after = make(tokens=6)
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
FIELDS: dict[str, tuple[Any, ...]] = {
    "best": (12, 4),
    "chain": (5,),
    "sequences": (3, 2),
    "kary": (2, 3),
    "branching": ("3, 1",),
    "lab": ("-1 0 0 1",),
    "replanned": (12, 4),
    "dynamic": (12, 4),
}


@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.parametrize("verifier", VERIFIERS)
def test_every_shape_runs_with_every_verifier(
    model_host: ModelHost, kind: str, verifier: str
) -> None:
    tree_request = TreeRequest(kind, FIELDS.get(kind, ()))
    live = DecodeJob(
        decode_request(tokens=8, tree_request=tree_request, verifier=verifier),
        model_host,
        LOCAL,
        RunStore(1, 10**6),
    )
    live.start(None)
    texts = list(live.messages())
    assert live.error is None
    assert sum(len(step["emitted"]) for step in steps_of(texts)) == 8
    tree = live.recording.meta["tree"]
    changes = kind in (
        "replanned",
        "dynamic",
        "lookup",
    )  # whether the tree may change from step to step
    assert ("nodes" not in tree) == changes
    assert (
        changes
        or len(json.loads(live.recording.run().to_json())["trees"][0]) == tree["nodes"]
        or tree["nodes"] > 8
    )

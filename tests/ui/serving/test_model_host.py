"""Another pair (target and draft) is loaded while the page is up. Loading waits its turn. Of the
replaced pair's runs, only the recordings stay. If loading fails, the current pair stays. If it was
freed to make room, it is loaded again if possible.

Also tested: the pair in the header, and loading the first pair.
"""

from __future__ import annotations

import asyncio
import dataclasses
import gc
import json
import threading
import weakref
from collections.abc import Callable

import fakes
import pytest
from visits import run_request, wait

from sequoia import Pair
from sequoia.errors import BadModel, OutOfMemory
from sequoia.loading.model_checks import PassedCheck
from ui.run.decode_job import DecodeJob
from ui.run.recordings import RunStore
from ui.serving.fair_queue import Cancelled, Wait
from ui.serving.limits import LOCAL
from ui.serving.model_host import ModelHost, NotLoaded, Status, words_for
from ui.serving.session_view import Sessions


@pytest.fixture(scope="module")
def other() -> Pair:
    """Another pair, measured once."""
    return dataclasses.replace(fakes.tiny_pair(seed=3), name="owner/big + owner/small")


def never() -> bool:
    return False


def ignore(_: Wait) -> None:
    pass


def failing(problem: Exception) -> Callable[[], Pair]:
    def load() -> Pair:
        raise problem

    return load


def test_another_pair_is_served_with_its_own_profile_and_acceptance(
    model_host: ModelHost, pair: Pair, other: Pair
) -> None:
    before = model_host.version
    assert model_host.change(lambda: other, never, ignore) is other
    assert model_host.pair(never) is other
    assert model_host.version == before + 1
    assert model_host.status.words == words_for(other)
    assert model_host.status.words.startswith("big + small pair")
    assert other.measured.profile is not pair.measured.profile
    assert other.measured.acceptances


@pytest.mark.parametrize(
    "problem", [BadModel("no such thing"), RuntimeError("anything"), Cancelled()]
)
def test_if_loading_fails_the_current_pair_stays(
    model_host: ModelHost, pair: Pair, problem: Exception
) -> None:
    before = model_host.status, model_host.version
    with pytest.raises(type(problem)):
        model_host.change(failing(problem), never, ignore)
    assert model_host.pair(never) is pair
    assert (model_host.status, model_host.version) == before


def test_if_loading_fails_paused_runs_stay(
    model_host: ModelHost, make: Callable[..., DecodeJob]
) -> None:
    live = make()
    sessions = Sessions[DecodeJob](LOCAL)
    model_host.before_unload.append(sessions.release_all)
    sessions.go("one", live, 1)
    list(live.messages())
    with pytest.raises(BadModel):
        model_host.change(failing(BadModel("x")), never, ignore)
    assert live.holding


def test_without_memory_for_both_the_current_pair_is_freed_first(pair: Pair, other: Pair) -> None:
    model_host = opened(lambda: pair)
    did: list[str] = []
    model_host.before_unload.append(lambda: did.append("unload"))

    def load() -> Pair:
        did.append("load")
        if "unload" not in did:
            raise OutOfMemory("no room for both")
        return other

    assert model_host.change(load, never, ignore) is other
    assert did == ["load", "unload", "load"]


def test_the_previous_pair_is_reloaded_after_a_failure(pair: Pair) -> None:
    loads: list[str] = []

    def former() -> Pair:
        loads.append("former")
        return pair

    model_host = opened(former)
    with pytest.raises(OutOfMemory, match="too large"):
        model_host.change(failing(OutOfMemory("too large in any case")), never, ignore)
    assert loads == ["former", "former"]
    assert model_host.pair(never) is pair
    assert model_host.status.stage == "ready"


def test_if_the_new_and_the_previous_pair_both_fail_the_error_says_so_and_a_third_can_be_loaded(
    pair: Pair, other: Pair
) -> None:
    answers = iter([pair])

    def once() -> Pair:
        try:
            return next(answers)
        except StopIteration:
            raise BadModel("the disk is gone") from None

    model_host = opened(once)
    with pytest.raises(NotLoaded, match=r"too large; the previous models.*the disk is gone"):
        model_host.change(failing(OutOfMemory("too large")), never, ignore)
    assert model_host.status.stage == "failed"
    with pytest.raises(NotLoaded):
        model_host.pair(never)
    assert model_host.change(lambda: other, never, ignore) is model_host.pair(never) is other


def opened(load: Callable[[], Pair]) -> ModelHost:
    model_host = ModelHost(load, 4)
    model_host.open()
    wait(lambda: model_host.settled, 30)
    return model_host


# -- in turn ---------------------------------------------------------------------------------------


def test_loading_waits_for_a_running_decode_and_later_runs_get_the_new_pair(
    model_host: ModelHost, other: Pair
) -> None:
    """Guards against a run that gets its pair while it waits. That pair may have been unloaded by
    the time the run decodes."""
    places = list[int]()
    got = list[Pair]()
    running = threading.Event()
    go_on = threading.Event()
    loading = threading.Event()

    def count(wait: Wait) -> None:
        places.append(wait.ahead)

    def run() -> None:
        with model_host.turn(never, ignore):
            running.set()
            go_on.wait(10)

    def load() -> Pair:
        loading.set()
        return other

    def behind() -> None:
        with model_host.turn(never, count) as pair:
            got.append(pair)

    threads = [threading.Thread(target=run)]
    threads[0].start()
    assert running.wait(10)
    threads.append(threading.Thread(target=model_host.change, args=(load, never, count)))
    threads[1].start()
    wait(lambda: places == [1])
    threads.append(threading.Thread(target=behind))
    threads[2].start()
    wait(lambda: places == [1, 2])
    assert not loading.is_set()
    go_on.set()
    for thread in threads:
        thread.join(30)
    assert got == [other]


def test_a_visitor_who_waits_to_load_can_leave(
    model_host: ModelHost, pair: Pair, other: Pair
) -> None:
    with model_host.turn(never, ignore), pytest.raises(Cancelled):
        model_host.change(lambda: other, lambda: True, ignore)
    assert model_host.pair(never) is pair


# -- the previous pair is freed --------------------------------------------------------------------


def test_a_paused_run_of_the_previous_pair_cannot_continue(
    model_host: ModelHost, other: Pair, make: Callable[..., DecodeJob]
) -> None:
    live = make()
    live.start(1)
    list(live.messages())
    assert live.holding
    model_host.change(lambda: other, never, ignore)
    live.start(None)
    last = json.loads(list(live.messages())[-1])
    assert "models were loaded after this run paused" in last["error"]
    assert not live.holding


def test_a_resumed_run_that_waits_does_not_keep_the_previous_models(
    model_host: ModelHost, other: Pair, make: Callable[..., DecodeJob]
) -> None:
    live = make()
    sessions = Sessions[DecodeJob](LOCAL)
    model_host.before_unload.append(sessions.release_all)
    sessions.go("one", live, 1)
    list(live.messages())

    def load() -> Pair:
        if not live.busy:
            sessions.go("one", live)
            raise OutOfMemory("no room for both")
        assert not live.holding
        return other

    model_host.change(load, never, ignore)
    last = json.loads(list(live.messages())[-1])
    assert "models were loaded after this run paused" in last["error"]


def test_the_previous_models_are_freed(other: Pair) -> None:
    """Guards against recordings or paused runs that keep gigabytes of weights in memory."""
    model = fakes.tiny_model()
    model_host = opened(lambda: fakes.pair_of(model, model, fakes.tiny_tokenizer()))
    sessions = Sessions[DecodeJob](LOCAL)
    run_store = RunStore(8, 10**6)
    model_host.before_unload.append(sessions.release_all)
    names: list[str] = []
    for who, steps in (("paused", 1), ("over", None)):
        run = DecodeJob(run_request(max_new_tokens=8), model_host, LOCAL, run_store)
        sessions.go(who, run, steps)
        list(run.messages())
        assert run.recording
        names.append(run.recording.name)
    weights = weakref.ref(model_host.pair(never).target.hf)
    model_host.change(lambda: other, never, ignore)
    gc.collect()
    assert weights() is None
    assert all(map(run_store.get, names))


# -- loading the first pair ------------------------------------------------------------------------


def test_the_header_shows_loading_progress_but_not_passed_checks() -> None:
    model_host = ModelHost(failing(BadModel("unused")), 4)
    model_host.on_progress("loading the weights of the target")
    model_host.on_progress(PassedCheck("tokenizer", "the same for both"))
    assert json.loads(model_host.status_json()) == {
        "stage": "loading",
        "words": "loading the weights of the target",
        "version": 0,
        "models": None,
    }


def test_the_header_leaves_the_details_of_an_unexpected_error_to_the_log() -> None:
    model_host = opened(failing(ZeroDivisionError("division by zero")))
    assert model_host.status == Status(
        "failed", "an unexpected error; see the server's log for details"
    )


def test_a_view_opened_early_waits_until_loading_has_ended() -> None:
    model_host = ModelHost(failing(BadModel("no such folder")), 4)

    async def come() -> str:
        waiting = asyncio.create_task(model_host.until_settled())
        await asyncio.sleep(0)
        assert not waiting.done()
        model_host.open()
        await waiting
        return model_host.status.stage

    assert asyncio.run(come()) == "failed"

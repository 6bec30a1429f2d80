"""A run whose step times are simulated for another machine. It differs from a run that is timed on
this machine only in its times. All of these are simulated, and none is called measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from visits import sent

from sequoia import Acceptance, Run, named_profile
from sequoia.algorithm.tree import MAX_NODES
from sequoia.measuring.defaults import SLACK
from sequoia.planning.plan_for_machine import best_plan
from ui.run.clocks import checked_clock, clock_meta
from ui.run.decode_job import DecodeJob
from ui.run.meta import recorded
from ui.serving.limits import LOCAL

KEY = "a100-llama-2-7b-eager"
NAME = "A100, Llama-2-7B with 68M, eager, as in the paper"
PROFILE = named_profile(KEY)
OFFLOADED = "l40-llama-2-70b-offloaded"
RATES = Acceptance((0.6, 0.2, 0.1))


@pytest.fixture(autouse=True)
def acceptance(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fixed acceptance vector: the tiny pair's own would have to be measured."""
    found = lambda *_: (RATES, "recorded")  # noqa: E731
    monkeypatch.setattr("sequoia.measuring.defaults.acceptance_of", found)
    monkeypatch.setattr("ui.shared.tree_request.acceptance_of", found)


def made(live: DecodeJob) -> Run:
    live.start(None)
    errors = [message["error"] for message in sent(live.messages()) if message.get("error")]
    assert errors == []
    return live.recording.log().lanes[0].run


@pytest.mark.parametrize(
    ("clock", "planned"), [(KEY, True), ("m1-max-qwen3-8b", False)], ids=["wide", "narrow"]
)
def test_show_me_a_tree_is_the_planned_tree_if_that_is_wide(
    make: Callable[..., DecodeJob], clock: str, planned: bool
) -> None:
    """“Show me a tree” is the menu text of the shape "wide"."""
    meta = made(make(clock=clock, lanes=[("wide", "", "sequoia")], max_new_tokens=4)).meta["tree"]
    wanted = best_plan(RATES, named_profile(clock), slack=SLACK).tree
    assert (len(wanted) >= 32) is planned
    if planned:
        assert (meta["nodes"], meta["levels"]) == (len(wanted), wanted.levels)
        assert meta["description"].startswith(f"planned for {NAME}")
    else:
        assert (meta["nodes"], meta["levels"]) == (48, 6)
        assert meta["description"].startswith(
            "best tree of 48 nodes on at most 6 levels, chosen to show"
        )


def test_times_of_other_models_make_a_run_hypothetical(make: Callable[..., DecodeJob]) -> None:
    """The toy pair is not the pair that the profile is for. The paper measured that pair."""
    run = made(make(clock=KEY))
    assert run.meta["hypothetical"] is True
    assert run.meta["paper"]["ratio"] == 4.04
    again = recorded(run.meta)
    assert (again["hypothetical"], again["paper"]) == (True, run.meta["paper"])
    assert "hypothetical" not in made(make()).meta


@pytest.mark.parametrize(
    ("models", "hypothetical"),
    [
        (("Llama-2-7B, 6.74 B", "JF68M, 68 M"), False),
        (("llama-2-7b", "jf68m"), False),
        (("Llama-2-7B, 6.74 B", "bundled draft, 2.63 M"), True),
        (("bundled target, 15.7 M", "bundled draft, 2.63 M"), True),
    ],
)
def test_a_run_is_hypothetical_if_a_model_is_not_that_of_the_profile(
    models: tuple[str, str], hypothetical: bool
) -> None:
    meta = clock_meta(checked_clock(KEY), models)
    assert meta["hypothetical"] is hypothetical
    file = {**meta, "target": models[0], "draft": models[1], "hypothetical": not hypothetical}
    assert recorded(file)["hypothetical"] is hypothetical


def test_a_file_of_an_unknown_profile_is_hypothetical_unless_it_says_otherwise() -> None:
    meta = {"label": "simulated", "clock": "my card"}
    assert recorded(meta)["hypothetical"] is True
    assert recorded({**meta, "hypothetical": False})["hypothetical"] is False


def test_a_planned_tree_is_at_most_as_large_as_the_page_allows(
    make: Callable[..., DecodeJob],
) -> None:
    limits = replace(LOCAL, nodes=24)
    live = make(limits=limits, clock=OFFLOADED, lanes=[("planned", "", "sequoia")])
    tree = live.request.lanes[0].tree_request
    lane = replace(live.request.lanes[0], tree_request=replace(tree, most=24))
    live.request = replace(live.request, lanes=(lane,))
    meta = made(live).meta
    best = len(best_plan(RATES, named_profile(OFFLOADED), MAX_NODES, slack=0.01).tree)
    assert meta["tree"]["nodes"] <= 24 < best
    assert f"limited to 24 nodes here ({best} would be best)" in meta["tree"]["description"]


def test_a_stepped_run_goes_on_with_the_same_clock(make: Callable[..., DecodeJob]) -> None:
    live = make(clock=KEY, max_new_tokens=20)
    for _ in range(2):
        live.start(1)
        list(live.messages())
    run = made(live)
    assert {step.clock for step in run.steps} == {NAME}
    assert run.steps == made(make(clock=KEY, max_new_tokens=20)).steps

"""The Lab's requests to the server: for the data it opens with, to measure acceptance, and to run a
tree. Some requests have invalid values."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import gradio as gr
import pytest
from visits import Reading, laid_out, request, run_request, wait

from sequoia import Acceptance, HardwareProfile, SamplingParams, best_tree, profile_names
from ui.lab.acceptance_job import AcceptanceJob
from ui.lab.tab import LabTab
from ui.run.tab import RunTab
from ui.serving.limits import LOCAL, PUBLIC, Limits
from ui.serving.model_host import ModelHost
from ui.shared import saved_profiles
from ui.shared.saved_profiles import Entry
from ui.shared.tree_request import ChosenTree


def ask(data: Any) -> Any:
    return SimpleNamespace(_data=data)


def visit(name: str = "a") -> Any:
    return request(name)


@pytest.fixture
def made(model_host: ModelHost) -> Callable[..., LabTab]:
    """A function that makes the Lab in a page of its own."""

    def make(limits: Limits = LOCAL) -> LabTab:
        with laid_out():
            live = RunTab(model_host, limits, gr.HTML())
            live.build()
            tab = LabTab(model_host, limits, live)
            tab.build()
        return tab

    return make


def counted(tab: LabTab, who: Any = None, **data: Any) -> list[dict[str, Any]]:
    asked = {"temperature": "0.6", "top_p": "1", "prompts": "class", **data}
    return [json.loads(text)["count"] for text in Reading(tab.count(ask(asked), who or visit()))]


def test_the_lab_opens_with_recorded_acceptance_and_this_machines_times(
    made: Callable[..., LabTab],
) -> None:
    async def messages() -> list[dict[str, Any]]:
        return [json.loads(text) async for text in made(PUBLIC).come([])]

    (first,) = asyncio.run(messages())
    assert first["most"] == PUBLIC.nodes
    assert [one["key"] for one in first["ways"]] == ["decode", "levels", "own", "text"]
    assert HardwareProfile.from_json(json.dumps(first["profile"])).source == "measured"
    for one in first["survey"]["measured"]:
        assert Acceptance(one["rates"]).rates[0] == pytest.approx(
            one["accepted"][0] / one["visited"], abs=1e-6
        )


def test_the_lab_gets_its_times_once_the_models_are_loaded(
    made: Callable[..., LabTab], pair: Any
) -> None:
    tab = made()
    late = ModelHost(lambda: pair, 4)
    tab._model_host = late

    async def messages() -> list[dict[str, Any]]:
        found = []
        async for text in tab.come(None):
            found.append(json.loads(text))
            if len(found) == 1:
                late.open()
                late.pair(lambda: False)
        return found

    first, second = asyncio.run(messages())
    assert first["profile"] is None
    assert first["measurable"] is False
    assert first["loading"] is True
    assert second["profile"]["target_seconds"]
    assert second["measurable"] is True
    assert second["loading"] is False


def test_saved_profiles_are_listed_before_the_shipped_ones(
    made: Callable[..., LabTab],
) -> None:
    """The browser may send anything. Entries that are not profiles are left out. A saved profile is
    never labelled "measured", because nothing proves that it was measured on this machine."""
    entry = Entry(
        "mine",
        replace(next(iter(saved_profiles.shipped().values())).profile, source="measured"),
        "a note",
    )

    async def messages(store: Any) -> list[dict[str, Any]]:
        return [json.loads(text) async for text in made().come(store)]

    (found,) = asyncio.run(messages(["{", 7, entry.file()]))
    assert [one["key"] for one in found["profiles"]] == ["kept:mine", *profile_names()]
    mine = found["profiles"][0]
    assert (mine["name"], mine["note"], mine["profile"]["source"]) == ("mine", "a note", "recorded")
    assert mine["label"] == "as on “mine” (recorded)"
    for store in (None, "x", {"a": 1}, [[]]):
        (found,) = asyncio.run(messages(store))
        assert [one["key"] for one in found["profiles"]] == list(profile_names())
        assert found["clock"] == ""


def test_measured_rates_match_the_counts(made: Callable[..., LabTab]) -> None:
    *before, last = counted(made())
    result = last["result"]
    assert [rate * result["visited"] for rate in result["rates"]] == pytest.approx(
        result["accepted"]
    )
    assert sum(result["rates"]) <= 1
    assert result["visited"] > 20
    assert before[0]["share"] == 0
    assert "T = 0.6" in result["words"]


def test_acceptance_is_measured_at_the_requested_temperature(made: Callable[..., LabTab]) -> None:
    """Guards against a count that ignores the requested temperature: then the counts at 0 and 1.5
    would be equal. The runs are seeded, so the result does not depend on chance."""
    tab = made()
    cold, warm = (counted(tab, temperature=t)[-1]["result"] for t in ("0", "1.5"))
    assert cold["accepted"] != warm["accepted"]


@pytest.mark.parametrize(
    ("way", "unit", "depths"),
    [
        ("levels", "roots", 4),
        ("text", "positions", 1),
    ],
)
def test_every_way_of_measuring_returns_counts_and_a_table(
    made: Callable[..., LabTab], way: str, unit: str, depths: int
) -> None:
    result = counted(made(), way=way)[-1]["result"]
    table = result["by_level"]
    assert (result["unit"], table["depths"], table["label"]) == (unit, depths, "measured")
    assert f"{result['visited']} {unit}" in result["words"]
    root = {rank: cell for depth, rank, *cell in table["cells"] if depth == 0}
    assert [root[rank][0] for rank in range(10)] == [result["visited"]] * 10
    assert [root[rank][1] for rank in range(10)] == result["accepted"][:10]
    assert all(low <= accepted / visits <= high for visits, accepted, low, high in root.values())


def test_a_typed_text_is_what_is_measured(made: Callable[..., LabTab], pair: Any) -> None:
    """Guards against measuring a preset text instead. The number of positions shows which text was
    measured."""
    text = "for i in range(3):"
    result = counted(made(), prompts="typed", text=text, way="text")[-1]["result"]
    assert result["visited"] == len(pair.encode(text))
    assert "typed text" in result["words"]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"temperature": "hot"}, "temperature: 'hot'"),
        ({"top_p": "1.5"}, "1.5"),
        ({"prompts": "../x"}, "prompts: '../x'"),
        ({"way": "guess"}, "way: 'guess' is not one of decode, levels, own, text"),
        (
            {"prompts": "typed", "text": "x" * 4001},
            "your text: 4001 characters; enter 1 to 4000 characters",
        ),
        ({"prompts": "typed", "text": " "}, "the prompt is empty"),
    ],
)
def test_a_bad_measurement_is_refused_with_value_and_bound(
    made: Callable[..., LabTab], data: Any, words: str
) -> None:
    *_, last = counted(made(), **data)
    assert words in last["error"]


@pytest.mark.parametrize("way", ["decode", "own"])
def test_a_stop_takes_effect_within_a_prompt(
    model_host: ModelHost, pair: Any, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards against a stop that takes effect only after all 200 new tokens of a prompt. At most
    the current step may be finished."""
    task = AcceptanceJob(
        model_host, ["def f(x):"], SamplingParams(max_new_tokens=200, ignore_eos=True), 60.0, way
    )
    run = pair.target.forward
    passes = []

    def noted(*given: Any) -> Any:
        passes.append(task.halted())
        if len(passes) == 20:
            task.halt()
        return run(*given)

    monkeypatch.setattr(pair.target, "forward", noted)
    task.start()
    *_, last = task.reports()
    assert (last.words, last.error, last.result) == (
        "Stopped. The previous acceptance vector is kept.",
        None,
        None,
    )
    assert len(passes) == 20


def test_a_measurement_ends_at_its_time_limit(model_host: ModelHost) -> None:
    task = AcceptanceJob(
        model_host,
        ["def f(x):", "def g(x):"],
        SamplingParams(max_new_tokens=8, ignore_eos=True),
        0.0,
    )
    task.start()
    assert "time limit of 0 s" in [*task.reports()][-1].error
    wait(lambda: not task.busy, 5)


def test_a_tree_in_the_form_makes_a_request_for_the_same_tree(
    made: Callable[..., LabTab],
) -> None:
    tab = made()
    tree = best_tree(Acceptance((0.6, 0.2, 0.1)), 100)
    updates = tab.run(ask({"parents": list(tree.parents)}))
    lane = tab._runs.form.lanes[0]
    asked = run_request([(updates[lane.kind]["value"], updates[lane.numbers]["value"], "sequoia")])
    request = asked.lanes[0].tree_request
    chosen = request.tree(None, asked.params, "sequoia", "x")
    assert chosen == ChosenTree(tree, "given node by node")


def test_a_tree_is_run_at_the_temperature_and_on_the_clock_it_was_chosen_for(
    made: Callable[..., LabTab],
) -> None:
    """A clock that Run does not offer is replaced by this machine, whose times are measured."""
    tab = made()
    temperature, clock = tab._runs.form.temperature, tab._runs.form.clock
    chosen = "a100-llama-2-7b-eager"
    updates = tab.run(ask({"parents": [-1, 0], "temperature": 0.6, "clock": chosen}))
    assert (updates[temperature]["value"], updates[clock]["value"]) == (0.6, chosen)
    updates = tab.run(ask({"parents": [-1, 0], "clock": []}))
    assert temperature not in updates
    assert updates[clock]["value"] == ""


@pytest.mark.parametrize(
    "data",
    [
        None,
        {},
        {"parents": [-1, 5]},
        {"parents": list(range(-1, 256))},
        {"parents": [-1, math.nan]},
        {"parents": [-1, 0], "temperature": "hot"},
    ],
)
def test_an_invalid_or_too_large_tree_is_not_run(made: Callable[..., LabTab], data: Any) -> None:
    with pytest.raises(gr.Error, match="Not run"):
        made(PUBLIC).run(ask(data))


def test_a_pasted_tree_is_read_or_refused(made: Callable[..., LabTab]) -> None:
    """The formats are those of a form's field; tests/test_tree_files.py tests them."""
    tab = made()
    for text in ("-1 0 0 1", "[[0], [1], [0, 0]]"):
        assert json.loads(tab.read_tree(text)) == {"parents": [-1, 0, 0, 1]}
    for text in ("", "-1 5", "[", "x", None, {}, [1], "1" * 3_000_000):
        assert json.loads(tab.read_tree(text)).keys() == {"refused"}

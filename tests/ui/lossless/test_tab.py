"""The handlers of the Lossless tab: a test sends messages, a bad value is refused at its field, and
a test of a broken decoder leaves nothing behind."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from visits import Reading, laid_out, request

from sequoia import SamplingParams, plain
from sequoia.exactness.losslessness.comparison import Comparison
from sequoia.exactness.losslessness.losslessness_test import LosslessnessTest
from sequoia.exactness.losslessness.settings import PRESETS, Setting
from ui.lossless.form import value_of
from ui.lossless.lossless_job import LosslessJob, Sampled
from ui.lossless.messages import report_message
from ui.lossless.messages import test_fields as fields_of_test
from ui.lossless.tab import LosslessTab
from ui.run.tab import RunTab
from ui.serving.limits import LOCAL, PUBLIC, Limits
from ui.serving.model_host import ModelHost
from ui.words.losslessness import BUG_WORDS

Reports = list[dict[str, Any]]


@pytest.fixture
def made(model_host: ModelHost) -> Callable[..., LosslessTab]:
    """A function that builds the tab in a page of its own."""

    def make(limits: Limits = LOCAL) -> LosslessTab:
        with laid_out():
            tab = LosslessTab(model_host, limits)
            tab.build()
        return tab

    return make


def visit(name: str = "a") -> Any:
    return request(name)


def filled(tab: LosslessTab, preset: str = "none", **changes: Any) -> dict[Any, Any]:
    """The form's values as its handlers get them: those of a preset, with `changes`."""
    setting = PRESETS[preset]
    typed = {name: value_of(setting, name) for name in tab.form.fields}
    return {tab.form.fields[name]: value for name, value in {**typed, **changes}.items()}


def messages(tab: LosslessTab, updates: Any) -> Reports:
    return [json.loads(one[tab.board]) for one in updates if tab.board in one]


def results_of(tab: LosslessTab, preset: str = "none", **changes: Any) -> Reports:
    data = filled(tab, preset, samples=2000, **changes)
    return messages(tab, Reading(tab.test_losslessness(data, visit())))


def fields_after(model_host: ModelHost, setting: Setting, limit: float = 60.0) -> dict[str, Any]:
    """What is shown of a test of `setting` after its end, or after `limit` seconds."""
    task = LosslessJob(model_host, setting, limit)
    task.start()
    *_, last = task.reports()
    assert last.over
    return fields_of_test(last.result, going=False)


def test_the_correct_decoder_passes(
    made: Callable[..., LosslessTab], model_host: ModelHost
) -> None:
    *before, last = results_of(made())
    assert before[0]["share"] == 0
    assert last["share"] is None
    assert "No difference found in 2,000 samples" in last["shown"]
    test = fields_after(model_host, replace(PRESETS["none"], samples=2000))
    assert (test["decoder"], test["broken"], test["kind"]) == ("correct", None, "fits")
    assert (test["draws"], test["going"]) == (2000, False)
    assert sum(row["seen"] for row in test["rows"]) == 2000
    assert sum(row["share"] for row in test["rows"]) == pytest.approx(1)
    assert test["rows"][0]["tokens"] == ["c", "c"]


def test_every_message_about_a_broken_decoder_names_the_bug(
    made: Callable[..., LosslessTab],
) -> None:
    shown = [one["shown"] for one in results_of(made(), "walk-u") if "shown" in one]
    assert all(f"Broken ({BUG_WORDS['walk-u'].label})" in one for one in shown)
    assert 'data-kind="differs"' in shown[-1]
    assert "Not lossless: with a correct decoder" in shown[-1]


def test_a_broken_decoder_leaves_nothing_behind(
    made: Callable[..., LosslessTab], model_host: ModelHost, view: RunTab
) -> None:
    """The pair's measurements do not change, a later run emits the same text as an earlier one, and
    no run is stored."""
    pair = model_host.pair(lambda: False)
    params = SamplingParams(temperature=1.0, max_new_tokens=12, seed=3)
    text = [step.emitted for step in plain(pair, "def f(x):", params)]
    measured = vars(pair.measured).copy()
    changes = {"prompt": "def f(x):", "temperature": 1.5}
    *_, last = results_of(made(), "dropped", **changes)
    assert "measured-dropped" in last["shown"]
    assert vars(pair.measured) == measured
    assert view.run_store._kept == {}
    assert [step.emitted for step in plain(pair, "def f(x):", params)] == text


def test_choosing_a_bug_fills_in_a_setting_that_shows_it(made: Callable[..., LosslessTab]) -> None:
    tab = made()
    updates = tab.form.preset("float16")
    fields = tab.form.fields
    assert updates[fields["bug"]]["info"] == BUG_WORDS["float16"].about
    assert "value" not in updates[fields["bug"]]
    assert updates[fields["temperature"]]["value"] == 1.5
    assert updates[fields["temperature"]]["visible"]
    assert updates[fields["children"]]["value"] == "1"
    assert not updates[fields["p"]]["visible"]
    for key in ("x", None, [], 3):
        assert list(tab.form.preset(key)) == [fields["bug"]]


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("p", "0.5, 0.6", "p, the large model (target): the numbers sum to 1.1 instead of 1"),
        ("children", "two", "Tree: children, level by level: 'two'"),
        ("samples", None, "Samples: enter a whole number from 100"),
        ("verifier", 3, "unknown verifier 3"),
    ],
)
def test_a_bad_value_is_refused_at_its_field(
    made: Callable[..., LosslessTab], field: str, value: Any, words: str
) -> None:
    """Nothing that was typed changes: the updates hold no values."""
    tab = made()
    (updates,) = Reading(tab.test_losslessness(filled(tab, **{field: value}), visit()))
    fields = tab.form.fields
    assert updates[fields[field]]["info"].startswith(words)
    assert updates[fields[field]]["elem_classes"] == ["is-wrong"]
    others = [updates[part] for name, part in fields.items() if name != field]
    assert {one["info"] for one in others} == {""}
    assert not any("value" in updates[part] for part in fields.values())


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"prompt": " "}, "the prompt is empty"),
        ({"prompt": "x" * 8001}, "Prompt: 8001 characters; the limit is 8000"),
        ({"temperature": 0}, "Temperature: 0 leaves one possible token"),
    ],
)
def test_a_bad_value_for_the_pair_is_refused_at_its_field(
    made: Callable[..., LosslessTab], changes: dict[str, Any], words: str
) -> None:
    tab = made(PUBLIC)
    last: dict[Any, Any] = {}
    for updates in Reading(tab.test_losslessness(filled(tab, "dropped", **changes), visit())):
        last |= updates
    (field,) = changes
    assert last[tab.form.fields[field]]["info"].startswith(words)
    assert last[tab.form.run]["interactive"] if tab.form.run in last else True


def test_a_stopped_test_keeps_its_samples(model_host: ModelHost) -> None:
    setting = replace(PRESETS["walk-u"], samples=100_000)
    task = LosslessJob(model_host, setting, 60.0)
    task.start()
    last = None
    for last in task.reports():
        if last.result and last.result.comparison.draws:
            task.halt()
    assert last is not None
    test = fields_of_test(last.result, going=False)
    assert 0 < test["draws"] < 100_000
    assert test["decoder"].startswith("broken on purpose")
    assert f"{test['draws']:,} texts" in json.loads(report_message(last))["shown"]


def test_a_test_ends_at_its_time_limit(model_host: ModelHost) -> None:
    test = fields_after(model_host, replace(PRESETS["none"], samples=100_000), limit=0.0)
    assert 0 < test["draws"] < 100_000
    assert "(stopped; 100,000 were planned). " in test["verdict"]


def test_the_power_after_a_stop_is_that_of_the_samples_so_far() -> None:
    setting = PRESETS["none"]
    test = LosslessnessTest(setting)
    counts = tuple(round(300 * share) for share in test.grouping.shares)
    some = Sampled(test, test.findable(), Comparison(test.grouping, counts), None)
    planned, reached = (
        {one["key"]: one["power"] for one in fields_of_test(some, going)["finds"]}
        for going in (True, False)
    )
    smaller = LosslessnessTest(replace(setting, samples=sum(counts)))
    assert reached == {one.bug.key: one.power for one in smaller.findable()}
    assert reached["walk-u"] < 0.9 < 0.999 < planned["walk-u"]
    assert "(stopped; 20,000 were planned). " in fields_of_test(some, False)["verdict"]


def test_the_share_that_is_done_goes_from_0_to_1(model_host: ModelHost) -> None:
    """The waiting times of other visitors are predicted from this share."""
    task = LosslessJob(model_host, replace(PRESETS["none"], samples=100), 60.0)
    assert task.share() == 0
    task.start()
    list(task.reports())
    assert task.share() == 1

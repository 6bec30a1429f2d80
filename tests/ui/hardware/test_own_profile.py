"""A visitor's own roofline profile: what the form makes of typed figures, and what it refuses."""

from __future__ import annotations

import json
from typing import Any

import pytest
from visits import laid_out, request

from sequoia import named_profile
from sequoia.errors import BadProfile
from ui.hardware.own_profile import START, own_profile, start_values
from ui.hardware.tab import HardwareTab
from ui.run.tab import RunTab
from ui.serving.limits import LOCAL
from ui.serving.model_host import ModelHost
from ui.shared import saved_profiles
from ui.shared.saved_profiles import SAVED

GOOD = {**start_values(START), "name": "my card"}


def form(tab: HardwareTab, store: Any = None, **typed: Any) -> dict[Any, Any]:
    """The values of the whole form, as its handler gets them. typed: values by the name of their
    field, with _ instead of -."""
    changes = {name.replace("_", "-"): value for name, value in typed.items()}
    fields = {tab.form.own.fields[name]: value for name, value in {**GOOD, **changes}.items()}
    menus = {
        tab.form.profile: None,
        tab.form.against: None,
        tab.form.rates: None,
        tab.form.nodes: "64",
    }
    return {**fields, **menus, tab.form.store: store or []}


def test_the_figures_of_a_ready_profile_give_its_times_without_reading_the_kv_cache() -> None:
    """The form has no fields for the KV cache, so the times are slightly shorter than those of the
    profile `START`, which include reading it."""
    entry = own_profile(GOOD)
    ready = named_profile(START)
    assert (entry.name, entry.profile.source) == ("my card", "simulated")
    assert (entry.profile.target, entry.profile.draft) == (ready.target, ready.draft)
    assert entry.profile.verify_seconds(256) == pytest.approx(ready.verify_seconds(256), rel=0.02)
    assert entry.profile.calibrated_up_to == 0
    assert entry.note.startswith(
        "Roofline from your figures: 1008 GB/s, 165.2 TFLOP/s at 55% efficiency; large model"
    )


def test_parameters_may_be_counted_in_millions_and_billions() -> None:
    typed = {**GOOD, "target-parameters": "7B", "draft-parameters": "68 m"}
    words = own_profile(typed).note
    assert "large model: 7e+09 weights" in words
    assert "small model: 6.8e+07 weights" in words


REFUSED = [
    ("name", "", "1 to 60 characters"),
    ("device-name", "y" * 201, "string should have at most 200 characters"),
    (
        "device-memory-gb-per-s",
        "0",
        "Memory bandwidth: 0; input should be greater than or equal to 0.001",
    ),
    ("device-tflops", "", "Peak compute: enter a number"),
]


@pytest.mark.parametrize(("field", "value", "words"), REFUSED)
def test_the_message_about_a_refused_figure_is_shown_at_its_field(
    tab: HardwareTab, field: str, value: str, words: str
) -> None:
    updates = tab.make(form(tab, **{field.replace("-", "_"): value}), request())
    shown = {name: updates[part] for name, part in tab.form.own.fields.items()}
    assert words in shown.pop(field)["info"]
    assert {one["info"] for one in shown.values()} == {""}
    assert not {"value"} & {key for update in updates.values() for key in update}
    assert tab.board not in updates
    assert tab.form.store not in updates


def test_offloaded_weights_need_the_bandwidth_of_the_link() -> None:
    with pytest.raises(BadProfile, match="target: offloaded is 1, but the device has no link"):
        own_profile({**GOOD, "target-offloaded": "1"})
    slow = own_profile({**GOOD, "target-offloaded": "1", "device-link-gb-per-s": "25"}).profile
    assert slow.verify_seconds(1) == pytest.approx(8190735360 * 2 / 25e9, rel=0.01)


def test_a_made_profile_is_saved_shown_and_opened_like_any_other(tab: HardwareTab) -> None:
    updates = tab.make(form(tab), request())
    (text,) = updates[tab.form.store]
    entry = saved_profiles.parse_entry(text, "unnamed")
    assert (entry.name, entry.profile.source) == ("my card", "simulated")
    view = json.loads(updates[tab.board])["view"]
    assert (view["profile"]["name"], view["profile"]["label"]) == ("my card", "simulated")
    assert "none of them was checked against a measurement." in view["why"]
    assert updates[tab.form.profile]["value"] == SAVED + "my card"
    assert {updates[part]["info"] for part in tab.form.own.fields.values()} == {""}


def test_the_banner_says_if_no_more_profiles_can_be_saved(tab: HardwareTab) -> None:
    store: list[str] = []
    for number in range(saved_profiles.MAX_KEPT):
        store = saved_profiles.add_entry(store, own_profile({**GOOD, "name": f"card {number}"}))
    updates = tab.make(form(tab, store), request())
    assert json.loads(updates[tab.board])["error"].startswith("Not made: 12 profiles are saved")
    assert tab.form.store not in updates


# -- as a clock ------------------------------------------------------------------------------------
# A run can be timed with the predicted times of a profile, which is then its clock.


def test_a_removed_clock_is_replaced_by_the_clock_of_this_machine(model_host: ModelHost) -> None:
    runs = RunTab(model_host, LOCAL, None)
    with laid_out():
        runs.build()
    store = saved_profiles.add_entry([], own_profile(GOOD))
    key = SAVED + "my card"
    assert "value" not in runs.form.offer_clocks(store, key)[runs.form.clock]
    assert runs.form.offer_clocks([], key)[runs.form.clock]["value"] == ""

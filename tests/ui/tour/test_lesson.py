"""What the server sends to the tour: recorded runs and hardware profiles, by their names in
tour.json."""

from __future__ import annotations

import json

from sequoia import HardwareProfile
from sequoia.planning.named_profiles import profile_names
from ui.record.__main__ import tour_request
from ui.record.opening import accepts_side_child
from ui.tour import tab as lesson


def test_the_machines_have_named_hardware_profiles() -> None:
    tour = lesson.tour()
    assert set(tour["machines"]) <= set(profile_names())
    named = [tour["cost"]["machine"], tour["cost"]["card"], tour["chain"]["machine"]]
    assert {*named, *tour["which"]["machines"], *tour["which"]["heat"]} == set(tour["machines"])


def test_the_message_has_every_run_and_profile_that_the_stops_name() -> None:
    message = json.loads(lesson.message(""))
    tour = lesson.tour()
    for stop in ("chain", "tree", "yours"):
        assert message["runs"][tour[stop]["recording"]]["steps"]
    assert message["profiles"].keys() == tour["machines"].keys()
    for profile in message["profiles"].values():
        assert HardwareProfile.from_dict(profile).source in ("recorded", "simulated")
    assert {run["meta"]["label"] for run in message["runs"].values()} == {"recorded"}


def test_the_runs_were_recorded_with_the_settings_in_tour_json() -> None:
    for name, settings in lesson.tour()["recordings"].items():
        run = lesson.recorded_run(name)
        request = tour_request(settings)
        assert run.meta["prompt"] == request.prompt
        assert run.meta["params"]["temperature"] == request.params.temperature
        assert run.meta["params"]["seed"] == request.params.seed
        assert run.meta["tree"]["request"] == list(settings["tree"])


def test_the_step_that_the_tree_stop_shows_accepts_a_child_that_is_not_the_first() -> None:
    words = lesson.tour()["tree"]
    assert accepts_side_child(lesson.recorded_run(words["recording"]).steps[words["step"]])

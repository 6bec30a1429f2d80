"""The tree that the fields of a form ask for, which is drawn below them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import fakes
import pytest

from sequoia import Acceptance, Pair, SamplingParams, Tree
from sequoia.measuring import defaults
from sequoia.models.chat_format import ChatFormat
from sequoia.models.chat_template import ChatTemplate
from ui.run.form_tree import FormTrees
from ui.serving.limits import LOCAL
from ui.serving.model_host import ModelHost
from ui.shared.saved_profiles import SAVED, Entry, add_entry, shipped
from ui.shared.tree_request import TreeRequest

CHAT = ChatFormat(ChatTemplate("{{ messages }}", {}), (), frozenset())

FORM = {"verifier": "sequoia", "temperature": 0.6, "top_p": 1.0, "clock": ""}
LANES: list[tuple[str, str, Tree | None]] = [
    ("chain", "4", Tree.chain(4)),
    ("sequences", "2, 3", Tree.sequences(2, 3)),
    ("kary", "2 3", Tree.kary(2, 3)),
    ("branching", "3, 1", Tree.from_branching([3, 1])),
    ("lab", "-1 0 0 1", Tree.from_parents([-1, 0, 0, 1])),
    ("plain", "", None),
    ("dynamic", "64, 12", None),
    ("kary", "2, 99", None),
    ("kary", "2,", None),
    ("lab", "-1 7", None),
    ("none", "", None),
    ("no such kind", "", None),
]


def parents(trees: FormTrees, form: Mapping[str, Any]) -> Any:
    return json.loads(trees.get_tree({**FORM, **form}))["parents"]


@pytest.mark.parametrize(("kind", "numbers", "tree"), LANES)
def test_a_lane_shows_its_tree_if_it_has_a_fixed_one(
    model_host: ModelHost, kind: str, numbers: str, tree: Tree | None
) -> None:
    trees = FormTrees(model_host, LOCAL)
    wanted = list(tree.parents) if tree else None
    assert parents(trees, {"kind": kind, "numbers": numbers}) == wanted


def test_a_fitted_tree_is_the_one_that_runs(model_host: ModelHost, pair: Pair) -> None:
    """Once the acceptance and the step times are known, the picture shows the tree that a run would
    use. Until then there is no picture, because models are not run just to draw one."""
    params = SamplingParams(temperature=0.6)
    defaults.machine(pair)
    defaults.acceptance_of(pair, params)
    trees = FormTrees(model_host, LOCAL)
    for kind, numbers in (("best", (9, 4)), ("planned", ()), ("tuned_chain", ())):
        tree = TreeRequest(kind, numbers).tree(pair, params, "sequoia", "").tree
        assert isinstance(tree, Tree)
        wanted = list(tree.parents) if len(tree) > 1 else None
        form = {"kind": kind, "numbers": ", ".join(map(str, numbers))}
        assert parents(trees, form) == wanted


def test_nothing_is_measured_for_a_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = fakes.tiny_pair()
    for name in ("measure_profile", "count_acceptance", "shared_mass"):
        monkeypatch.setattr(defaults, name, lambda *_, **__: pytest.fail("something is measured"))
    for kind in ("planned", "wide", "best", "dynamic"):
        request = TreeRequest(kind, (9, 4))
        assert request.known_tree(pair, SamplingParams(temperature=1), "sequoia") is None
        assert request.known_tree(None, SamplingParams(), "sequoia") is None


@pytest.mark.parametrize(
    "asked", [None, 3, [], "x", {"kind": []}, {"kind": "chain", "numbers": {}}]
)
def test_whatever_a_browser_asks_has_an_answer(model_host: ModelHost, asked: Any) -> None:
    answer = json.loads(FormTrees(model_host, LOCAL).get_tree(asked))
    assert answer == {"parents": None, "waits": False}


def test_a_chat_message_has_the_tree_of_its_own_acceptance(
    model_host: ModelHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Acceptance is counted separately for chat messages and for plain text."""
    pair = replace(fakes.tiny_pair(), template=CHAT)
    monkeypatch.setattr(ModelHost, "pair_now", pair)
    trees = FormTrees(model_host, LOCAL)
    form = {"kind": "best", "numbers": "4, 4", "clock": "a100-llama-2-7b-eager"}
    plain, chat = pair.measured.acceptances, pair.as_chat().measured.acceptances
    chat[0.6, 1.0, "sequoia"] = Acceptance((0.9, 0.02, 0.01))
    assert parents(trees, {**form, "chat": True}) == [-1, 0, 1, 2]
    assert parents(trees, {**form, "chat": False}) is None
    plain[0.6, 1.0, "sequoia"] = Acceptance((0.3, 0.25, 0.2))
    assert parents(trees, {**form, "chat": False}) == [-1, 0, 0, 0]
    assert parents(trees, {**form, "chat": True}) == [-1, 0, 1, 2]


def test_a_tree_larger_than_allowed_is_not_drawn(model_host: ModelHost) -> None:
    trees = FormTrees(model_host, replace(LOCAL, nodes=16))
    assert parents(trees, {"kind": "chain", "numbers": "16"}) is not None
    assert parents(trees, {"kind": "chain", "numbers": "17"}) is None


def test_a_tree_is_planned_for_a_saved_profile(model_host: ModelHost, pair: Pair) -> None:
    """Visitors save profiles in their browsers. Two visitors may give the same name to different
    profiles."""
    params = SamplingParams(temperature=0.6)
    defaults.acceptance_of(pair, params)
    profile = shipped()["a100-llama-2-7b-eager"].profile
    steep = replace(profile, target_seconds=((1, 0.01, 0.0), (64, 1.0, 0.0)))
    trees = FormTrees(model_host, LOCAL)
    form = {"kind": "planned", "clock": SAVED + "mine"}
    assert parents(trees, {**form, "profiles": []}) is None
    planned = {
        name: parents(trees, {**form, "profiles": add_entry([], Entry("mine", one))})
        for name, one in {"flat": profile, "steep": steep}.items()
    }
    assert len(planned["flat"]) > len(planned["steep"] or [0])
    kary = {**form, "kind": "kary", "numbers": "3, 2"}
    assert parents(trees, {**kary, "profiles": add_entry([], Entry("mine", profile))}) is not None

"""The description of a run and of its lanes, for the page and for files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sequoia import Pair, SamplingParams, Tree
from sequoia.decoding.recorder import prompt_pieces
from sequoia.models.describe import dtype_name, place_of, versions
from sequoia.planning.compare_plans import chain_gains
from sequoia.saved_files.run_file import clock_of
from sequoia.saved_files.run_meta import Params, SharedMeta
from ui.run.clocks import clock_meta, mixture_in_file
from ui.run.request import LaneRequest, RunRequest
from ui.serving.model_host import named
from ui.shared.saved_profiles import Entry
from ui.shared.tree_request import ChosenTree, TreeRequest
from ui.words.figures import machine_of
from ui.words.plans import chain_words


def shared_meta(
    pair: Pair, prompt: str, params: SamplingParams, clock: Entry | None, tree: Tree | None = None
) -> SharedMeta:
    """The part of the description that the lanes have in common. clock: of a simulated clock, its
    profile. tree: of a lane, the tree of all its steps, if it does not change."""
    models = named(pair, "target"), named(pair, "draft")
    meta: SharedMeta = {
        **clock_meta(clock, models, tree),
        "target": models[0],
        "draft": models[1],
        "device": place_of(pair.target),
        "dtype": dtype_name(pair),
        "prompt": prompt,
        "params": Params(**asdict(params)),
        "versions": dict(versions()),
        "date": f"{datetime.now().astimezone():%Y-%m-%d %H:%M}",
    }
    if pair.chats:
        meta |= {"chat": True, "prompt_tokens": prompt_pieces(pair, prompt)}
    return meta


def lane_meta(
    pair: Pair, asked: RunRequest, lane: LaneRequest, chosen: ChosenTree
) -> dict[str, Any]:
    """The description of a lane: all that `shared_meta` has, its verifier and its tree."""
    only = chosen.tree if isinstance(chosen.tree, Tree) else None  # else it changes between steps
    meta = {
        **shared_meta(pair, asked.prompt_of(lane), asked.params, asked.clock, only),
        "verifier": lane.verifier,
        "tree": _tree_meta(lane.tree_request, chosen),
    }
    if chosen.acceptance is not None:
        meta["acceptance"] = list(chosen.acceptance.rates)
    return meta


def _tree_meta(tree_request: TreeRequest, chosen: ChosenTree) -> dict[str, Any]:
    meta: dict[str, Any] = {
        "description": chosen.how,
        "request": [tree_request.kind, *tree_request.numbers],
        **({"rates": chosen.label} if chosen.label else {}),
    }
    if not isinstance(chosen.tree, Tree):
        return meta
    meta |= {"nodes": len(chosen.tree), "levels": chosen.tree.levels}
    if tree_request.kind == "planned" and chosen.acceptance is not None:
        meta["why"] = chain_words(chain_gains(chosen.tree, chosen.acceptance.smoothed()))
    return meta


def recorded(meta: Mapping[str, Any]) -> dict[str, Any]:
    """The meta of a run or lane from a file. What was measured then is recorded now. The words
    about a simulated clock are made anew."""
    clock = clock_of(meta)
    clean = {**meta, "label": "simulated" if clock else "recorded"}
    if clock:
        clean |= {"clock_machine": machine_of(clock), **mixture_in_file(meta, clock)}
    if "rates" in meta.get("tree", {}):
        clean["tree"] = {**meta["tree"], "rates": "recorded"}
    return clean

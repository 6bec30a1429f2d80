"""Chooses the trees of a run's lanes before its first step, and notes what a reader should know
about them. Independent of threads and of the page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any

from sequoia import Acceptance, Pair, SequoiaError, Tree
from sequoia.algorithm.verifiers import DEFAULT_VERIFIER
from sequoia.measuring.defaults import default_chain
from sequoia.planning.compare_plans import OtherMachine, tree_elsewhere
from ui.run import clocks
from ui.run.request import LaneRequest, RunRequest
from ui.serving.model_host import named
from ui.shared.prompts import surveyed_texts
from ui.shared.saved_profiles import Entry
from ui.shared.tree_menu import PLANNED, SHAPES
from ui.shared.tree_request import ChosenTree, TreeRequest
from ui.words.figures import machine_of

# the simulated clock (see clocks.py) of the A100 preset; the first choice for LanePlan.elsewhere
FAMILIAR_CLOCK = "a100-llama-2-7b-eager"
Note = dict[str, Any]  # see `Note` in sequoia/saved_files/run_meta.py


@dataclass(frozen=True)
class ChosenLane:
    """One requested lane and the tree chosen for it."""

    request: LaneRequest
    chosen: ChosenTree


@dataclass(frozen=True)
class LanePlan:
    """The lanes that race. elsewhere: another machine, where the
    tree planned for that machine is predicted to beat the best chain; None if none is known."""

    lanes: tuple[ChosenLane, ...]
    notes: tuple[Note, ...] = ()
    elsewhere: OtherMachine | None = None

    @property
    def meta(self) -> dict[str, Any]:
        """The plan's part of the run's metadata."""
        meta: dict[str, Any] = {"notes": list(self.notes)} if self.notes else {}
        if self.elsewhere:
            meta["elsewhere"] = asdict(self.elsewhere)
        return meta


def plan_lanes(pair: Pair, asked: RunRequest, most: int) -> LanePlan:
    """Choose the tree of every lane. This may measure the pair's acceptance first. most: maximum
    nodes of the tuned chains in notes (see `_missing_chains`).

    A lane with a planned tree is left out if another lane on the same prompt would make the same
    steps. If each prompt then has only one lane, other lanes run instead of those.
    """
    every = [ChosenLane(lane, asked.tree(pair, lane)) for lane in asked.lanes]
    repeats = dict(_repeats(every))
    kept = {i: lane for i, lane in enumerate(every) if i not in repeats}
    same = [_repeat_note(every[i], every[first]) for i, first in repeats.items()]
    on_each = Counter(lane.request.prompt_name for lane in kept.values())
    if repeats and max(on_each.values()) == 1:
        kept |= _instead(pair, asked, [(i, every[i]) for i in repeats])
        names = dict.fromkeys(kept[i].request.name for i in repeats if i in kept)
        same.append({"code": "instead", "lanes": [*names]})
    lanes = tuple(kept[i] for i in sorted(kept))
    notes = [*_rates_note(asked, lanes), *_missing_chains(pair, asked, lanes, most), *same]
    return LanePlan(lanes, tuple(notes), _elsewhere(asked, lanes))


def elsewhere_in(meta: Mapping[str, Any]) -> OtherMachine | None:
    """The other machine named in the metadata of a run; None if there is none."""
    found = meta.get("elsewhere")
    return OtherMachine(**found) if found else None


def _repeats(lanes: Sequence[ChosenLane]) -> Iterator[tuple[int, int]]:
    """(lane, other lane), by index, for each lane with a planned tree that would make the same
    steps as another lane on the same prompt. Of two planned trees, the second is the repeat."""
    for i, lane in enumerate(lanes):
        if not _is_planned(lane):
            continue
        for k, other in enumerate(lanes):
            is_before = k < i or (k > i and not _is_planned(other))
            is_beside = lane.request.prompt_name == other.request.prompt_name
            if is_before and is_beside and _is_same(lane, other):
                yield i, k
                break


def _is_planned(lane: ChosenLane) -> bool:
    return lane.request.tree_request.kind in PLANNED


def _is_same(lane: ChosenLane, other: ChosenLane) -> bool:
    """Whether two lanes would make the same steps: they have the same fixed tree and verifier. For
    a tree of one node the verifiers may differ, because there is nothing to verify."""
    tree = lane.chosen.tree
    if not isinstance(tree, Tree) or tree != other.chosen.tree:
        return False
    return len(tree) == 1 or lane.request.verifier == other.request.verifier


def _instead(
    pair: Pair, asked: RunRequest, repeats: Sequence[tuple[int, ChosenLane]]
) -> dict[int, ChosenLane]:
    """By index, a lane that runs instead of the first of `repeats` on each prompt."""
    first = {lane.request.prompt_name: (i, lane) for i, lane in reversed(repeats)}
    return {i: _other_lane(pair, asked, lane) for i, lane in first.values()}


def _other_lane(pair: Pair, asked: RunRequest, lane: ChosenLane) -> ChosenLane:
    """Plain decoding instead of `lane`; if that is plain decoding too, the tuned chain."""
    kind = "tuned_chain" if lane.chosen.tree == Tree.chain(1) else "plain"
    tree_request = TreeRequest(kind, (), lane.request.tree_request.most)
    request = replace(
        lane.request,
        name=SHAPES[kind].name,
        tree_request=tree_request,
        verifier=DEFAULT_VERIFIER,
    )
    return ChosenLane(request, asked.tree(pair, request))


def _repeat_note(lane: ChosenLane, other: ChosenLane) -> Note:
    tree = lane.chosen.tree
    assert isinstance(tree, Tree)
    return {
        "code": "repeat",
        "prompt_name": lane.request.prompt_name,
        "lane": lane.request.name,
        "other": other.request.name,
        "nodes": len(tree),
        "levels": tree.levels,
    }


def _rates_note(asked: RunRequest, lanes: Sequence[ChosenLane]) -> Iterator[Note]:
    """A note on the source of the acceptance that trees and chains are planned from."""
    sources: list[dict[str, Any]] = []
    for lane in lanes:
        label, _, kind = lane.chosen.source.partition(" ")
        source = {
            "prompt_name": lane.request.prompt_name,
            "label": label,
            "kind": kind,
            "has_prompt": asked.prompt_of(lane.request).strip() in surveyed_texts(kind),
        }
        if label and source not in sources:
            sources.append(source)
    if sources:
        yield {"code": "rates", "sources": sources}


def _missing_chains(
    pair: Pair, asked: RunRequest, lanes: Sequence[ChosenLane], most: int
) -> Iterator[Note]:
    """Notes on the speed-up that a tuned chain (a chain of planned length) is predicted to reach,
    at most one for each prompt. If a tuned chain was requested, there are no notes. A prompt gets
    no note if all its lanes are fixed chains, if one of its lanes has the tuned chain as its tree,
    or if the prediction fails."""
    kinds = [lane.tree_request.kind for lane in asked.lanes]
    if "tuned_chain" in kinds:
        return
    for prompt, on in dict.fromkeys((asked.prompt_of(one), one.prompt_name) for one in asked.lanes):
        raced = [lane.chosen for lane in lanes if lane.request.prompt_name == on]
        if any(map(_branches, raced)):
            yield from _missing_chain(pair, asked, prompt, on, most, raced)


def _missing_chain(
    pair: Pair, asked: RunRequest, prompt: str, on: str, most: int, raced: Sequence[ChosenTree]
) -> Iterator[Note]:
    clock = asked.simulated_clock
    profile = clock.profile if clock else None
    with suppress(SequoiaError):  # the run does not need this prediction
        plan = default_chain(pair, asked.params, DEFAULT_VERIFIER, [prompt], most, profile=profile)
        if plan.tree in [chosen.tree for chosen in raced]:
            return
        models = named(pair, "target"), named(pair, "draft")
        mixed = asked.clock and clocks.mixture_meta(asked.clock, models).get("hypothetical")
        yield {
            "code": "missing_chain",
            "prompt_name": on,
            "nodes": len(plan.tree),
            "speedup": plan.predicted_speedup,
            "hypothetical": bool(mixed),
        }


def _branches(chosen: ChosenTree) -> bool:
    """Whether the tree branches or changes from step to step."""
    tree = chosen.tree
    return not isinstance(tree, Tree) or tree.levels < len(tree)


def _elsewhere(asked: RunRequest, lanes: Sequence[ChosenLane]) -> OtherMachine | None:
    acceptances = [
        lane.chosen.acceptance for lane in lanes if lane.chosen.acceptance and not lane.chosen.pair
    ]
    return _other_machine(acceptances[0], asked.clock) if acceptances else None


def _other_machine(acceptance: Acceptance, clock: Entry | None) -> OtherMachine | None:
    """A machine on which a planned tree is predicted to beat the best chain; None if none is found.
    The machine of `clock` is left out."""
    known = sorted(
        clocks.simulated_clocks().items(), key=lambda one: (one[0] != FAMILIAR_CLOCK, one[0])
    )
    all_clocks = [found for _, entry in known if (found := clocks.simulated_clock(entry))]
    name = machine_of(clock.name) if clock else ""
    return tree_elsewhere(acceptance, (one for one in all_clocks if machine_of(one.name) != name))

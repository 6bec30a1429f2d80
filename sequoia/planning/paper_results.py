"""The speed-ups that the paper reports (arXiv 2402.12374, version 3), and simulated speed-ups to
compare with them. The simulated speed-ups combine the paper's tokens per step and tree sizes with
simulated step times.

The paper gives only the nodes and levels of Sequoia's trees. Each is replaced by the best tree of
that size for the acceptance vector of the paper's appendix E; step times hardly depend on the
shape. All figures and their sources are in assets/paper.json.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.best_tree import best_tree
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers.sequoia import SEQUOIA
from sequoia.algorithm.verifiers.specinfer import SPECINFER
from sequoia.assets_folder import ASSETS
from sequoia.planning.hardware_profile import HardwareProfile
from sequoia.planning.named_profiles import named_profile, roofline_figures
from sequoia.planning.roofline import MICRO, RooflineDevice, RooflineModel, fixed_seconds
from sequoia.planning.simulated_step_times import speedup
from sequoia.text_files import load_json

FILE = ASSETS / "paper.json"
OURS = SEQUOIA.key
SEQUENCES = SPECINFER.key
METHODS = (OURS, SEQUENCES, "top-k")


@dataclass(frozen=True)
class PaperResult:
    """A result of the paper. tokens: emitted tokens per step. speedup: over plain decoding. tree:
    used in place of the verified tree (see the top of this file, and `sequences` of PaperTable)."""

    method: str
    tokens: float
    speedup: float
    tree: Tree


@dataclass(frozen=True)
class PaperRow:
    """A row of a table. texts: the data set; in Table 8, the top-p. temperature: None if the paper
    does not state it. results: one for each method in the row, Sequoia's first."""

    texts: str
    temperature: float | None
    results: tuple[PaperResult, ...]


@dataclass(frozen=True)
class PaperTable:
    """The rows for one target, draft and machine. source: the table in the paper. sequences: the
    number of independent sequences that SpecInfer verified, and their length. None if the paper
    does not state them; Sequoia's tree is then assumed. clock: its `profile` is the name of a
    profile that comes with the program; its `device`, `target` and `draft`, if given, replace those
    of the profile. clock_source: where these figures come from, in words."""

    key: str
    panel: str
    source: str
    target: str
    draft: str
    machine: str
    sequences: tuple[int, int] | None
    clock: Mapping[str, Any]
    clock_source: str
    rows: tuple[PaperRow, ...]

    @cached_property
    def profile(self) -> HardwareProfile:
        """The profile that gives the simulated step times: the one named in `clock`, or a profile
        computed from its figures with another device, target or draft."""
        changes = {part: one for part, one in self.clock.items() if part != "profile"}
        if not changes:
            return named_profile(self.clock["profile"])
        figures = dict(roofline_figures(self.clock["profile"]) or {})
        parts = {part: changes.get(part, figures[part]) for part in ("device", "target", "draft")}
        timed = RooflineDevice(**figures["device"])  # the one that a `pass_ms` was measured on
        prefix = figures["prefix_length"]
        return HardwareProfile.roofline(
            RooflineDevice(**parts["device"]),
            _launched(parts["target"], timed, prefix),
            _launched(parts["draft"], timed, prefix),
            prefix_length=prefix,
            date=figures["date"],
        )

    def simulated(self, result: PaperResult) -> float:
        """The speed-up over plain decoding with the paper's tokens per step and simulated times."""
        return speedup(result.tokens, result.tree, self.profile)


@cache
def paper_file() -> dict[str, Any]:
    """The whole content of assets/paper.json: the paper's figures, and the text around them."""
    return load_json(FILE)


@cache
def paper_acceptance() -> Acceptance:
    """The acceptance vector of appendix E."""
    return Acceptance(tuple(paper_file()["acceptance"]["rates"]))


@cache
def paper_tables() -> tuple[PaperTable, ...]:
    """All tables of the paper that give both speed-ups and tokens per step."""
    return tuple(_table(data) for data in paper_file()["tables"])


@cache
def best_in_paper(profile: HardwareProfile) -> dict[str, Any] | None:
    """The largest speed-up of Sequoia that the paper reports for the device and the models of
    `profile`: ratio, target, draft, machine, and the table as `source`. None if there is none."""
    found = [
        (max(row.results[0].speedup for row in table.rows), table)
        for table in paper_tables()
        if _parts(table.profile) == _parts(profile)
    ]
    if not found:
        return None
    ratio, table = max(found, key=lambda one: one[0])
    names = ("target", "draft", "machine", "source")
    return {"ratio": ratio, **{name: getattr(table, name) for name in names}}


def _parts(profile: HardwareProfile) -> tuple[str, str, str]:
    return profile.device, profile.target, profile.draft


def _table(data: Mapping[str, Any]) -> PaperTable:
    sequences = tuple(data["sequences"]) if data["sequences"] else None
    rows = tuple(_row(row, sequences) for row in data["rows"])
    return PaperTable(**{**data, "sequences": sequences, "rows": rows})


def _row(data: Mapping[str, Any], sequences: tuple[int, int] | None) -> PaperRow:
    # smoothed, because planning is much faster for a non-increasing vector
    tree = best_tree(paper_acceptance().smoothed(), data["nodes"], data["levels"])
    trees = {SEQUENCES: Tree.sequences(sequences[0], sequences[1])} if sequences else {}
    results = tuple(
        PaperResult(method, tokens, speedup, trees.get(method, tree))
        for method, (tokens, speedup) in _in_order(data["results"])
    )
    return PaperRow(data["texts"], data["temperature"], results)


def _in_order(results: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return [(method, results[method]) for method in METHODS if method in results]


def _launched(model: Mapping[str, Any], device: RooflineDevice, prefix: int) -> RooflineModel:
    """A model in the file may have `pass_ms`, the time of a pass over one node, instead of a launch
    time. What remains of it after reading the weights then counts as launching kernels."""
    if "pass_ms" not in model:
        return RooflineModel(**model)
    known = {name: value for name, value in model.items() if name != "pass_ms"}
    found = RooflineModel(**known, launch_us_per_layer=0)
    launch = model["pass_ms"] / 1000 - fixed_seconds(found, device, prefix + 1)
    return replace(found, launch_us_per_layer=max(launch, 0) / MICRO / found.layers)

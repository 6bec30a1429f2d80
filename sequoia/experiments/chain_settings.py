"""The finished units of the experiment `chain`, grouped by setting: machine, kind of prompt,
temperature and draft."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sequoia.algorithm.verifiers.sequoia import SEQUOIA
from sequoia.algorithm.verifiers.traversal import TRAVERSAL
from sequoia.experiments.experiment import Done
from sequoia.experiments.intervals import comparison
from sequoia.experiments.result import Comparison, Settings
from sequoia.experiments.rivals import SHAPES
from sequoia.planning.named_profiles import machine_name, named_profile

VERIFIERS = {SEQUOIA.key: "", TRAVERSAL.key: ", Traversal"}  # verifier -> end of the labels below
# "DECODER VERIFIER", a key of "speeds" in a unit's result -> label
RIVALS = {
    f"{shape.key} {verifier}": f"{shape.label}{words}"
    for verifier, words in VERIFIERS.items()
    for shape in SHAPES
}
# the same keys -> method, which decides the colour (see Rival)
METHODS = {f"{shape.key} {verifier}": shape.method for verifier in VERIFIERS for shape in SHAPES}
CHAIN = f"chain {SEQUOIA.key}"
TREE = f"tree {SEQUOIA.key}"
STOPPING = f"stopping {SEQUOIA.key}"
WIDE = 16  # nodes of the target pass whose time shows what extra nodes cost


@dataclass(frozen=True)
class Setting:
    """One machine with one kind of prompt, temperature and draft. first: the acceptance rate of a
    first child, from the acceptance vector that trees are planned with. found: what the units
    returned for this machine, one entry for each finished prompt."""

    machine: str
    kind: str
    temperature: float
    draft: str
    first: float
    found: tuple[Any, ...]

    def speeds(self, rival: str) -> list[float]:
        """The speed-up of `rival`, a key of RIVALS, over plain decoding on each prompt."""
        return [one["speeds"][rival][1] for one in self.found]

    def has(self, rival: str) -> bool:
        """Whether `rival` was run. At temperature 0 only one verifier is used."""
        return rival in self.found[0]["speeds"]

    def ratio(self, one: str, other: str) -> Comparison:
        return comparison(self._words(one, other), self.speeds(one), self.speeds(other))

    def _words(self, one: str, other: str) -> str:
        where = f"{self.kind}, temperature {self.temperature:g}, draft {self.draft}"
        over = RIVALS[other][0].lower() + RIVALS[other][1:]
        return f"{RIVALS[one]} over {over}: {machine_name(self.machine)}, {where}"


def cost_of_nodes(machine: str) -> float:
    """The time of a target pass over WIDE nodes, divided by that of a pass over one node."""
    profile = named_profile(machine)
    return profile.verify_seconds(WIDE) / profile.verify_seconds(1)


def settings_done(settings: Settings, done: Done) -> Iterator[Setting]:
    """The settings with at least one finished prompt."""
    for machine in settings["machines"]:
        for temperature, draft in settings["conditions"]:
            for kind in settings["kinds"]:
                keys = [
                    f"{kind} {number}, T = {temperature:g}, draft {draft}"
                    for number in range(settings["prompts"])
                ]
                found = [done[key] for key in keys if key in done]
                if found:
                    ours = tuple(one["machines"][machine] for one in found)
                    yield Setting(machine, kind, temperature, draft, found[0]["first"], ours)

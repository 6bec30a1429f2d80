"""The words of the experiments on several machines: `hardware` and `chain`."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from functools import partial

from sequoia.experiments import chain
from sequoia.experiments.result import Estimate, ExperimentResult, Ratio, Row
from sequoia.planning.named_profiles import machine_name, named_profile
from ui.words.experiment_result import (
    MEASURED,
    SPEED,
    Axis,
    Column,
    Line,
    Place,
    Words,
    answer,
    by_other,
    case,
    case_words,
    drawn_rows,
    places,
)


def _machine(place: Place) -> str:
    return machine_name(str(place.at["machine"]))


# -- hardware --------------------------------------------------------------------------------------


_FOREIGN = "slowest of the trees planned for other machines"


def _speed(row: Row) -> float:
    return row.figures["speed"].mean


def _planned(place: Place) -> Row:
    return place.lanes[str(place.at["machine"])]


def _best(place: Place) -> Row:
    """The fastest of the trees of fixed sizes."""
    return max((row for row in place.rows if row.lane.isdigit()), key=_speed)


def _foreign(place: Place) -> Row:
    """The slowest of the trees planned for other machines."""
    own = place.at["machine"]
    others = (row for row in place.rows if row.lane != own and not row.lane.isdigit())
    return min(others, key=_speed)


def _size_line(row: Row) -> Line | None:
    panel = f"{machine_name(str(row.at['machine']))}: {case_words(row.at)}"
    if row.lane.isdigit():
        return Line(panel, "Trees with the most tokens per step", "other", row.about["nodes"])
    if row.lane == row.at["machine"]:
        return Line(panel, "Planned for the machine", "sequoia", row.about["nodes"])
    return None


def _trees(one: Ratio) -> str:
    other = one.other
    tree = f"tree of {other} nodes" if other.isdigit() else f"tree for {machine_name(other)}"
    return f"{machine_name(one.one)}, {case_words(one.at)}: tree planned for it over {tree}"


def _of_machines(result: ExperimentResult) -> Iterator[str]:
    sizes = [one for one in result.ratios if one.other.isdigit()]
    foreign = [one for one in result.ratios if not one.other.isdigit()]
    planned = "The tree planned for the machine"
    size = f"a tree of {sizes[0].other} nodes, the best single size over all machines,"
    yield answer(sizes, planned, size, SPEED)
    yield answer(foreign, planned, f"the {_FOREIGN}", SPEED)
    nodes = [int(_best(one).about["nodes"]) for one in places(result.rows)]
    yield f"The best fixed size is between {min(nodes)} and {max(nodes)} nodes, as the table shows."


HARDWARE = Words(
    title="Planned or fixed size",
    x=Axis("nodes", "nodes of the tree", "log"),
    y=Axis("speed-up", "speed-up over plain decoding (simulated)"),
    drawn=drawn_rows(_size_line, "speed"),
    columns=(
        Column("machine", _machine),
        Column("texts", case),
        Column("planned tree: nodes", lambda place: _planned(place).about["nodes"], "predicted"),
        Column("planned tree: levels", lambda place: _planned(place).about["levels"], "predicted"),
        Column(
            "planned tree: tokens per step",
            lambda place: _planned(place).figures["tokens"].mean,
            MEASURED,
        ),
        Column("planned tree: speed-up", lambda place: _speed(_planned(place)), "simulated"),
        Column("best fixed size (nodes)", lambda place: _best(place).about["nodes"], "simulated"),
        Column("best fixed size: speed-up", lambda place: _speed(_best(place)), "simulated"),
        Column(_FOREIGN, lambda place: machine_name(_foreign(place).lane), "simulated"),
        Column(f"{_FOREIGN}: speed-up", lambda place: _speed(_foreign(place)), "simulated"),
    ),
    compared=_trees,
    finding=_of_machines,
    note=(
        "A tree of fixed size has the most expected tokens per step of all trees of that size. Its "
        "levels are not limited, so a planned tree with fewer levels can be faster. The best fixed "
        "size of a case is the fastest of these sizes."
    ),
    source="simulated",
)


# -- chain: speeds over that of the tuned chain ----------------------------------------------------


RIVALS = {
    "chain": "Tuned chain",
    "stopping": "Chain that stops when unsure",
    "tree": "Planned tree",
    "dynamic": "Dynamic tree",
}
_METHODS = {"stopping": "chain", "tree": "sequoia"}  # if it is not the decoder itself
WIDE = 16  # nodes of the target pass whose time shows what extra nodes cost


def _decoder(lane: str) -> str:
    """For example "Planned tree, Traversal"."""
    rival, verifier = lane.split()
    return RIVALS[rival] + (", Traversal" if verifier == "traversal" else "")


def cost_of_nodes(machine: str) -> float:
    """The time of a target pass over WIDE nodes, divided by that of a pass over one node."""
    profile = named_profile(machine)
    return profile.verify_seconds(WIDE) / profile.verify_seconds(1)


def _plan(place: Place, lane: str, *names: str) -> str:
    """The plan of a lane, such as "64, 16, 3"."""
    return ", ".join(f"{place.lanes[lane].about[name]:g}" for name in names)


def _first(place: Place) -> float:
    """How often the draft's first guess is accepted."""
    return float(place.lanes[chain.CHAIN].about["first"])


def _over_the_chain(result: ExperimentResult) -> Iterator[tuple[Line, Estimate]]:
    firsts = {(*place.at.items(),): _first(place) for place in places(result.rows)}
    for one in result.ratios:
        if one.other == chain.CHAIN:
            machine = machine_name(str(one.at["machine"]))
            method = _METHODS.get(one.one.split()[0], one.one.split()[0])
            yield Line(machine, _decoder(one.one), method, firsts[(*one.at.items(),)]), one.ratio


def _tree_over(one: Ratio) -> str | None:
    """Only the planned tree is compared."""
    if one.one != chain.TREE:
        return None
    at = one.at
    where = f"{at['kind']}, temperature {at['temperature']:g}, small model {at['draft']}"
    machine = machine_name(str(at["machine"]))
    return f"{machine}, {where}: {_decoder(one.one)} over {_decoder(one.other)}"


def _gain(found: Sequence[Ratio]) -> float:
    return statistics.geometric_mean(one.ratio.mean for one in found)


def _of_chains(result: ExperimentResult) -> Iterator[str]:
    found = by_other(result.ratios, chain.TREE)
    yield answer(found[chain.CHAIN], "The planned tree", "the tuned chain", SPEED)
    yield answer(
        found[chain.STOPPING], "The planned tree", "the chain that stops when unsure", SPEED
    )
    for machine in sorted({str(one.at["machine"]) for one in result.ratios}, key=cost_of_nodes):
        gain = _gain([one for one in found[chain.CHAIN] if one.at["machine"] == machine])
        yield (
            f"{machine_name(machine)}, where verifying {WIDE} nodes takes "
            f"{cost_of_nodes(machine):.2f} times as long as verifying one: on average the planned "
            f"tree has {gain:.2f}× the speed of the tuned chain."
        )


CHAIN = Words(
    title="Tree or tuned chain",
    x=Axis("first", "how often the small model's first guess is accepted"),
    y=Axis("ratio", "speed / tuned chain's speed (simulated)"),
    drawn=_over_the_chain,
    columns=(
        Column("machine", _machine),
        Column("texts", lambda place: place.at["kind"]),
        Column("temperature", lambda place: place.at["temperature"]),
        Column("small model", lambda place: place.at["draft"]),
        Column("first guess accepted", _first, "predicted"),
        Column(
            f"time of a pass over {WIDE} nodes / over 1 node",
            lambda place: cost_of_nodes(str(place.at["machine"])),
            "simulated",
        ),
        Column("tuned chain, nodes", lambda place: _plan(place, chain.CHAIN, "nodes"), "predicted"),
        Column(
            "planned tree: nodes, levels, max children",
            lambda place: _plan(place, chain.TREE, "nodes", "levels", "children"),
            "predicted",
        ),
        Column(
            "stopping chain: max nodes, lowest probability q (0: never stops)",
            lambda place: _plan(place, chain.STOPPING, "nodes", "least"),
            "predicted",
        ),
        *(
            Column(
                f"{_decoder(one)}: speed-up",
                partial(Place.mean, lane=one, figure="speed"),
                "simulated",
            )
            for one in chain.LANES
        ),
    ),
    compared=_tree_over,
    finding=_of_chains,
    note="\n".join(
        (
            "A second child helps only if the first is rejected, and it pays only where one more "
            "node costs little time.",
            "Tuned chain: the chain of the length predicted to be fastest. In the plots, its speed "
            "is 1.",
            "Chain that stops when unsure: ends after a token with a low probability q.",
            "Planned tree: the tree predicted to be fastest. With at most one child for each node "
            "it is itself a chain.",
            "Dynamic tree: grown anew at each step, for the text so far.",
            "Traversal: a verifier that tests whole paths. All others use Sequoia's verifier. At "
            "temperature 0 both accept the same tokens, so Traversal is left out (–).",
            "Better small model: the large one with some noise in its weights. Worse small model: "
            "with noise in its weights.",
            "A case is one machine, kind of text, temperature and small model.",
        )
    ),
    source="simulated",
)

"""All stages of a report, each with its value and the seconds it is expected to take.

The value, from 1 to 100, says how much the result is worth. It is set by hand. The expected seconds
are those of a quiet machine with two cores or with a data-centre card, multiplied by this machine's
slowness (see Machine). The stages of shapes time pairs of models with real sizes and random
weights. Their seconds are computed instead (see `seconds_of_shape`).
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec

from sequoia.bench.random_weights import ALL_SIZES, SHAPES, PairShape
from sequoia.loading.hub.download import is_here
from sequoia.loading.pair_catalog import BUNDLED_NAME, Preset, presets
from sequoia.report.child import ROOT
from sequoia.report.machine import Machine
from sequoia.report.stage import Stage
from sequoia.report.tasks.card_checks.sanitizer import TOOL
from sequoia.report.tasks.pairs import PROFILE
from sequoia.this_machine.memory import ROOM, size

TASK = "sequoia.report.tasks"
OPENING = "welcome.json"
RACE = "race.json"
RUN = "run.json"
BENCH = "bench.json"
_SHAPE = "shape-"
_SHAPE_SECONDS = "60"
_SHAPE_VALUES = {
    "llama-2-7b": 85,
    "qwen3-8b": 70,
    "qwen3-32b-0.6b": 65,
    "qwen3-32b-offloaded": 65,
}
_LESS_WITHOUT_GRAPHS = 40  # subtracted from the value of a shape timed without CUDA graphs
_BYTES_A_WEIGHT = 2
# assumed passes of each size: one to warm up, one in a timed round, and about one in the decoding
# steps that are timed after that
_TIMES_EACH_SIZE = 3
# assumed time of a model's pass on a CPU, as a multiple of the time of its bare matrix products;
# multiples of 1.2 or more were measured
_WHOLE_MODEL = 2.0
_START = 6.0  # seconds until a process has imported everything, on a quiet machine
_NO_CARD = "needs a graphics card"
_KERNEL_TESTS = ("decoding/cuda", "models/test_cuda_graphs.py", "algorithm/test_sampling.py")
_BENCH = ("--prompts", "code", "--assistant-tokens", "3", "5", "--json", BENCH)
_BENCH_ON_CARD = ("--rounds", "2", "--limit", "3", "--tokens", "128")
_BENCH_ON_CPU = ("--rounds", "1", "--limit", "2", "--tokens", "48", "--temperature", "0")


def all_stages(machine: Machine) -> list[Stage]:
    """The stages for `machine`, in the order of the report's table. A stage that `machine` cannot
    run says why."""
    found = [
        *_machine(),
        *_tests(machine),
        *_checks(machine),
        *_pairs(),
        *_speed(machine),
        *_shapes(machine),
        *_recordings(),
    ]
    return [_scaled(stage, machine) for stage in found]


def _scaled(stage: Stage, machine: Machine) -> Stage:
    """`stage` with its expected seconds on this machine, and a time limit of at least twice that.
    Shapes are returned unchanged: their seconds come from `seconds_of_shape`."""
    if stage.name.startswith(_SHAPE):
        return stage
    seconds = stage.seconds * machine.slowness
    return replace(stage, seconds=seconds, limit=max(stage.limit, 2 * seconds))


def _machine() -> Iterator[Stage]:
    yield Stage("environment", "versions, processor, card", TASK, ("environment",), 100, 7)
    about = "bandwidth of memory, and of the link to a card"
    yield Stage("bandwidth", about, TASK, ("bandwidth",), 60, 8)


def _tests(machine: Machine) -> Iterator[Stage]:
    skip = _no_pytest() if machine.card else _NO_CARD
    common = ("-q", "-p", "no:cacheprovider", "-c", str(ROOT / ".pytest.ini"), "--rootdir")
    for name, about, value, arguments in (
        ("tests-gpu", "the tests marked gpu", 95, ("-m", "gpu", str(ROOT / "tests"))),
        (
            "tests-kernel",
            "the tests of CUDA graphs, sampling and the verification kernel",
            80,
            tuple(str(ROOT / "tests" / one) for one in _KERNEL_TESTS),
        ),
    ):
        line = " in "
        everything = (*common, str(ROOT), *arguments)
        yield Stage(name, about, "pytest", everything, value, 120, 300, line=line, skip=skip)


def _no_pytest() -> str:
    return "" if find_spec("pytest") else "needs pytest (tests/requirements.txt)"


def _checks(machine: Machine) -> Iterator[Stage]:
    """Checks of the card. check-crossing also runs without a card."""
    skip = "" if machine.card else _NO_CARD
    no_tool = "" if shutil.which(TOOL) else f"needs NVIDIA's {TOOL}"
    rows = (
        ("check-graphs", "captured passes compared with eager ones", ("graphs",), 90, 60, skip),
        ("check-attention", "attention compared with the formula", ("attention",), 75, 40, skip),
        (
            "check-distribution",
            "1,000 sampled first tokens in each case, compared with the target's distribution",
            ("distribution", "1000"),
            85,
            150,
            skip,
        ),
        ("check-recovery", "decoding after a failure", ("recovery",), 85, 30, skip),
        ("check-offload", "streamed layers with random delays", ("offload", "50"), 70, 30, skip),
        ("check-memory", "memory compared with its prediction", ("memory",), 70, 60, skip),
        ("check-crossing", "the slowest step as the text grows", ("crossing",), 50, 15, ""),
        (
            "check-sanitizer",
            "races and memory errors in the kernel",
            ("sanitizer",),
            40,
            150,
            skip or no_tool or _no_pytest(),
        ),
    )
    for name, about, arguments, value, seconds, why_not in rows:
        yield Stage(name, about, TASK, arguments, value, seconds, skip=why_not)


def _pairs() -> Iterator[Stage]:
    """The self-test of each pair of models. A pair that is not on the disk is skipped, not
    downloaded."""
    about = "the self-test at load: logits for a tree, compared with plain transformers"
    yield Stage(f"pair-{BUNDLED_NAME}", about, TASK, ("pair", BUNDLED_NAME), 90, 9)
    for one in presets():
        skip = "" if _is_here(one) else "not on this machine's disk"
        seconds = _START + sum(model.bytes for model in one.models) / 5e8
        yield Stage(f"pair-{one.name}", about, TASK, ("pair", one.name), 45, seconds, skip=skip)


def _is_here(preset: Preset) -> bool:
    return all(is_here(model.id) for model in preset.models)


def _speed(machine: Machine) -> Iterator[Stage]:
    yield Stage(
        "profile",
        "pass times of the bundled pair",
        TASK,
        ("profile", "25"),
        70,
        35,
        files=(PROFILE,),
    )
    yield Stage(
        "bench",
        "every decoder on the same prompts",
        "sequoia.bench",
        (*_BENCH, *(_BENCH_ON_CARD if machine.card else _BENCH_ON_CPU)),
        75,
        200 if machine.card else 75,
        files=(BENCH,),
        line="as fast as",
    )


def _shapes(machine: Machine) -> Iterator[Stage]:
    """Pairs with real shapes and random weights. On a card they are also timed without CUDA graphs,
    unless the target's weights are streamed from host memory."""
    for name, value in _SHAPE_VALUES.items():
        yield _shape(name, "graphs", value, machine)
        if machine.card and not SHAPES[name].streamed:
            yield _shape(name, "eager", value - _LESS_WITHOUT_GRAPHS, machine)


def _shape(name: str, kind: str, value: int, machine: Machine) -> Stage:
    pair = SHAPES[name]
    return Stage(
        f"{_SHAPE}{name}{'' if kind == 'graphs' else '-eager'}",
        f"pass times of {pair.target.name} + {pair.draft.name}, random weights",
        TASK,
        ("shape", name, _SHAPE_SECONDS, kind),
        value,
        seconds_of_shape(pair, machine),
        files=(PROFILE,),
        skip=does_not_fit(pair, machine),
    )


def does_not_fit(shape: PairShape, machine: Machine) -> str:
    """How much memory the shape needs and how much is free, if it does not fit on this machine.
    Empty if it fits."""
    target, draft = (one.parameters * _BYTES_A_WEIGHT * ROOM for one in (shape.target, shape.draft))
    if not machine.card:
        return _too_large(target + draft, machine.free_bytes, "of memory")
    if shape.streamed:
        return _too_large(target, machine.host_free_bytes, "of host memory")
    return _too_large(target + draft, machine.free_bytes, "on the card")


def _too_large(needed: float, free: float, where: str) -> str:
    return f"needs {size(needed)} {where}; {size(free)} is free" if needed > free else ""


def seconds_of_shape(shape: PairShape, machine: Machine) -> float:
    """Expected seconds of the stage of a shape. On a card, these are the seconds to fill the
    weights and to time passes of all sizes, with the same speed assumed for every card. On a CPU,
    the time to fill the weights is left out."""
    weights = shape.target.parameters + shape.draft.parameters
    if machine.card:
        return 40.0 + weights * _BYTES_A_WEIGHT / (4e8 if shape.streamed else 5e9)
    passes = sum(
        max(
            weights * _BYTES_A_WEIGHT / machine.bytes_per_second,
            2 * nodes * weights / machine.operations_per_second,
        )
        for nodes in ALL_SIZES
    )
    return _START * machine.slowness + _WHOLE_MODEL * _TIMES_EACH_SIZE * passes


def _recordings() -> Iterator[Stage]:
    small = ("--tokens", "64", "--out", ".")
    yield Stage(
        "run", "a recorded run", "ui.record", ("run", *small), 40, 45, files=(RUN,), line=" kB"
    )
    race = ("race", "--race", *small)
    yield Stage("race", "a recorded race", "ui.record", race, 45, 60, files=(RACE,), line=" kB")
    about = "the run that the page opens with"
    opening = ("--rounds", "3", "--out", ".")
    files = (OPENING,)
    yield Stage(
        "opening", about, "ui.record_opening", opening, 50, 120, files=files, line=", middle 80%"
    )

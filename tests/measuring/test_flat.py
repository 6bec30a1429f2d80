"""Targets, such as offloaded ones, for which a pass over many nodes takes hardly longer than a pass
over one node. The models are real; their times are simulated.

Every pass advances the test's own clock by a time that depends only on its number of nodes. So
measurements are exact, and the plan that follows from them is known in advance. Nothing here says
how long anything takes on a GPU.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from decoded import emitted
from fakes import PROMPTS, made_profile, tiny_pair

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.decoding.engine import plain
from sequoia.measuring import hardware
from sequoia.measuring.defaults import acceptance_of, default_plan, machine, speculate
from sequoia.measuring.hardware import SIZES, measure_profile
from sequoia.models.memory_needs import distribution_bytes
from sequoia.models.tree_forward import TreeModel
from sequoia.planning.hardware_profile import HardwareProfile
from sequoia.planning.plan_for_machine import best_plan, bounds, levels_for

ALL = [*SIZES, 256, 512, 1024]
# roughly the acceptance of the paper's Llama-3 pair
RATES = Acceptance((0.77, *(0.104 * 0.5**k for k in range(20))))


class Clock:
    """A clock that moves only when a model makes a pass (see `spend`)."""

    def __init__(self) -> None:
        self.now = 0.0

    def spend(
        self, model: TreeModel, seconds: Callable[[int], float], monkeypatch: pytest.MonkeyPatch
    ) -> list[int]:
        """Make a pass of `model` over n nodes take `seconds(n)`. Returns a list to which every pass
        adds its number of nodes."""
        usual = model.forward
        nodes = list[int]()

        def timed(ids: torch.Tensor, *rest: Any) -> torch.Tensor:
            nodes.append(ids.shape[1])
            self.now += seconds(ids.shape[1])
            return usual(ids, *rest)

        monkeypatch.setattr(model, "forward", timed)
        return nodes


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    made = Clock()
    with monkeypatch.context() as patch:
        patch.setattr(time, "perf_counter", lambda: made.now)
        yield made


def flat(second: float, until: int = 1024) -> Callable[[int], float]:
    """Seconds of a pass over n nodes: about `second` for one node, a tenth more for `until` nodes,
    and from there in proportion to n."""
    return lambda n: second * (1 + 0.1 * min(n, until) / until) * max(n / until, 1)


# -- measured times --------------------------------------------------------------------------------


def test_larger_sizes_are_measured_while_they_take_hardly_longer(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Times are flat up to 128 nodes, and then grow. The largest measured size is the next one
    above 128, so that the growth is seen."""
    pair = tiny_pair()
    clock.spend(pair.target, flat(0.001, 128), monkeypatch)
    clock.spend(pair.draft, lambda _: 0.0001, monkeypatch)
    profile = measure_profile(pair, rounds=2)
    sizes = [n for n in ALL if n <= 256]
    assert [size for size, _, _ in profile.target_seconds] == sizes
    assert [seconds for _, seconds, _ in profile.target_seconds] == pytest.approx(
        [flat(0.001, 128)(n) for n in sizes]
    )
    assert [size for size, _, _ in profile.draft_seconds] == [1, 2, 4, 8, 16, 32, 64, 128, 256]
    assert [size for size, _, _ in profile.overhead_seconds] == [1, 6, 16, 61, 256]


def test_a_slow_flat_target_is_measured_at_few_sizes(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One pass takes longer than the 0.8 seconds allowed for the whole measurement. So only a few
    sizes are measured, with at most 50 passes of the target."""
    pair = tiny_pair()
    passes = clock.spend(pair.target, flat(1.0), monkeypatch)
    clock.spend(pair.draft, lambda _: 0.001, monkeypatch)
    profile = measure_profile(pair, rounds=7, seconds=0.8)
    assert [size for size, _, _ in profile.target_seconds] == [1, 128, 256, 512, 1024]
    assert [size for size, _, _ in profile.draft_seconds] == [1, 4, 16, 64, 256]
    assert len(passes) <= 50


@pytest.mark.parametrize(("device", "distributions"), [("cuda", True), ("cpu", False)])
def test_on_a_gpu_a_size_must_fit_together_with_the_distributions(
    device: str, distributions: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a GPU, the memory for the distributions of a step counts too. Otherwise trees would be
    planned for which no run has enough memory."""
    where = torch.device(device)
    context: Any = SimpleNamespace(
        device=where, model=SimpleNamespace(vocab=1000), needs=lambda n: Counter({where: 7 * n})
    )
    needed = 2 * 7 * 256 + distributions * distribution_bytes(256, 1000)
    for free in (needed, needed - 1):
        monkeypatch.setattr(hardware, "free_bytes", lambda _, free=free: free)
        assert hardware._fits(context, 256) == (free == needed)


# -- plans -----------------------------------------------------------------------------------------


def profile(*target: tuple[int, float], draft: float = 0.002) -> HardwareProfile:
    return made_profile(
        target_seconds=tuple((n, seconds, 0.0) for n, seconds in target),
        draft_seconds=((1, draft, 0.0), (256, 1.5 * draft, 0.0)),
    )


@pytest.mark.parametrize(
    ("last", "wanted"),
    [(1, (128, 16)), (129, (129, 24)), (4096, (1024, 24))],
)
def test_a_planned_tree_has_no_more_nodes_than_were_timed(
    last: int, wanted: tuple[int, int]
) -> None:
    """But if fewer than 128 nodes were timed, the tree may still have 128."""
    points = ((1, 1.0), (last, 1.0)) if last > 1 else ((1, 1.0),)
    assert bounds(profile(*points)) == wanted
    assert levels_for(wanted[0]) == wanted[1]
    assert len(best_plan(RATES, profile(*points)).tree) <= wanted[0]


def test_a_slow_flat_target_is_measured_planned_and_decoded(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The profile goes up to 1024 nodes, acceptance is counted over more ranks than usual, and the
    planned tree has hundreds of nodes. The text is the same as with plain decoding."""
    pair = tiny_pair(noise=0.2)
    params = SamplingParams(max_new_tokens=12, ignore_eos=True)
    clock.spend(pair.target, flat(1.0), monkeypatch)
    clock.spend(pair.draft, lambda _: 0.002, monkeypatch)
    plan = default_plan(pair, params)
    assert machine(pair).target_seconds[-1][0] == 1024
    assert len(acceptance_of(pair, params)[0].rates) == 32
    assert len(plan.tree) > 200
    assert len(default_plan(pair, params, most=100).tree) <= 100
    steps = list(speculate(pair, PROMPTS[0], params))
    assert max(len(step.tree) for step in steps) == len(plan.tree)
    assert emitted(steps) == emitted(plain(pair, PROMPTS[0], params))

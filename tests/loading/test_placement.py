"""The placement of a large target, computed from sizes in bytes alone. The GPUs in these tests do
not exist."""

from __future__ import annotations

import pytest
import torch
from fakes import KINDS, tiny_model

from sequoia.errors import OutOfMemory
from sequoia.loading.placement import (
    HOST,
    SHARE,
    ExtraBytes,
    ModelParts,
    decoder_layers,
    offload,
    parts_of,
    spread,
)
from sequoia.models.memory_needs import cache_bytes, mask_and_logit_bytes, usual_run_bytes

CARDS = [torch.device("cuda", i) for i in range(4)]
LAYERS = tuple(f"model.layers.{i}" for i in range(10))
MB = 10**6
SIZES = {
    "model.embed": 50 * MB,
    **dict.fromkeys(LAYERS, 100 * MB),
    "model.norm": 0,
    "head": 50 * MB,
}
PARTS = ModelParts(("model.embed",), LAYERS, ("model.norm", "head"), SIZES, tied=False)
TIED = ModelParts(("model.embed", "head"), LAYERS, ("model.norm",), {**SIZES, "head": 0}, tied=True)
BESIDE = ExtraBytes(per_layer=10 * MB, together=60 * MB)
ALL = 50 + 10 * (100 + 10) + 50 + 60  # MB


def free(*counts: int) -> dict[torch.device, int]:
    """The free bytes of one GPU for each of `counts`. The count is the MB that a plan may use on
    this GPU, which is only the fraction SHARE of its free bytes."""
    return {card: round(count * MB / SHARE) + 1 for card, count in zip(CARDS, counts, strict=False)}


# -- parts, and the bytes of a run -----------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_every_weight_belongs_to_one_part(kind: str) -> None:
    """Tied weights count once. The parts have the names of the loaded model's modules."""
    hf = tiny_model(kind, layers=3)
    parts = parts_of(hf.config, torch.bfloat16)
    assert parts.total == 2 * sum(weight.numel() for weight in hf.parameters())
    assert parts.tied == (kind in ("qwen2", "gpt2"))
    modules = dict(hf.named_modules())
    (names, layers) = decoder_layers(hf)
    assert parts.layers == names
    assert [modules[name] for name in names] == list(layers)
    assert {*parts.ahead, *parts.layers, *parts.behind} == set(parts.sizes) <= set(modules)
    assert all(parts.sizes[name] for name in parts.behind)


def test_the_bytes_of_a_run_come_from_the_config() -> None:
    config = tiny_model().config  # 2 KV heads of size 8, context 512, vocabulary 288
    assert cache_bytes(config, 100, 2) == 2 * 2 * 8 * 100 * 2
    assert mask_and_logit_bytes(100, 10, 288, 2) == 2 * 10 * 110 + 4 * 10 * 288
    assert usual_run_bytes(config, 4) == (
        cache_bytes(config, 512 + 1024, 4),
        mask_and_logit_bytes(512 + 1024, 1024, 288, 4),
    )


# -- spread ----------------------------------------------------------------------------------------


def test_one_gpu_with_room_for_all_is_enough() -> None:
    """The GPU with the most room is used, even if it is not the first."""
    plan = spread(PARTS, BESIDE, free(1300, 2000))
    assert set(plan.where.values()) == {1}
    assert (plan.output, plan.layer_devices, dict(plan.needs)) == (
        CARDS[1],
        (CARDS[1],) * 10,
        {CARDS[1]: ALL * MB},
    )
    assert plan.words == ""


@pytest.mark.parametrize("parts", [PARTS, TIED], ids=["untied", "tied"])
@pytest.mark.parametrize(
    ("room", "cards"),
    [((700, 700), 2), ((700, 700, 700), 2), ((600, 400, 400), 3), ((400, 400, 400, 400), 4)],
)
def test_as_few_gpus_as_possible_are_used(
    parts: ModelParts, room: tuple[int, ...], cards: int
) -> None:
    plan = spread(parts, BESIDE, free(*room))
    assert len(plan.needs) == cards
    assert plan.words.startswith("spread over cuda:0 and cuda:1")
    assert all(plan.needs[card] <= count * MB for card, count in zip(CARDS, room, strict=False))
    assert sum(plan.needs.values()) == parts.total + BESIDE.per_layer * 10 + BESIDE.together


def test_a_target_too_large_for_all_gpus_is_refused_with_every_figure() -> None:
    with pytest.raises(
        OutOfMemory,
        match=r"need about 1\.3 GB on 2 devices together \(a layer is never split\); free: .*:0, "
        r".*--offload",
    ):
        spread(PARTS, BESIDE, free(600, 600))


# -- offload ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("room", "resident"), [(ALL, 10), (ALL - 1, 7), (ALL - 100, 7), (ALL - 101, 6), (ALL - 800, 0)]
)
def test_as_many_layers_stay_as_fit_beside_two_buffers(room: int, resident: int) -> None:
    """Eight or nine resident layers would take as much memory as all ten, because one or two
    streamed layers need a buffer each. More streamed layers share two buffers."""
    plan = offload(PARTS, BESIDE, CARDS[0], {**free(room), HOST: 10**12}, None)
    assert (plan.resident, plan.layers, plan.output) == (resident, 10, CARDS[0])


@pytest.mark.parametrize(("room", "resident"), [(ALL - 101, 9), (ALL - 801, None)])
def test_what_does_not_fit_on_the_gpu_is_refused(room: int, resident: int | None) -> None:
    with pytest.raises(
        OutOfMemory,
        match=rf"with {resident or 0} resident and .* need about .* on cuda:0; .* is free, .* used",
    ):
        offload(PARTS, BESIDE, CARDS[0], {**free(room), HOST: 10**12}, resident)


def test_too_little_host_memory_is_refused() -> None:
    """The streamed layers must fit in host memory. If loading converts the weights, the whole
    target must fit, plus a second copy of one layer, because pinning a layer copies it."""
    for resident, converted, needed in (
        (0, False, 1000),
        (4, False, 600),
        (0, True, 1200),
        (4, True, 1200),
    ):
        room = {**free(ALL), HOST: round(needed * MB / SHARE) + 1}
        offload(PARTS, BESIDE, CARDS[0], room, resident, converted)
        with pytest.raises(OutOfMemory, match=r"resident and .* need about .* on cpu"):
            offload(
                PARTS,
                BESIDE,
                CARDS[0],
                {**room, HOST: round((needed - 1) * MB / SHARE)},
                resident,
                converted,
            )


@pytest.mark.parametrize("converted", [False, True])
def test_on_the_cpu_streamed_layers_and_all_else_share_its_memory(converted: bool) -> None:
    """The CPU's memory holds the streamed layers, two buffers and everything else. Converting the
    weights needs no more memory, because no copy in their stored dtype stays there."""
    needed = 10 * 100 + (ALL - 1000 + 200)
    room = {HOST: round(needed * MB / SHARE) + 1}
    assert offload(PARTS, BESIDE, HOST, room, 0, converted).output == HOST
    with pytest.raises(OutOfMemory, match=r"with 0 resident and .* on cpu; .* is free"):
        offload(PARTS, BESIDE, HOST, {HOST: round((needed - 1) * MB / SHARE)}, 0, converted)

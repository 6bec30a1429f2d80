"""Targets divided over several devices: the same logits and the same greedy text as on one device.

Tests that need a GPU are marked `gpu`; only the last of them needs two. In tests without a GPU, the
second device can be a folder on disk, because the hooks of `accelerate` treat it like one. It can
also be torch's `meta` device, which holds no numbers but shows what is where. Without a GPU, layers
are streamed from host memory to host memory.
"""

from __future__ import annotations

import gc
import weakref
from pathlib import Path
from typing import Any

import pytest
import torch
from accelerate import dispatch_model
from fake_gpus import LAYERS, fake_two_gpus
from fakes import PROMPTS, noisy, save, tiny_model, tree_logits
from transformers import AutoModelForCausalLM

from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.tree import Tree
from sequoia.decoding.engine import plain
from sequoia.errors import BadModel
from sequoia.loading import load as hub
from sequoia.loading import placement
from sequoia.loading.load import load_pair
from sequoia.loading.model_checks import Source, check_source, local_bytes
from sequoia.loading.placement import (
    HOST,
    SHARE,
    StreamedModel,
    parts_of,
    plan_large,
)
from sequoia.measuring.defaults import speculate
from sequoia.models.cache_and_mask import TreeLayout
from sequoia.models.pair import Pair
from sequoia.models.tree_forward import TreeModel

FAMILIES = ("llama", "gpt_neox")
TREE = Tree.from_branching([3, 2, 1])
GREEDY = SamplingParams(max_new_tokens=16, ignore_eos=True)
META = torch.device("meta")
CARDS = torch.device("cuda", 0), torch.device("cuda", 1)


@pytest.fixture(scope="module", params=FAMILIES)
def folders(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str]:
    return written(request.param, tmp_path_factory.mktemp(request.param))


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return written("llama", tmp_path_factory.mktemp("llama"))


def written(kind: str, folder: Path) -> dict[str, str]:
    """Write a target and a draft into `folder`. Returns the folder of each."""
    target = tiny_model(kind, layers=LAYERS)
    return {
        "target": save(target, folder / "target"),
        "draft": save(noisy(target, 0.05), folder / "draft"),
    }


def source(folder: str) -> Source:
    return check_source(folder, Path(folder), local_bytes(Path(folder)))


def load(folders: dict[str, str], **options: Any) -> Pair:
    return load_pair(**folders, **{"device": "cpu", "dtype": "float32", **options})


def texts(pair: Pair) -> list[list[int]]:
    """The token ids from plain decoding, and those from decoding with a tree."""
    return [
        [token for step in steps for token in step.emitted]
        for steps in (plain(pair, PROMPTS[0], GREEDY), speculate(pair, PROMPTS[0], GREEDY, TREE))
    ]


def spread_pair(
    folders: dict[str, str], places: list[str], monkeypatch: pytest.MonkeyPatch
) -> Pair:
    """The pair as `load_pair` loads it on a simulated machine with two GPUs, with layer i of the
    target on places[i]."""
    fake_two_gpus(places, monkeypatch)
    return load(folders, device="spread")


# -- spread ----------------------------------------------------------------------------------------


def test_a_target_spread_over_cpu_and_disk_decodes_the_same_cpu(
    folders: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    places = ["disk", "disk", "cpu", "disk"]
    whole = load(folders)
    parted = spread_pair(folders, places, monkeypatch)
    elsewhere = {
        name for name, weight in parted.target.hf.named_parameters() if weight.device == META
    }
    assert all(
        any(f".{i}." in name for name in elsewhere) == (place == "disk")
        for i, place in enumerate(places)
    )
    assert (parted.target.forward_name, parted.target.device) == ("transformers", HOST)
    torch.testing.assert_close(
        tree_logits(parted.target), tree_logits(whole.target), atol=1e-4, rtol=1e-4
    )
    found = texts(parted)
    assert found == texts(whole)
    assert found[0] == found[1]


def test_the_kv_cache_is_on_the_devices_of_its_layers_cpu_and_meta(
    llama: dict[str, str],
) -> None:
    """Half of the layers are on a device that holds no numbers. Checks what is allocated where, and
    that no operation mixes devices."""
    parts = parts_of(source(llama["target"]).config, torch.float32)
    where = {
        name: "meta" if name in (*parts.layers[2:], *parts.behind) else "cpu"
        for name in parts.sizes
    }
    hf: Any = AutoModelForCausalLM.from_pretrained(
        llama["target"], dtype=torch.float32, attn_implementation="sdpa"
    )
    dispatch_model(hf, where, main_device="cpu", skip_keys=hf._skip_keys_device_placement)
    # logits stay where the head is: a meta device has no numbers to copy back
    hf._hf_hook.io_same_device = False
    devices = (HOST, HOST, META, META)
    context = TreeModel(hf, "halves", HOST, devices, "spread over cpu and meta").open(32)
    context.forward([1, 2, 3], TreeLayout(context, Tree((-1, 0, 0))))
    context.keep([0, 2])
    assert [
        (layer.keys.device, layer.values.device) for layer in context.kv_cache.cache_layers
    ] == [(one, one) for one in devices]
    assert context.length == 2


@pytest.mark.parametrize("cards", [0, 1])
def test_spreading_needs_two_gpus(
    cards: int, llama: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: cards)
    monkeypatch.setattr(hub, "checked_device", lambda _: HOST)
    with pytest.raises(
        BadModel, match=rf"device 'spread' needs at least 2 CUDA devices; this machine has {cards}"
    ):
        load(llama, device="spread")


@pytest.fixture
def two_cards(monkeypatch: pytest.MonkeyPatch) -> dict[torch.device, int]:
    """Free bytes by device, which a test may change: the planner sees two GPUs, both full."""
    free = {CARDS[0]: 0, CARDS[1]: 0, HOST: 10**12}
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(placement, "free_bytes", free.__getitem__)
    return free


def planned(
    folders: dict[str, str],
    device: str = "auto",
    offload: Any = False,
    where: torch.device = CARDS[0],
) -> Any:
    target = source(folders["target"])
    draft = source(folders["draft"])
    sizes = [target.weight_bytes, draft.weight_bytes]
    return plan_large(target, draft, sizes, device, where, torch.float32, offload)


def test_what_fits_no_single_gpu_is_spread(
    llama: dict[str, str], two_cards: dict[torch.device, int]
) -> None:
    """The GPU that computes the logits needs 29.3 MB for a run and the draft. Each layer with its
    cache takes 0.23 MB; the embedding and the head take 0.04 MB each."""
    first, second = CARDS
    two_cards[first] = 450_000
    two_cards[second] = round(30.2e6 / SHARE)
    plan = planned(llama)
    assert plan.layer_devices == (first, second, second, second)
    assert (plan.output, plan.words) == (second, "spread over cuda:0 and cuda:1")
    assert plan.needs[first] <= 450_000 * SHARE
    assert 30.0e6 < plan.needs[second] <= 30.2e6


# -- offload ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("resident", [1, LAYERS])
def test_an_offloaded_target_decodes_the_same_cpu(resident: int, folders: dict[str, str]) -> None:
    whole = load(folders)
    parted = load(folders, offload=resident)
    assert isinstance(parted.target, StreamedModel)
    streamed = f"{LAYERS - resident} of {LAYERS} layers streamed from host memory"
    assert parted.target.placement == ("" if resident == LAYERS else streamed)
    assert len(parted.target.stream._layers) == LAYERS - resident
    torch.testing.assert_close(
        tree_logits(parted.target), tree_logits(whole.target), atol=1e-4, rtol=1e-4
    )
    found = texts(parted)
    assert found == texts(whole)
    assert found[0] == found[1]


def test_an_offloaded_pair_is_freed_completely_cpu(llama: dict[str, str]) -> None:
    """Although hooks and model reference each other, deleting the pair frees its weights and the
    host memory from which its layers are streamed."""
    pair = load(llama, offload=1)
    assert isinstance(pair.target, StreamedModel)
    held = [
        weakref.ref(pair.target.hf),
        *(weakref.ref(layer.host) for layer in pair.target.stream._layers),
    ]
    texts(pair)
    del pair
    gc.collect()
    assert [one() for one in held] == [None] * 4


@pytest.mark.parametrize("offload", [-1, LAYERS + 1, "2"])
def test_a_number_of_resident_layers_out_of_bounds_is_refused(
    offload: Any, llama: dict[str, str]
) -> None:
    with pytest.raises(
        BadModel, match=rf"resident layers: .* is not a whole number from 0 to {LAYERS}"
    ):
        load(llama, offload=offload)


def test_offloading_and_spreading_exclude_each_other(llama: dict[str, str]) -> None:
    with pytest.raises(BadModel, match=r"but offload, .* streams the target to one"):
        load(llama, device="spread", offload=True)


@pytest.mark.gpu
@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two CUDA devices")
def test_a_target_spread_over_two_gpus_decodes_the_same_gpu(folders: dict[str, str]) -> None:
    whole = load(folders, device="cuda")
    parted = load(folders, device="spread")
    assert len({*parted.target.layer_devices}) == 2
    assert parted.draft.device == parted.target.device
    torch.testing.assert_close(
        tree_logits(parted.target).cpu(), tree_logits(whole.target).cpu(), atol=1e-3, rtol=1e-3
    )
    assert texts(parted)[0] == texts(parted)[1]

"""A run predicts the memory it needs, and checks that this is free before allocating anything. If a
container may use less memory than the machine has, the container's limit counts."""

from __future__ import annotations

import types
from pathlib import Path

import psutil
import pytest
import torch
from fakes import PROMPTS, tiny_pair

from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.tree import Tree
from sequoia.decoding.engine import Decoder
from sequoia.decoding.race import Lane, Race
from sequoia.errors import OutOfMemory
from sequoia.this_machine import memory
from sequoia.this_machine.memory import free_bytes, free_in_container, most_in_container
from sequoia.this_machine.step_timer import Clock

TREE = Tree.kary(2, 4)
PARAMS = SamplingParams(max_new_tokens=20, ignore_eos=True)


def allocated(decoder: Decoder) -> int:
    """Bytes of the KV caches."""
    layers = [layer for context in decoder.contexts for layer in context.kv_cache.cache_layers]
    tensors = [tensor for layer in layers for tensor in (layer.keys, layer.values)]
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


@pytest.mark.parametrize(("kind", "dtype"), [("llama", "float32"), ("gpt2", "bfloat16")])
def test_the_caches_take_the_predicted_memory(kind: str, dtype: str) -> None:
    decoder = Decoder(tiny_pair(kind, dtype), PROMPTS[0], PARAMS, TREE)
    rest = sum(
        context.model.mask_dtype.itemsize * 15 * (context.capacity + 15)
        + 4 * 15 * context.model.vocab
        for context in decoder.contexts
    )  # masks and logits
    rest += decoder._draft_and_verify.needs(15).total()
    decoder.prefill()
    decoder.step()
    assert decoder.bytes - rest == allocated(decoder)


def test_the_draft_distributions_that_a_step_keeps_are_counted() -> None:
    decoder = Decoder(tiny_pair(), PROMPTS[0], PARAMS, TREE)
    decoder.prefill()
    drafted = decoder._drafter.fill(TREE, Clock(decoder.contexts[0].device))
    kept = sum(distributions.nbytes for _, distributions, _ in drafted._levels)
    assert 0 < kept <= decoder._draft_and_verify.needs(len(TREE)).total()


def test_plain_decoding_needs_no_memory_for_the_draft() -> None:
    decoder = Decoder(tiny_pair(), PROMPTS[0], PARAMS, Tree.chain(1))
    assert not decoder.contexts[1].needs(1)
    assert not decoder._draft_and_verify.needs(1)


def test_too_little_memory_is_reported_before_anything_is_allocated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pair = tiny_pair()
    needed = Decoder(pair, PROMPTS[0], PARAMS, TREE).bytes
    monkeypatch.setattr(
        psutil, "virtual_memory", lambda: types.SimpleNamespace(available=needed - 1)
    )
    with pytest.raises(
        OutOfMemory,
        match=r"the run needs about [\d.]+ MB on cpu; [\d.]+ MB is free; ask for fewer tokens",
    ):
        Decoder(pair, PROMPTS[0], PARAMS, TREE)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: types.SimpleNamespace(available=needed))
    Decoder(pair, PROMPTS[0], PARAMS, TREE)
    with pytest.raises(
        OutOfMemory, match=r"the 2 lanes need about [\d.]+ MB on cpu; .*fewer lanes"
    ):
        Race(pair, PROMPTS[0], PARAMS, [Lane("one", TREE), Lane("two", TREE)])


def test_memory_that_only_cuda_graphs_may_use_is_not_free(monkeypatch: pytest.MonkeyPatch) -> None:
    segments = [
        {"device": 0, "segment_pool_id": (0, 0), "total_size": 500, "allocated_size": 100},
        {"device": 0, "segment_pool_id": (0, 1), "total_size": 70, "allocated_size": 10},
        {"device": 1, "segment_pool_id": (0, 2), "total_size": 900, "allocated_size": 0},
    ]
    found = {
        "mem_get_info": lambda _: (1000, 4000),
        "memory_reserved": lambda _: 570,
        "memory_allocated": lambda _: 110,
        "memory_snapshot": lambda: segments,
    }
    for name, value in found.items():
        monkeypatch.setattr(torch.cuda, name, value)
    assert free_bytes(torch.device("cuda", 0)) == 1000 + 400
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 1)
    assert free_bytes(torch.device("cuda")) == 1000 + 460 - 900


# -- in a container --------------------------------------------------------------------------------


def files(folder: Path, **texts: object) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name.replace("__", ".")).write_text(f"{text}\n")


@pytest.fixture
def groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(memory, "GROUPS", tmp_path / "groups")
    monkeypatch.setattr(memory, "OWN_GROUP", tmp_path / "own")
    return tmp_path / "groups"


@pytest.mark.parametrize("path", ["/", "/a/b"])
def test_the_limit_of_the_group_counts(groups: Path, path: str) -> None:
    memory.OWN_GROUP.write_text(f"0::{path}\n")
    files(
        groups / path.lstrip("/"),
        memory__max=1000,
        memory__current=700,
        memory__stat="anon 500\ninactive_file 200",
    )
    assert (most_in_container(5000), free_in_container(4000)) == (1000, 500)
    assert (most_in_container(900), free_in_container(300)) == (900, 300)


def test_the_limit_of_an_enclosing_group_counts(groups: Path) -> None:
    memory.OWN_GROUP.write_text("0::/a/b\n")
    files(groups / "a" / "b", memory__max="max", memory__current=1, memory__stat="anon 5")
    files(groups / "a", memory__max=1000, memory__current=900, memory__stat="anon 5")
    assert (most_in_container(5000), free_in_container(4000)) == (1000, 100)


def test_without_a_limit_the_machine_counts(groups: Path) -> None:
    assert (most_in_container(5000), free_in_container(4000)) == (5000, 4000)
    memory.OWN_GROUP.write_text("0::/\n")
    files(groups, memory__max="max", memory__current=10, memory__stat="anon 5")
    assert (most_in_container(5000), free_in_container(4000)) == (5000, 4000)

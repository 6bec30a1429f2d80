"""Streaming of layers from host memory, with a CPU as the device that computes. The copies are
real, from host to host memory.

Most tests use the copier `Late`. It fills the buffer with NaN when a copy starts, and with the
weights when the copy is waited for. So a layer that computes before its weights are there, or a
buffer that is reused too early, gives NaN. Only the tests marked `gpu` use CUDA streams.
"""

from __future__ import annotations

import copy
import ctypes
import types
from typing import Any

import pytest
import torch
from fakes import KINDS, tiny_model, tree_logits

from sequoia.errors import OutOfMemory
from sequoia.loading import offload as copier_module
from sequoia.loading.offload import (
    PAGE,
    Copier,
    CudaCopier,
    LayerStream,
    copier_for,
)
from sequoia.models.compare_logits import own_logits
from sequoia.models.self_test import self_test
from sequoia.models.tree_forward import TreeModel

CPU = torch.device("cpu")


class Late(Copier):
    """Copies at the last moment: a buffer holds NaN from the start of a copy until the copy is
    waited for."""

    def __init__(self) -> None:
        self.begun: list[torch.Tensor] = []  # the source of each copy, in order
        self.waiting: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}

    def begin(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, host: torch.Tensor, buffer: torch.Tensor
    ) -> int:
        buffer.fill_(255)  # these bytes are NaN in every floating-point dtype tested
        self.begun.append(host)
        self.waiting[len(self.begun)] = host, buffer
        return len(self.begun)

    def wait(self, ticket: int) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        if found := self.waiting.pop(ticket, None):
            super().begin(*found)


def streamed(hf: Any, resident: int = 0) -> tuple[TreeModel, LayerStream, Late]:
    copier = Late()
    stream = LayerStream(hf, resident, CPU, copier)
    return TreeModel(hf, "streamed"), stream, copier


# -- same results ----------------------------------------------------------------------------------


@pytest.mark.parametrize("resident", [0, 2, 5])
@pytest.mark.parametrize("layers", [1, 3, 5])
def test_the_logits_are_those_of_the_whole_model_cpu(layers: int, resident: int) -> None:
    """The logits of three consecutive passes agree to the last bit. With 3 or 5 streamed layers,
    the two buffers swap roles after each pass."""
    hf = tiny_model(layers=layers)
    expected = tree_logits(TreeModel(copy.deepcopy(hf), "whole"))
    model, _, _ = streamed(hf, min(resident, layers))
    assert torch.equal(tree_logits(model), expected)


@pytest.mark.parametrize("kind", KINDS)
def test_every_family_can_be_streamed_cpu(kind: str) -> None:
    hf = tiny_model(kind, layers=3)
    whole = TreeModel(copy.deepcopy(hf), "whole")
    model, _, _ = streamed(hf, 1)
    self_test(model)
    assert torch.equal(tree_logits(model), tree_logits(whole))
    assert torch.equal(own_logits(model, [1, 2, 3]), own_logits(whole, [1, 2, 3]))


def test_layers_of_different_shapes_share_the_buffers_cpu() -> None:
    """For example, only some layers of a model may be mixtures of experts."""
    hf = tiny_model(layers=4)
    generator = torch.Generator().manual_seed(0)
    for layer in list(hf.model.layers)[1::2]:
        for name, size in (
            ("gate_proj", (128, 32)),
            ("up_proj", (128, 32)),
            ("down_proj", (32, 128)),
        ):
            getattr(layer.mlp, name).weight = torch.nn.Parameter(
                torch.randn(size, generator=generator) / 8
            )
    expected = tree_logits(TreeModel(copy.deepcopy(hf), "whole"))
    assert torch.equal(tree_logits(streamed(hf)[0]), expected)


# -- what is copied, and when ----------------------------------------------------------------------


@pytest.mark.parametrize(("layers", "resident"), [(3, 0), (4, 0), (5, 0), (5, 1), (7, 2)])
def test_each_streamed_layer_is_copied_once_a_pass_and_two_are_ready_for_the_next_cpu(
    layers: int, resident: int
) -> None:
    model, stream, copier = streamed(tiny_model(layers=layers), resident)
    order = [layer.host for layer in stream._layers]
    context = model.open(64)
    for _ in range(3):
        context.extend([1, 2])
    assert len(order) == layers - resident
    assert [next(i for i, one in enumerate(order) if one is host) for host in copier.begun] == [
        i % len(order) for i in range(3 * len(order) + 2)
    ]


def test_the_next_copy_has_started_when_a_layer_computes_cpu() -> None:
    """When a layer computes, its own copy has been waited for, and one other copy is under way:
    that of the next layer."""
    hf = tiny_model(layers=5)
    model, _, copier = streamed(hf)
    under_way: list[int] = []
    for layer in hf.model.layers:
        layer.mlp.register_forward_pre_hook(lambda *_: under_way.append(len(copier.waiting)))
    model.open(16).extend([1, 2])
    assert under_way == [1] * 5


# -- several passes, failed passes, and removal ----------------------------------------------------


class Broken(Exception):
    pass


@pytest.mark.parametrize("where", [0, 2, 4])
@pytest.mark.parametrize("part", ["input_layernorm", "mlp"])
@pytest.mark.parametrize("resident", [0, 2])
def test_a_pass_that_fails_does_no_harm_cpu(where: int, part: str, resident: int) -> None:
    """The pass fails in any of the layers, streamed or resident, before or after the layer's
    attention. An earlier pass has filled the buffers."""
    hf = tiny_model(layers=5)
    expected = tree_logits(TreeModel(copy.deepcopy(hf), "whole"))
    model, _, _ = streamed(hf, resident)
    assert torch.equal(tree_logits(model), expected)

    def fail(*_: object) -> None:
        raise Broken

    handle = getattr(hf.model.layers[where], part).register_forward_pre_hook(fail)
    with pytest.raises(Broken):
        tree_logits(model)
    handle.remove()
    assert torch.equal(tree_logits(model), expected)
    assert torch.equal(tree_logits(model), expected)


# -- copiers, and layers streamed to a GPU ---------------------------------------------------------


class FullRuntime:
    """A CUDA runtime that refuses to pin memory. As in CUDA, the error stays pending until the next
    launch raises it."""

    def __init__(self, device: int = 0) -> None:
        self.pending = False
        self.devices = [device]
        self.flags: list[int] = []

    def cudaHostRegister(self, _address: int, _bytes: int, flags: int) -> int:
        self.flags.append(flags)
        self.pending = True
        return 2

    def launch(self, *_: object, **__: object) -> torch.Tensor:
        if self.pending:
            self.pending = False
            raise RuntimeError("CUDA error: out of memory")
        return torch.empty(0)


def test_memory_that_cannot_be_pinned_leaves_no_error_for_the_next_launch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """After this failure, the same thread loads the previous models again. That would fail if an
    error were still pending."""
    runtime = FullRuntime()
    monkeypatch.setattr(torch.cuda, "cudart", lambda: runtime)
    monkeypatch.setattr(torch, "zeros", runtime.launch)
    stream = types.SimpleNamespace(device=CPU)
    with pytest.raises(OutOfMemory, match=r"cannot pin another 0\.0 MB .*CUDA error 2"):
        copier_module._pin(torch.empty(PAGE, dtype=torch.uint8), stream)
    assert not runtime.pending
    assert runtime.flags == [1]


def is_pinned(tensor: torch.Tensor) -> bool:
    """Whether the memory of `tensor` is pinned. torch's own method looks only at the start of the
    storage, which here lies before the pinned pages."""
    memory = (ctypes.c_uint8 * 1).from_address(tensor.data_ptr())
    return torch.frombuffer(memory, dtype=torch.uint8).is_pinned()


@pytest.mark.gpu
def test_a_copy_to_a_gpu_ends_before_the_work_that_waits_for_it_gpu() -> None:
    device = torch.device("cuda", 0)
    copier = copier_for(device)
    assert isinstance(copier, CudaCopier)
    host = copier.host(64 * PAGE)
    buffer = copier.buffer(64 * PAGE)
    for value in range(20):
        torch.cuda.synchronize()
        host.fill_(value)
        copier.wait(copier.begin(host, buffer))
        assert buffer.clone().eq(value).all()
    assert is_pinned(host)
    assert host.data_ptr() % PAGE == 0


@pytest.mark.gpu
def test_a_streamed_pass_cannot_be_captured_gpu() -> None:
    device = torch.device("cuda", 0)
    copier = CudaCopier(device)
    host = copier.host(PAGE)
    buffer = copier.buffer(PAGE)
    with (
        pytest.raises(RuntimeError, match="cannot be part of a CUDA graph"),
        torch.cuda.graph(torch.cuda.CUDAGraph()),
    ):
        copier.begin(host, buffer)

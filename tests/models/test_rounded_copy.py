"""A copy of a model with its linear layers rounded, and the products with weights rounded to int8
and int4, compared with the plain layer for many shapes.

torch's kernels can crash the process if they read past the end of their inputs, so the shapes are
tried in a child process.
"""

from __future__ import annotations

import copy
import subprocess
import sys
from itertools import chain

import pytest
import torch
from fakes import KINDS, tiny_model, tree_logits
from torch import nn

from sequoia.models.choose_forward import use_fast_forward
from sequoia.models.rounded_copy import (
    FEW_ROWS,
    ROUNDED,
    RoundedLinear,
    rounded_copy,
    rounded_copy_bytes,
)
from sequoia.models.self_test import self_test
from sequoia.models.tree_forward import TreeModel

CPU = torch.device("cpu")
DTYPES = [torch.float32, torch.bfloat16, torch.float16]


def tensors(hf: nn.Module) -> dict[int, torch.Tensor]:
    """The tensors of a model by address, those of rounded weights included."""
    rounded = [vars(one.rounded) for one in hf.modules() if isinstance(one, RoundedLinear)]
    inside = (one for found in rounded for one in found.values())
    held = (one for one in inside if isinstance(one, torch.Tensor))
    return {one.data_ptr(): one for one in chain(hf.parameters(), hf.buffers(), held)}


@pytest.mark.parametrize("numbers", ROUNDED)
@pytest.mark.parametrize("kind", KINDS)
def test_a_copy_is_nearly_the_same_model(kind: str, numbers: str) -> None:
    hf = tiny_model(kind)
    before = copy.deepcopy(hf.state_dict())
    copied = TreeModel(rounded_copy(hf, numbers, CPU, shared=True), "copy")
    assert (copied.numbers, copied.parameters) == (numbers, TreeModel(hf, "m").parameters)
    q, p = (torch.softmax(tree_logits(one).float(), -1) for one in (copied, TreeModel(hf, "m")))
    shared = torch.minimum(p, q).sum(-1).mean()
    assert (0.95 if numbers == "int8" else 0.6) < shared < 1 - 1e-5
    after = hf.state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before)


@pytest.mark.parametrize("numbers", ROUNDED)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["llama", "gpt2"])
def test_a_copy_runs_trees_with_its_faster_forward(
    kind: str, dtype: torch.dtype, numbers: str
) -> None:
    """The faster forward and the usual one have the same rounded weights, so they are compared as
    strictly as those of any other model."""
    hf = tiny_model(kind).to(dtype)
    model = use_fast_forward(TreeModel(rounded_copy(hf, numbers, CPU, shared=True), "copy"))
    assert model.no_fast_forward == ""
    fast = kind == "llama" and dtype != torch.float16
    assert (model.forward_name == "fast") is fast
    self_test(model)


def test_a_copy_shares_what_is_not_rounded_or_nothing() -> None:
    """A streamed target moves its weights, so its copy must have its own."""
    for kind in KINDS:
        hf = tiny_model(kind)
        shared = tensors(rounded_copy(hf, "int8", CPU, shared=True))
        assert hf.get_input_embeddings().weight.data_ptr() in shared
        own = rounded_copy(hf, "int8", CPU, shared=False)
        assert not {*tensors(own)} & {*tensors(hf)} - {0}
        assert torch.equal(own.get_input_embeddings().weight, hf.get_input_embeddings().weight)


@pytest.mark.parametrize("numbers", ROUNDED)
@pytest.mark.parametrize("kind", ["llama", "gpt2"])
def test_the_predicted_memory_is_what_a_copy_takes(
    kind: str, numbers: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sequoia.models.rounded_copy.PACKED_UP_TO", 0)
    hf = tiny_model(kind, layers=4, vocab=640)
    copied = tensors(rounded_copy(hf, numbers, CPU, shared=False)).values()
    taken = sum(one.numel() * one.element_size() for one in copied)
    found = rounded_copy_bytes(hf.config, kind, numbers, CPU, torch.float32)
    # scales and buffers are not counted; they are large only in models of this size
    assert 0.8 * taken < found <= taken


def test_a_small_model_on_a_cpu_is_predicted_with_its_packed_weights() -> None:
    config = tiny_model().config
    with_packed = rounded_copy_bytes(config, "m", "int8", CPU, torch.float32)
    cuda = torch.device("cuda")
    assert with_packed > 2 * rounded_copy_bytes(config, "m", "int8", cuda, torch.bfloat16)


# -- products --------------------------------------------------------------------------------------

# Inputs: multiples of 16 and other numbers. Outputs: small numbers, 16 + 1 and 32 + 1.
IN_A_CHILD = """
import torch
from torch.nn import functional as F
from sequoia.models.rounded_copy import FEW_ROWS, RoundedLinear

torch.set_num_threads(1)
for inputs in (1, 7, 8, 15, 16, 17, 24, 40, 48, 56, 64, 68, 172, 312, 344):
    for outputs in (1, 7, 8, 17, 33):
        torch.manual_seed(1000 * inputs + outputs)
        weight, bias = torch.randn(outputs, inputs), torch.randn(outputs)
        for numbers, allowed in (("int8", 0.02), ("int4", 0.3)):
            layer = RoundedLinear(weight, bias, numbers)
            for rows in (*range(1, FEW_ROWS + 1), FEW_ROWS + 4):
                x = torch.randn(rows, inputs)
                # How large the sums are if no terms cancel.
                largest = x.abs() @ weight.abs().T + bias.abs()
                for other in (weight, layer.weight):
                    error = ((layer(x) - F.linear(x, other, bias)).abs() / largest).max()
                    shape = f"{numbers}: {rows} rows, {inputs} inputs, {outputs} outputs"
                    most = allowed if other is weight else 0.02
                    assert error < most, f"{shape}: off by {error:.3g}"
print("all shapes are right")
"""


@pytest.mark.nightly
def test_every_shape_gives_what_the_plain_layer_gives() -> None:
    child = subprocess.run(
        [sys.executable, "-c", IN_A_CHILD], capture_output=True, text=True, check=False
    )
    assert child.returncode == 0, f"the child ended with {child.returncode}: {child.stderr[-500:]}"
    assert child.stdout == "all shapes are right\n"


@pytest.mark.parametrize(("inputs", "given"), [(8, 16), (16, 16), (68, 80), (344, 352), (352, 352)])
def test_inputs_are_padded_to_a_multiple_of_16_in_int8(
    inputs: int, given: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """torch's kernel reads 16 inputs at a time. On some processors, other lengths would work too,
    but inputs are padded on all."""
    seen: list[tuple[int, int]] = []

    def kernel(x: torch.Tensor, weight: torch.Tensor, scales: torch.Tensor) -> torch.Tensor:
        seen.append((x.shape[1], weight.shape[1]))
        return x.new_zeros(len(x), len(scales))

    monkeypatch.setattr(torch, "_weight_int8pack_mm", kernel)
    RoundedLinear(torch.ones(4, inputs), None, "int8")(torch.zeros(FEW_ROWS, inputs))
    assert seen == [(given, given)]


@pytest.mark.parametrize("numbers", ROUNDED)
def test_rounding_a_rounded_weight_again_changes_nothing(numbers: str) -> None:
    """A faster forward joins rounded layers and rounds them again."""
    torch.manual_seed(0)
    once = RoundedLinear(torch.randn(200, 64), None, numbers).weight
    torch.testing.assert_close(RoundedLinear(once, None, numbers).weight, once)

"""The int8 matrix product that drafts use on a CPU, compared with the plain layer for many shapes.

torch's kernel can crash the process if it reads past the end of its inputs, so the shapes are
tried in a child process.
"""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch
from torch import nn

from sequoia.models.fast_llama import INT8_ROWS, packed_int8

# Inputs: multiples of 16 and other numbers. Outputs: small numbers, 16 + 1 and 32 + 1.
IN_A_CHILD = """
import copy
import torch
from torch import nn
from sequoia.models.fast_llama import INT8_ROWS, packed_int8

torch.set_num_threads(1)
for inputs in (1, 7, 8, 15, 16, 17, 24, 40, 48, 56, 64, 68, 172, 312, 344):
    for outputs in (1, 7, 8, 17, 33):
        torch.manual_seed(1000 * inputs + outputs)
        exact = nn.Linear(inputs, outputs)
        product = packed_int8([copy.deepcopy(exact).bfloat16()])
        for rows in (*range(1, INT8_ROWS + 1), INT8_ROWS + 4):
            x = torch.randn(rows, inputs).bfloat16()
            # How large the sums are if no terms cancel.
            largest = x.abs().float() @ exact.weight.abs().T + exact.bias.abs()
            error = ((product(x).float() - exact(x.float())).abs() / largest).max()
            shape = f"{rows} rows, {inputs} inputs, {outputs} outputs"
            assert error < 0.02, f"{shape}: off by {error:.3g}"
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
def test_inputs_are_padded_to_a_multiple_of_16(
    inputs: int, given: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """torch's kernel reads 16 inputs at a time. On some processors, other lengths would work too,
    but inputs are padded on all."""
    seen: list[tuple[int, int]] = []

    def kernel(x: torch.Tensor, weight: torch.Tensor, scales: torch.Tensor) -> torch.Tensor:
        seen.append((x.shape[1], weight.shape[1]))
        return x.new_zeros(len(x), len(scales))

    monkeypatch.setattr(torch, "_weight_int8pack_mm", kernel)
    packed_int8([nn.Linear(inputs, 4, bias=False).bfloat16()])(
        torch.zeros(INT8_ROWS, inputs).bfloat16()
    )
    assert seen == [(given, given)]

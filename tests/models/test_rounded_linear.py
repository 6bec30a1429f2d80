"""Products with weights rounded to int8 and int4, compared with the plain layer for many shapes.

torch's kernels can crash the process if they read past the end of their inputs, so the shapes are
tried in a child process.
"""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch

from sequoia.errors import BadModel
from sequoia.models.rounded_copy import FEW_ROWS, ROUNDED, RoundedLinear, require_product

CPU = torch.device("cpu")
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


@pytest.mark.parametrize(
    ("kernel", "numbers", "says"),
    [
        ("_weight_int4pack_mm_for_cpu", "int4", r"int4 weights on cpu \(no kernel\); int8 may"),
        ("_convert_weight_to_int4pack_for_cpu", "int4", r"on cpu \(no kernel\)"),
        ("_weight_int8pack_mm", "int8", r"int8 weights on cpu \(no kernel\)$"),
    ],
)
def test_a_device_without_the_product_is_named(
    kernel: str, numbers: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(*_: object) -> None:
        raise NotImplementedError("no kernel\nfurther lines")

    monkeypatch.setattr(torch, kernel, missing)
    with pytest.raises(BadModel, match=rf"^draft {numbers}: torch .* cannot multiply .*{says}"):
        require_product(numbers, CPU)


@pytest.mark.parametrize(
    ("kernel", "numbers"),
    [("_weight_int4pack_mm_for_cpu", "int4"), ("_weight_int8pack_mm", "int8")],
)
def test_a_product_that_is_wrong_is_refused(
    kernel: str, numbers: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = getattr(torch, kernel)
    monkeypatch.setattr(torch, kernel, lambda *given: usual(*given).roll(1, -1))
    with pytest.raises(BadModel, match="a test product is wrong by"):
        require_product(numbers, CPU)

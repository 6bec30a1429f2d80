"""Headers of safetensors files: a damaged one is refused with a reason. A config that describes a
much larger model than the files contain is refused."""

from __future__ import annotations

import random
import struct
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file
from transformers import LlamaConfig

from sequoia.errors import BadModel
from sequoia.loading.model_checks import check_described, count_numbers

KINDS = {
    "F32": torch.float32,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "F64": torch.float64,
    "I64": torch.int64,
    "U8": torch.uint8,
    "BOOL": torch.bool,
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file with a tensor of every dtype in KINDS, an empty tensor and a scalar."""
    tensors = {f"part.{kind}": torch.ones(2, 3, dtype=dtype) for kind, dtype in KINDS.items()}
    tensors |= {"none": torch.ones(0, 4), "one": torch.tensor(1.0)}
    save_file(tensors, tmp_path / "model.safetensors", {"format": "pt"})
    return tmp_path / "model.safetensors"


def test_the_numbers_of_all_dtypes_are_counted(file: Path) -> None:
    assert count_numbers(file, "m") == 6 * len(KINDS) + 1


def test_a_damaged_header_is_read_or_refused_but_nothing_else(file: Path) -> None:
    """400 headers with one or two bytes changed, and every tenth truncation, from a fixed seed. No
    other error escapes, and what is read fills the file."""
    data = file.read_bytes()
    draw = random.Random(0)
    length = struct.unpack("<Q", data[:8])[0]
    damaged = [data[:end] for end in (*range(0, len(data), 9), len(data) - 1)]
    for _ in range(400):
        changed = bytearray(data)
        for _ in range(draw.choice((1, 1, 2))):
            changed[8 + draw.randrange(length)] = draw.choice(b'0123456789{}[],:"- FUIB\xff\0')
        damaged.append(bytes(changed))
    refused = 0
    for one in damaged:
        file.write_bytes(one)
        try:
            found = count_numbers(file, "m")
        except BadModel:
            refused += 1
            continue
        assert len(one) == len(data)
        assert found <= len(data) - 8 - length
    assert len(damaged) - 380 < refused < len(damaged) - 20


# -- what a config describes


def test_a_config_of_a_larger_model_than_its_files_is_refused() -> None:
    config = LlamaConfig(hidden_size=512, num_hidden_layers=4, vocab_size=4000)
    with pytest.raises(
        BadModel, match=r"m: its config describes [\d,]+ parameters, but its files contain 9"
    ):
        check_described(config, 9, "m")
    check_described(config, 80_000_000, "m")

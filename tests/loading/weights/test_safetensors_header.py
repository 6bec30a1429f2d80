"""Headers of safetensors files: whatever our reader accepts, the safetensors library reads in the
same way. A config that describes a much larger model than the files contain is refused."""

from __future__ import annotations

import json
import random
import struct
from pathlib import Path

import pytest
import torch
from fakes import tiny_model
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from transformers import GPTNeoConfig, LlamaConfig

from sequoia.errors import BadModel
from sequoia.loading.weights.check_files import check_described
from sequoia.loading.weights.safetensors_header import LONGEST, Stored, read_header

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


def by_the_library(path: Path) -> dict[str, Stored]:
    """The tensors in a file as the safetensors library describes them. `get_tensor` makes the
    library read their data too."""
    with safe_open(path, "pt") as found:
        names = found.keys()
        return {
            name: Stored(found.get_slice(name).get_dtype(), tuple(found.get_tensor(name).shape))
            for name in names
        }


def test_a_complete_file_is_read_as_the_library_reads_it(file: Path) -> None:
    found = read_header(file, "m")
    assert found == by_the_library(file)
    assert {one.kind for one in found.values()} == KINDS.keys()
    assert found["part.BF16"].numbers == 6


def test_damaged_headers_that_are_accepted_are_read_as_the_library_reads_them(file: Path) -> None:
    """400 headers with one or two characters changed, from a fixed seed. More than 20 are accepted,
    and more than 20 are refused."""
    data = file.read_bytes()
    draw = random.Random(0)
    length = struct.unpack("<Q", data[:8])[0]
    accepted = refused = 0
    for _ in range(400):
        changed = bytearray(data)
        for _ in range(draw.choice((1, 1, 2))):
            changed[8 + draw.randrange(length)] = draw.choice(b'0123456789{}[],:"- FUIB')
        file.write_bytes(changed)
        try:
            found = read_header(file, "m")
        except BadModel:
            refused += 1
            continue
        accepted += 1
        assert found == by_the_library(file), bytes(changed[8 : 8 + length])
    assert min(accepted, refused) > 20


def places(*spans: tuple[int, int]) -> bytes:
    """The bytes of a file with a U8 tensor at each of `spans` in its 16 bytes of data."""
    tensors = {
        f"t{i}": {"dtype": "U8", "shape": [last - first], "data_offsets": [first, last]}
        for i, (first, last) in enumerate(spans)
    }
    header = json.dumps(tensors).encode()
    return struct.pack("<Q", len(header)) + header + bytes(16)


@pytest.mark.parametrize(
    ("spans", "says"),
    [
        ([(0, 8), (4, 16)], "overlap, or unused bytes before a tensor"),
        ([(0, 6), (8, 16)], "overlap, or unused bytes before a tensor"),
        ([(2, 16)], "overlap, or unused bytes before a tensor"),
        ([(0, 16), (0, 16)], "overlap, or unused bytes before a tensor"),
        ([(0, 12)], "4 unused bytes after its last tensor"),
        ([(0, 20)], "ends 4 bytes too early"),
    ],
)
def test_tensors_follow_each_other_and_fill_the_file(
    spans: list[tuple[int, int]], says: str, file: Path
) -> None:
    file.write_bytes(places((0, 8), (8, 16)))
    assert read_header(file, "m") == by_the_library(file)
    file.write_bytes(places(*spans))
    with pytest.raises(SafetensorError):
        by_the_library(file)
    with pytest.raises(BadModel, match=says):
        read_header(file, "m")


def test_a_truncated_file_is_detected(file: Path) -> None:
    data = file.read_bytes()
    for end in (*range(0, len(data), 9), len(data) - 1):
        file.write_bytes(data[:end])
        with pytest.raises(BadModel, match=r"download is incomplete|does not start with a header"):
            read_header(file, "m")
        with pytest.raises((SafetensorError, OSError)):
            by_the_library(file)


def test_a_header_over_the_size_limit_is_refused(file: Path) -> None:
    header = json.dumps({"x": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
    header += b" " * (LONGEST + 1 - len(header))
    file.write_bytes(struct.pack("<Q", len(header)) + header + bytes(4))
    assert by_the_library(file)
    with pytest.raises(BadModel, match="has a header of 16,000,001 bytes; the limit is 16,000,000"):
        read_header(file, "m")


@pytest.mark.parametrize(
    ("name", "kind", "allowed"),
    [
        ("x.mask", "C64", "F64, F32, F16, BF16, I64, I32, I16, I8, U8, BOOL"),
        ("x.weight", "I64", "F64, F32, F16, BF16"),
    ],
)
def test_the_message_about_a_refused_dtype_lists_the_allowed_ones(
    name: str, kind: str, allowed: str, tmp_path: Path
) -> None:
    file = tmp_path / "model.safetensors"
    header = json.dumps({name: {"dtype": kind, "shape": [8], "data_offsets": [0, 8]}}).encode()
    file.write_bytes(struct.pack("<Q", len(header)) + header + bytes(8))
    with pytest.raises(BadModel) as caught:
        read_header(file, "m")
    assert str(caught.value).endswith(
        f"tensor '{name}' has dtype '{kind}'; it must be one of {allowed}"
    )


# -- what a config describes


def stored(numbers: int) -> dict[str, Stored]:
    return {"x": Stored("F32", (numbers,))}


def test_a_config_of_a_larger_model_than_its_files_is_refused() -> None:
    config = LlamaConfig(hidden_size=512, num_hidden_layers=4, vocab_size=4000)
    with pytest.raises(
        BadModel, match=r"m: its config describes [\d,]+ parameters, but its files contain 9"
    ):
        check_described(config, stored(9), "m")
    check_described(config, stored(80_000_000), "m")


def test_buffers_just_over_the_limit_are_shown_with_enough_decimals() -> None:
    """The buffer is GPT-Neo's attention mask, with one byte for each pair of positions."""
    config = GPTNeoConfig(
        max_position_embeddings=64_900,
        num_layers=1,
        attention_types=[[["global"], 1]],
        hidden_size=16,
        num_heads=2,
        vocab_size=40,
    )
    with pytest.raises(BadModel, match=r"buffers of 4\.21 GB .*; the limit is 4 GB$"):
        check_described(config, stored(2_000_000), "m")


def test_tied_weights_are_stored_once() -> None:
    model = tiny_model("qwen2")
    assert model.config.tie_word_embeddings
    check_described(model.config, stored(model.num_parameters()), "m")


def test_a_config_may_name_an_attention_kernel_that_is_not_installed() -> None:
    config = LlamaConfig(num_hidden_layers=1, vocab_size=400)
    config._attn_implementation = "flash_attention_2"
    check_described(config, stored(400_000_000), "m")

"""Rows of other engines: the weights that they get, and what is said without their packages."""

from __future__ import annotations

import sys
from pathlib import Path

import gguf
import numpy as np
import pytest
import torch
from fakes import tiny_model, tiny_pair

from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.step_trace import emitted_tokens
from sequoia.bench import __main__ as benchmark
from sequoia.bench.outsiders import openvino_decode, write_gguf
from sequoia.decoding.engine import plain
from sequoia.errors import SequoiaError
from sequoia.measuring.hardware import bytes_read, read_speed
from sequoia.models.tree_forward import TreeModel


def test_a_missing_package_is_named_before_anything_is_timed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "llama_cpp", None)
    assert benchmark.main(["--outsiders", "--limit", "1"]) == 2
    assert "pip install llama-cpp-python gguf openvino" in capsys.readouterr().err


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_converted_model_has_the_same_weights(dtype: torch.dtype, tmp_path: Path) -> None:
    hf = tiny_model("llama").to(dtype)
    write_gguf(TreeModel(hf, "llama"), tmp_path / "model.gguf")
    reader = gguf.GGUFReader(tmp_path / "model.gguf")
    found = {one.name: one for one in reader.tensors}
    down = hf.model.layers[1].mlp.down_proj.weight
    stored = torch.from_numpy(np.array(found["blk.1.ffn_down.weight"].data))
    assert torch.equal(stored if dtype == torch.float32 else stored.view(dtype), down)
    assert len(found) == len(list(hf.parameters()))
    assert reader.get_field("llama.attention.head_count_kv").contents() == 2


def test_other_models_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SequoiaError, match="needs a Llama model"):
        write_gguf(TreeModel(tiny_model("qwen3"), "qwen3"), tmp_path / "model.gguf")


def test_openvino_decodes_the_same_text() -> None:
    pytest.importorskip("openvino")
    pair = tiny_pair("llama")
    params = SamplingParams(temperature=0, max_new_tokens=20, ignore_eos=True)
    expected = emitted_tokens(list(plain(pair, "some text", params)))
    decode = openvino_decode(pair)
    for _ in range(2):  # each run begins anew
        assert decode("some text", params) == (expected, None)


def test_an_embedding_is_read_only_if_it_is_the_head_too() -> None:
    pair = tiny_pair("llama")
    assert bytes_read(pair.target) == sum(
        4 * one.numel()
        for name, one in pair.target.hf.named_parameters()
        if name != "model.embed_tokens.weight"
    )
    tied = TreeModel(tiny_model("qwen2"), "qwen2")
    assert bytes_read(tied) == sum(4 * one.numel() for one in tied.hf.parameters())


def test_the_speed_of_the_memory_is_a_possible_one() -> None:
    assert 1e8 < read_speed(torch.device("cpu")) < 1e13

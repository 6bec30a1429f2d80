"""Other engines in the benchmark, with the same weights and prompts: llama.cpp and OpenVINO. Their
packages are optional. For llama.cpp the target is converted to GGUF, its format."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import torch

from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.bench.decoders import Contestant, Decode, always
from sequoia.bench.openvino_engine import openvino_decode
from sequoia.errors import SequoiaError
from sequoia.models.pair import Pair
from sequoia.models.tree_forward import TreeModel

PACKAGES = {"llama_cpp": "llama-cpp-python", "gguf": "gguf", "openvino": "openvino"}
_CONTEXT = 2048


def require_packages() -> None:
    """Raises SequoiaError if a package is missing, with the command that installs all."""
    for module in PACKAGES:
        try:
            import_module(module)
        except ImportError:
            raise SequoiaError(
                f"--outsiders needs the package {PACKAGES[module]}; install with "
                f"`pip install {' '.join(PACKAGES.values())}` (llama.cpp is compiled, which takes "
                "minutes)"
            ) from None


def outsiders(pair: Pair, folder: Path) -> Iterator[Contestant]:
    """Plain decoding by each engine. folder: for the converted weights. Raises SequoiaError if the
    target is no Llama model on a CPU."""
    require_packages()
    file = folder / "target.gguf"
    write_gguf(pair.target, file)
    yield always(f"llama.cpp, {pair.target.numbers}", "llama.cpp", _llama_cpp(pair, file))
    yield always(f"OpenVINO, {pair.target.numbers}", "OpenVINO", openvino_decode(pair))


def _llama_cpp(pair: Pair, file: Path) -> Decode:
    llama_cpp = import_module("llama_cpp")
    threads = torch.get_num_threads()
    model = llama_cpp.Llama(
        str(file), n_ctx=_CONTEXT, n_threads=threads, n_threads_batch=threads, verbose=False
    )

    def decode(prompt: str, params: SamplingParams) -> tuple[list[int], None]:
        model.reset()  # else it would skip the part of the prompt that it processed last
        model.set_seed(params.seed)
        found = model.generate(
            pair.encode(prompt),
            top_k=0,
            top_p=params.top_p,
            min_p=0.0,
            temp=params.temperature,
            repeat_penalty=1.0,
        )
        return [token for token, _ in zip(found, range(params.max_new_tokens), strict=False)], None

    return decode


# -- GGUF ------------------------------------------------------------------------------------------

_OF_A_LAYER = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
}


def write_gguf(model: TreeModel, file: Path) -> None:
    """Write the weights of a Llama model as GGUF, in their dtype, without a tokenizer."""
    gguf = import_module("gguf")
    config = model.config
    if config.model_type != "llama" or model.device.type != "cpu" or model.rounding:
        raise SequoiaError(
            f"--outsiders needs a Llama model on the CPU that is not rounded; {model.name} is a "
            f"{config.model_type} model in {model.numbers} on {model.device}"
        )
    writer = gguf.GGUFWriter(file, "llama")
    writer.add_context_length(_CONTEXT)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_key_length(config.head_dim)
    writer.add_value_length(config.head_dim)
    writer.add_rope_dimension_count(config.head_dim)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_vocab_size(config.vocab_size)
    writer.add_tokenizer_model("no_vocab")
    for name, tensor in _tensors(model):
        _add(writer, name, tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _tensors(model: TreeModel) -> Iterator[tuple[str, torch.Tensor]]:
    """The weights by their names in GGUF."""
    body = model.hf.model
    yield "token_embd.weight", body.embed_tokens.weight
    yield "output_norm.weight", body.norm.weight
    if not model.config.tie_word_embeddings:
        yield "output.weight", model.hf.lm_head.weight
    heads = {"attn_q": model.config.num_attention_heads, "attn_k": model.config.num_key_value_heads}
    for i, layer in enumerate(body.layers):
        for ours, theirs in _OF_A_LAYER.items():
            weight = layer.get_submodule(ours).weight
            if theirs in heads:
                weight = _adjacent(weight, heads[theirs])
            yield f"blk.{i}.{theirs}.weight", weight


def _adjacent(weight: torch.Tensor, heads: int) -> torch.Tensor:
    """Queries or keys (outputs, inputs) with the two numbers of each rotated pair side by side."""
    return weight.view(heads, 2, -1, weight.shape[1]).transpose(1, 2).reshape(weight.shape)


def _add(writer: Any, name: str, tensor: torch.Tensor) -> None:
    gguf = import_module("gguf")
    if tensor.dim() == 1 or tensor.dtype == torch.float32:
        writer.add_tensor(name, tensor.float().numpy())
        return
    numbers = {
        torch.bfloat16: gguf.GGMLQuantizationType.BF16,
        torch.float16: gguf.GGMLQuantizationType.F16,
    }
    raw = tensor.contiguous().view(torch.uint8).numpy()
    writer.add_tensor(name, raw, raw_dtype=numbers[tensor.dtype])

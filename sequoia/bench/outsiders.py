"""Other engines in the benchmark, with the same weights and prompts: llama.cpp and OpenVINO. Their
packages are optional. For llama.cpp the target is converted to GGUF, its format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch

from sequoia.algorithm.distributions import row_warp
from sequoia.algorithm.sampling import chance_for
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.bench.decoders import Contestant, Decode, always
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
        return [*islice(found, params.max_new_tokens)], None

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


# -- OpenVINO --------------------------------------------------------------------------------------


PRECISIONS = {torch.bfloat16: "bf16", torch.float16: "f16", torch.float32: "f32"}
_INPUTS = ("ids", "positions", "mask", "beam")
_LOWEST = float(np.finfo(np.float32).min)


def openvino_decode(pair: Pair) -> Decode:
    """Plain decoding of the pair's target by OpenVINO, in the target's dtype, with as many threads
    as torch uses."""
    compiled = (
        import_module("openvino")
        .Core()
        .compile_model(
            converted(pair.target),
            "CPU",
            {
                "INFERENCE_PRECISION_HINT": PRECISIONS[pair.target.dtype],
                "INFERENCE_NUM_THREADS": torch.get_num_threads(),
                "NUM_STREAMS": 1,
            },
        )
    )
    request = compiled.create_infer_request()

    def decode(prompt: str, params: SamplingParams) -> tuple[list[int], None]:
        request.reset_state()
        warp = row_warp(params)
        chance = chance_for(params.temperature, params.seed)
        tokens = [*pair.encode(prompt)]
        start = len(tokens)
        read = 0
        while len(tokens) < start + params.max_new_tokens:
            logits = _pass(request, tokens[read:], read)
            read = len(tokens)
            tokens.append(chance.pick(warp(torch.from_numpy(logits[: pair.target.vocab]))))
        return tokens[start:], None

    return decode


def _pass(request: Any, tokens: Sequence[int], read: int) -> np.ndarray:
    """The logits (vocab,) after `tokens`, of which the first follows `read` others."""
    rows = len(tokens)
    mask = np.triu(np.full((rows, read + rows), _LOWEST, np.float32), read + 1)
    given = {
        "ids": np.array([tokens]),
        "positions": np.arange(read, read + rows)[None],
        "mask": mask[None, None],
        "beam": np.zeros(1, np.int32),
    }
    return request.infer(given, share_inputs=True, share_outputs=True)[0][0, -1]


# -- conversion ------------------------------------------------------------------------------------


class _Cache:
    """A KV cache of tensors given and returned. past: keys and values of each layer, in turn."""

    is_compileable = False

    def __init__(self, past: Sequence[torch.Tensor]) -> None:
        self._past = past
        self.new: list[torch.Tensor] = []

    def get_seq_length(self, *_: object) -> int:
        return self._past[0].shape[2]

    def update(
        self, keys: torch.Tensor, values: torch.Tensor, layer: int, *_: object, **__: object
    ) -> tuple[torch.Tensor, torch.Tensor]:
        both = (keys, values)
        found = [torch.cat(two, 2) for two in zip(self._past[2 * layer :], both, strict=False)]
        self.new += found
        return found[0], found[1]


class _Pass(torch.nn.Module):
    """A pass as a function of tensors. beam: (1,) zeros; OpenVINO recognises a KV cache by its
    reordering for a beam search."""

    def __init__(self, hf: Any) -> None:
        super().__init__()
        self.hf = hf

    def forward(
        self,
        ids: torch.Tensor,
        positions: torch.Tensor,
        mask: torch.Tensor,
        beam: torch.Tensor,
        *past: torch.Tensor,
    ) -> tuple[torch.Tensor, ...]:
        cache = _Cache([one.index_select(0, beam) for one in past])
        logits = self.hf(
            input_ids=ids,
            position_ids=positions,
            attention_mask=mask,
            past_key_values=cache,
            use_cache=True,
            logits_to_keep=1,
        ).logits
        return (logits, *cache.new)


def converted(model: TreeModel) -> Any:
    """OpenVINO's form of `model`, with the inputs of `_pass` and the logits (1, 1, vocab)."""
    openvino = import_module("openvino")
    config = model.config
    shape = (1, config.num_key_value_heads, 3, config.head_dim)
    past = [torch.zeros(shape, dtype=torch.float32) for _ in range(2 * config.num_hidden_layers)]
    tokens = torch.ones(1, 2, dtype=torch.long)
    mask = torch.zeros(1, 1, 2, 5, dtype=torch.float32)
    beam = torch.zeros(1, dtype=torch.int32)
    found = openvino.convert_model(
        _Pass(deepcopy(model.hf).float()), example_input=(tokens, tokens + 2, mask, beam, *past)
    )
    _keep_inside(found, shape)
    return found


def _keep_inside(found: Any, shape: Sequence[int]) -> None:
    """Make keys and values a state of the model `found`, at first empty. shape: of the keys of a
    layer (1, kv_heads, tokens, head_dim)."""
    openvino = import_module("openvino")
    change = import_module("openvino._offline_transformations")
    one, heads, _, dim = shape
    sizes = [[1, -1], [1, -1], [1, 1, -1, -1], [1]]
    sizes += [[one, heads, -1, dim]] * (len(found.inputs) - len(_INPUTS))
    found.reshape(dict(zip(found.inputs, sizes, strict=True)))
    names = {}
    for i, (before, after) in enumerate(
        zip(found.inputs[len(_INPUTS) :], found.outputs[1:], strict=True)
    ):
        before.tensor.set_names({f"past {i}"})
        after.tensor.set_names({f"new {i}"})
        names[f"past {i}"] = f"new {i}"
    change.apply_make_stateful_transformation(found, names)
    empty = openvino.opset13.constant(np.zeros((one, heads, 0, dim), np.float32))
    for operation in found.get_ops():
        if operation.get_type_name() == "ReadValue":
            operation.set_arguments([empty.output(0)])
    found.validate_nodes_and_infer_types()
    for given, name in zip(found.inputs, _INPUTS, strict=True):
        given.tensor.set_names({name})

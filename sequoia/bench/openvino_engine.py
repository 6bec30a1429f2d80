"""Plain decoding by OpenVINO, in the benchmark. OpenVINO converts the model of `transformers`
itself, and keeps the KV cache inside the converted model."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from importlib import import_module
from typing import Any

import numpy as np
import torch

from sequoia.algorithm.sampling import chance_for, row_warp
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.bench.decoders import Decode
from sequoia.models.pair import Pair
from sequoia.models.tree_forward import TreeModel

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

"""The next-token distributions of a pair after any text, cached: p of the target, q of the draft.
Both come from the reference forward pass over the whole text, without our KV cache or tree mask.
The target runs in float32. Verification is lossless for any q, so the draft's precision does not
matter.
"""

from __future__ import annotations

import copy
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from sequoia.algorithm.distributions import draft_rows, target_rows
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.errors import OutOfMemory
from sequoia.exactness.losslessness.table_step import Text
from sequoia.models.compare_logits import own_logits
from sequoia.models.pair import Pair
from sequoia.models.tree_forward import TreeModel
from sequoia.this_machine.memory import ROOM, require

MOST_BYTES = 128 * 2**20  # cached distributions of each model
Rows = Callable[[torch.Tensor, SamplingParams], torch.Tensor]


class PairRows:
    """p(text) and q(text): the distributions of `pair` after `prompt` and then `text`. Raises
    BadPrompt as `Pair.encode` does, and OutOfMemory as `float32_copy` does. `p` and `q` raise
    BadModel if their model overflows."""

    def __init__(self, pair: Pair, prompt: str, params: SamplingParams) -> None:
        ids = pair.encode(prompt)
        target = pair.target if pair.target.dtype == torch.float32 else float32_copy(pair.target)
        self.vocab = pair.target.vocab
        self.p = _KeptRows(target, ids, params, target_rows)
        self.q = _KeptRows(pair.draft, ids, params, draft_rows)


class _KeptRows:
    """One model's distributions (vocab,) by text. Caches the most recently used ones."""

    def __init__(self, model: TreeModel, ids: Text, params: SamplingParams, rows: Rows) -> None:
        self._model = model
        self._ids = ids
        self._params = params
        self._rows = rows
        self._kept: OrderedDict[Text, np.ndarray] = OrderedDict()

    def __call__(self, context: Text) -> np.ndarray:
        if context in self._kept:
            self._kept.move_to_end(context)
            return self._kept[context]
        logits = own_logits(self._model, [*self._ids, *context])
        row = self._rows(logits, self._params).cpu().numpy()
        row.flags.writeable = False
        self._kept[context] = row
        if len(self._kept) * row.nbytes > MOST_BYTES:
            self._kept.popitem(last=False)
        return row


def float32_copy(model: TreeModel) -> TreeModel:
    """A copy of `model` in float32. Over many passes it is twice as fast as `wider`, which converts
    the weights anew in each. Raises OutOfMemory if there is no room for the copy, or if the weights
    are not all on one device."""
    if model.placement:
        raise OutOfMemory(f"the target's weights do not fit on one device ({model.placement})")
    tensors = [*model.hf.parameters(), *model.hf.buffers()]
    count = sum(tensor.numel() for tensor in tensors)
    require(
        count * torch.float32.itemsize * ROOM, model.device, "a float32 copy of the target needs"
    )
    wide = TreeModel(_copied(model.hf, tensors), model.name, model.device, model.layer_devices)
    wide.vocab = model.vocab
    return wide


def _copied(hf: Any, tensors: Sequence[torch.Tensor]) -> Any:
    """A copy of the model `hf` with its floating-point `tensors` in float32. Tensors that are in
    float32 already, or that contain integers, are shared with `hf`."""
    return copy.deepcopy(hf, {id(tensor): _wide(tensor) for tensor in tensors})


def _wide(tensor: torch.Tensor) -> torch.Tensor:
    wide = tensor.detach().to(torch.float32 if tensor.is_floating_point() else tensor.dtype)
    is_parameter = isinstance(tensor, torch.nn.Parameter)
    return torch.nn.Parameter(wide, requires_grad=False) if is_parameter else wide

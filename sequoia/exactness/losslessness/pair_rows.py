"""The next-token distributions of a pair after any text, cached: p of the target, q of the draft.
Both come from the reference forward pass over the whole text, without our KV cache or tree mask.
The target runs in float32. Verification is lossless for any q, so the draft's precision does not
matter.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

import numpy as np
import torch

from sequoia.algorithm.distributions import draft_rows, target_rows
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.exactness.float32_rerun import in_float32
from sequoia.exactness.losslessness.table_step import Text
from sequoia.models.compare_logits import own_logits
from sequoia.models.pair import Pair
from sequoia.models.tree_forward import TreeModel

MOST_BYTES = 128 * 2**20  # cached distributions of each model
Rows = Callable[[torch.Tensor, SamplingParams], torch.Tensor]


class PairRows:
    """p(text) and q(text): the distributions of `pair` after `prompt` and then `text`. Raises
    BadPrompt as `Pair.encode` does, and OutOfMemory as `in_float32` does. `p` and `q` raise
    BadModel if their model overflows."""

    def __init__(self, pair: Pair, prompt: str, params: SamplingParams) -> None:
        ids = pair.encode(prompt)
        target = pair.target if pair.target.dtype == torch.float32 else in_float32(pair).target
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

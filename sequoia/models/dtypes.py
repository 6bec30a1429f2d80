"""The dtypes of models, by name."""

from __future__ import annotations

import torch

# those that a person may choose
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
STORED = (*DTYPES, "float64")  # those that weights in files may have

"""Checks a model's weight files, and refuses a config that describes a much larger model than these
files contain. Of the weight files, only the headers are read."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM

from sequoia.errors import BadModel
from sequoia.loading.folder_check import check_place
from sequoia.loading.listed_files import files_in
from sequoia.loading.weights.safetensors_header import Stored, read_header
from sequoia.loading.weights.weight_files import INDEX, ONE_FILE, weight_files, weight_map
from sequoia.validate_input import shown

# Limit for the buffers that a model allocates, such as masks of its whole context.
MOST_TABLE_BYTES = 4_000_000_000
# Some parameters are computed instead of stored. So a config may describe twice as many parameters
# as the files contain, plus this many.
_SPARE = 2**20


def weight_paths(folder: Path, title: str) -> dict[str, Path]:
    """The files in `folder` with the weights, by name. Raises BadModel as `weight_files` does, and
    also if a file in a sub-folder is really elsewhere."""
    paths = {name: folder / name for name in weight_files(files_in(folder, title))}
    for path in paths.values():
        check_place(path, folder, title)
    return paths


def stored_tensors(folder: Path, title: str) -> dict[str, Stored]:
    """Dtype and shape of all tensors in the weight files, by name. Raises BadModel if a file is
    missing or damaged, or if the index does not match the files."""
    paths = weight_paths(folder, title)
    found = {name: read_header(path, title) for name, path in paths.items()}
    if ONE_FILE not in found:
        _check_index(weight_map(files_in(folder, title)), found, title)
    return {name: tensor for tensors in found.values() for name, tensor in tensors.items()}


def check_described(config: Any, tensors: dict[str, Stored], title: str) -> None:
    """Raises BadModel if the config describes a model with far more parameters than `tensors` have,
    or with very large buffers. Loading such a model could exhaust the memory: `transformers` fills
    parameters that the files lack with random numbers."""
    with torch.device("meta"):
        # A config may name an attention kernel that is not installed. Loading ignores the name too.
        hf = AutoModelForCausalLM.from_config(config, attn_implementation="eager")
    stored = sum(tensor.numbers for tensor in tensors.values())
    described = sum(weight.numel() for weight in hf.parameters())
    if described > 2 * stored + _SPARE:
        raise BadModel(
            f"{title}: its config describes {described:,} parameters, but its files contain "
            f"{stored:,}"
        )
    tables = sum(table.numel() * table.element_size() for table in hf.buffers())
    if tables > MOST_TABLE_BYTES:
        raise BadModel(
            f"{title}: its config asks for buffers of {tables / 1e9:,.2f} GB in addition to the "
            f"weights; the limit is {MOST_TABLE_BYTES / 1e9:.0f} GB"
        )


def _check_index(where: dict[str, str], found: dict[str, dict[str, Stored]], title: str) -> None:
    """Raises BadModel if a tensor of the index is not in the file that the index names for it, or
    if a tensor is in several files. where: the file of each tensor, from the index. found: the
    tensors of each file."""
    for name, file in where.items():
        if name not in found[file]:
            raise BadModel(
                f"{title}: according to {INDEX}, tensor {shown(name)} is in {file}, but it is not"
            )
    files = Counter(name for tensors in found.values() for name in tensors)
    name, times = files.most_common(1)[0]
    if times > 1:
        raise BadModel(f"{title}: tensor {shown(name)} is in {times} files; it must be in only one")

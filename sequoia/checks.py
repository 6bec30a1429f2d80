"""What is known of a model before a byte of its weights moves, and why it is refused: its name, config, files and tokenizer.

Loads no weights and knows no pair.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

from .dtype import DTYPES
from .errors import BadModel, BadPair, OutOfMemory, SequoiaError
from .files import weight_files
from .guarded import shown

_PROBES = ("def f(x):\n    return x + 1\n", "Hello, wörld! 你好 🙂", "  \t\n\n x=1e-3;  # ok", "The year 2024, isn't it?")
PROBES = len(_PROBES)


@dataclass(frozen=True)
class Passed:
    """A check that was passed: what was looked at, and the result in words."""

    what: str
    words: str


@dataclass(frozen=True)
class Source:
    """A model that passed the checks its config allows; nothing of its weights has been read. name: as it was asked for; folder:
    where its files are. weight_bytes: of the files, which need not be there yet."""

    name: str
    folder: Path
    config: Any
    weight_bytes: int

    @property
    def attention(self) -> str:
        """The fastest attention its class has that takes a ready-made mask: PyTorch's fused one, else the written-out one."""
        made = AutoModelForCausalLM._model_mapping[type(self.config)]
        return "sdpa" if getattr(made, "_supports_sdpa", False) else "eager"

    @property
    def title(self) -> str:
        """What a person calls it: the name of the folder where it was given as one."""
        return self.folder.name if Path(self.name).is_dir() else self.name


def checked_name(ref: Any) -> str:
    """`ref` where it can name a model; BadModel for anything else."""
    if not isinstance(ref, str) or not ref.strip() or len(ref) > 500:
        raise BadModel(f"a model is named by a folder or a Hugging Face id, not {shown(ref)}")
    refused(BadModel, "not the name of a folder", Path(ref).is_dir)
    return ref


def check_source(name: str, folder: Path, weight_bytes: int | None = None) -> Source:
    """Look at the config in `folder` of the model called `name`, and at its weights' files unless their bytes are given. Raises
    BadModel where they are missing, unsafe or of a kind that cannot run a tree."""
    config = refused(BadModel, f"cannot read the config of {name!r}",
                     lambda: AutoConfig.from_pretrained(folder, trust_remote_code=False, local_files_only=True))
    refuse_unfit(name, refused(BadModel, f"{name!r} is no single language model", config.get_text_config))
    return Source(name, folder, config, local_bytes(folder) if weight_bytes is None else weight_bytes)


def refuse_unfit(name: str, config: Any) -> None:
    """BadModel for configs whose attention or state cannot branch."""
    kind = getattr(config, "model_type", "?")
    if getattr(config, "is_encoder_decoder", False):
        raise BadModel(f"{name} is an encoder-decoder ({kind}); a causal language model is needed")
    others = sorted(set(getattr(config, "layer_types", None) or ()) - {"full_attention"})
    if others:
        raise BadModel(f"{name} ({kind}) has {', '.join(others)} layers; only full attention can hold the branches of a tree")
    if "local" in (getattr(config, "attention_layers", None) or ()):
        raise BadModel(f"{name} ({kind}) has layers of local attention; only full attention can hold the branches of a tree")
    if kind == "bloom" or getattr(config, "alibi", False) or getattr(getattr(config, "attn_config", None), "alibi", False):
        raise BadModel(f"{name} ({kind}) takes positions from the order of its rows (ALiBi), but the rows of a tree do not all "
                       "follow each other")
    window = getattr(config, "sliding_window", None)
    if window and getattr(config, "use_sliding_window", True) and window < getattr(config, "max_position_embeddings", 0):
        raise BadModel(f"{name} ({kind}) attends to a sliding window of {window} tokens; only full attention can hold a tree")
    if not getattr(config, "num_attention_heads", None):
        raise BadModel(f"{name} ({kind}) has no attention heads: a recurrent state cannot hold the branches of a tree")
    if type(config) not in AutoModelForCausalLM._model_mapping:
        raise BadModel(f"{name} is of type {kind}, which transformers has no causal language model for")
    if getattr(AutoModelForCausalLM._model_mapping[type(config)], "_is_stateful", False):
        raise BadModel(f"{name} ({kind}) keeps a recurrent state, which cannot hold the branches of a tree")


def matching_tokenizer(target: Source, draft: Source) -> Any:
    """The pair's tokenizer; BadPair names the first piece where the two models' tokenizers differ."""
    ours, other = map(_tokenizer, (target, draft))
    mine, its = ours.get_vocab(), other.get_vocab()
    different = sorted((piece for piece in mine.keys() | its.keys() if mine.get(piece) != its.get(piece)),
                       key=lambda piece: min(mine.get(piece, 2**31), its.get(piece, 2**31)))
    if different:
        piece = different[0]
        raise BadPair(f"the tokenizers differ in {len(different)} pieces; the first is {piece[:40]!r}, "
                      f"number {mine.get(piece)} for the target and {its.get(piece)} for the draft")
    for probe in _PROBES:
        if ours(probe)["input_ids"] != other(probe)["input_ids"]:
            raise BadPair(f"the tokenizers have the same pieces but split text differently, for instance {probe!r}")
    return ours


def _tokenizer(source: Source) -> Any:
    return refused(BadModel, f"cannot load the tokenizer of {source.name!r}",
                   lambda: AutoTokenizer.from_pretrained(source.folder, trust_remote_code=False, local_files_only=True))


def checked_device(device: str) -> torch.device:
    """The device named by `device`, the first of several for "spread"; BadModel where it does not exist."""
    if device in ("auto", "spread"):
        device = "cuda" if torch.cuda.is_available() else "cpu"
    if not isinstance(device, str) or not re.fullmatch(r"cpu|cuda(:\d{1,2})?", device):
        raise BadModel(f"device {shown(device)} is not auto, spread, cpu, cuda or cuda:NUMBER")
    found = torch.device(device)
    if found.type == "cuda" and (found.index or 0) >= torch.cuda.device_count():
        raise BadModel(f"device {device!r} is not there: this machine has {torch.cuda.device_count()} CUDA devices")
    return torch.device("cuda", found.index or 0) if found.type == "cuda" else found  # a model on it names its number, too


def checked_dtype(dtype: str) -> tuple[torch.dtype, ...]:
    """The number types to choose from."""
    if not isinstance(dtype, str) or dtype not in ("auto", *DTYPES):
        raise BadModel(f"dtype {shown(dtype)} is not one of auto, {', '.join(DTYPES)}")
    return () if dtype == "auto" else (DTYPES[dtype],)


def local_bytes(folder: Path) -> int:
    """Bytes of the weights in `folder`. Raises BadModel where it has no whole set of safetensors."""
    names = [path.name for path in folder.glob("*.safetensors")]
    if not names:
        raise BadModel(f"{folder} holds no .safetensors file; other weight formats can run code and are not loaded")
    if not (weights := weight_files(names)):
        raise BadModel(f"{folder} holds {', '.join(sorted(names)[:3])}, but neither model.safetensors nor all shards of it")
    return sum((folder / name).stat().st_size for name in weights)


def refused(error: type[SequoiaError], what: str, load: Callable[[], Any]) -> Any:
    """`load()`; whatever it raises becomes `error` with the first lines of the reason. Other libraries raise anything."""
    try:
        return load()
    except SequoiaError:
        raise
    except torch.OutOfMemoryError as problem:
        raise OutOfMemory(f"{what}: {str(problem)[:200]}") from None
    except Exception as problem:
        raise error(f"{what}: {_one_line(problem)}") from problem


def _one_line(problem: Exception) -> str:
    return " ".join(str(problem).split())[:300]

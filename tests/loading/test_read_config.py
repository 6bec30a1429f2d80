"""What a training run leaves in a config is ignored: it changes neither outputs nor loading."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import decoded
import pytest
import torch
from fakes import save
from toy_models import random_model, toy_config

from sequoia import Pair, SamplingParams, Tree, load_pair, speculate
from sequoia.loading.folder_check import read_config
from sequoia.loading.model_checks import check_source
from sequoia.loading.read_weights import read_weights

LEFT: list[dict[str, Any]] = [
    {
        "output_attentions": True,
        "output_hidden_states": True,
        "output_router_logits": True,
        "return_dict": False,
        "use_return_dict": False,
        "use_cache": False,
        "torchscript": True,
        "gradient_checkpointing": True,
        "training": True,
        "pretraining_tp": 2,
        "max_length": 4,
        "_name_or_path": "/home/me/checkpoint-500",
        "_attn_implementation": "flash_attention_2",
        "attn_implementation": {"": "evil/kernels"},
        "_attn_implementation_internal": "flex_attention",
        "_experts_implementation": "evil/kernels",
        "experts_implementation": "grouped_mm",
        "_flash_attn_2_enabled": True,
        "attention_dropout": 0.5,
        "hidden_dropout": 0.5,
        "resid_pdrop": 0.5,
        "attn_pdrop": 0.5,
    },
    {
        "use_cache": None,
        "_attn_implementation": "kernels-community/flash-attn2",
        "attn_implementation": "flash_attention_3",
    },
]
KINDS = ("llama", "gpt2", "mixtral")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    base = tmp_path_factory.mktemp("good")
    return {kind: Path(save(random_model(toy_config(kind)), base / kind)) for kind in KINDS}


def loaded(folder: Path, draft: Path) -> Pair:
    return load_pair(
        target=str(folder),
        draft=str(draft),
        device="cpu",
        dtype="float32",
        on_progress=lambda _: None,
    )


def emitted(pair: Pair) -> list[int]:
    steps = speculate(pair, "def f(x):", SamplingParams(max_new_tokens=6), Tree.kary(2, 2))
    return decoded.emitted(steps)


@pytest.mark.parametrize("kind", KINDS)
def test_left_overs_change_nothing(kind: str, folders: dict[str, Path], tmp_path: Path) -> None:
    draft = folders["llama"]
    good = loaded(folders[kind], draft)
    for number, fields in enumerate(LEFT):
        folder = Path(shutil.copytree(folders[kind], tmp_path / str(number)))
        config = json.loads((folder / "config.json").read_text()) | fields
        (folder / "config.json").write_text(json.dumps(config))
        pair = loaded(folder, draft)
        assert pair.target.forward_name == good.target.forward_name, fields
        assert emitted(pair) == emitted(good), fields


def test_left_overs_of_the_text_part_are_ignored_too(tmp_path: Path) -> None:
    left = {"_attn_implementation": "evil/kernels", "use_cache": False, "output_attentions": True}
    fields = {"model_type": "llava", "text_config": {"model_type": "llama", **left}, **left}
    config = read_config(fields, tmp_path)
    for part in (config, config.text_config):
        assert part._attn_implementation is None
        assert part.output_attentions is False
    assert config.text_config.use_cache is True


def test_the_weights_are_read_with_the_config_that_was_checked(
    folders: dict[str, Path], tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(folders["llama"], tmp_path / "m"))
    source = check_source("m", folder)
    text = (folder / "config.json").read_text()
    (folder / "config.json").write_text(text.replace("1e-06", "0.5"))
    assert read_weights(source, torch.float32).config.rms_norm_eps == 1e-6
    assert source.config.name_or_path == str(folder)

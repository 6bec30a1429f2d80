"""Pairs whose draft has only layers of its own."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from decoded import emitted
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, AutoTokenizer

from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.tree import Tree
from sequoia.assets_folder import BUNDLED_PAIR
from sequoia.decoding.engine import Decoder, run
from sequoia.errors import BadModel, BadPair
from sequoia.loading.layer_drafts import (
    IDENTITY,
    Identity,
    cut_config,
    cut_layers,
    layer_draft,
    write_layers,
)
from sequoia.loading.load import load_pair
from sequoia.loading.model_checks import PassedCheck
from sequoia.models.pair import Pair

TARGET = BUNDLED_PAIR / "target"
LAYERS = [0, 1, 7]
FEW = torch.arange(0, 4096, 3)


def written(folder: Path, frequent: torch.Tensor | None = None) -> Path:
    """A draft of three layers of the bundled target."""
    target = AutoModelForCausalLM.from_pretrained(TARGET, dtype=torch.bfloat16)
    tokenizer = AutoTokenizer.from_pretrained(TARGET)
    draft = layer_draft(target, cut_config(target.config, LAYERS), cut_layers(target, LAYERS))
    write_layers(folder, draft, Identity.of("some/target", target, tokenizer, LAYERS), frequent)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("draft"))


def loaded(folder: Path, target: Path = TARGET, **options: Any) -> tuple[Pair, str]:
    """The pair, and the words of its checks."""
    news = list[Any]()
    pair = load_pair(
        target=str(target), draft=str(folder), device="cpu", on_progress=news.append, **options
    )
    return pair, "\n".join(one.words for one in news if isinstance(one, PassedCheck))


def copied(folder: Path, to: Path, **changes: Any) -> Path:
    """A copy of the draft, with changes to the identity of its target."""
    shutil.copytree(folder, to)
    identity = json.loads((to / IDENTITY).read_text())
    (to / IDENTITY).write_text(json.dumps(identity | changes))
    return to


def test_the_draft_shares_everything_but_its_layers(folder: Path) -> None:
    pair, words = loaded(folder, dtype="bfloat16")
    assert pair.draft.config.num_hidden_layers == 3
    assert pair.draft.hf.lm_head.weight is pair.target.hf.lm_head.weight
    assert pair.draft.hf.model.embed_tokens is pair.target.hf.model.embed_tokens
    assert "layers 0, 1 and 7 of some/target, trained further" in words
    assert sum(path.stat().st_size for path in folder.iterdir()) < 12e6  # of 31 MB


def test_greedy_output_is_that_of_the_target_alone(folder: Path, tmp_path: Path) -> None:
    """Whatever tokens the draft rules out, and in whatever dtype it runs."""
    for draft in (folder, written(tmp_path, FEW)):
        pair, _ = loaded(draft, dtype="float32")
        params = SamplingParams(temperature=0, max_new_tokens=24)
        plain, tree = (
            emitted(run(Decoder(pair, "def main():", params, shape)))
            for shape in (Tree.chain(1), Tree((-1, 0, 0, 0, 1, 1, 4)))
        )
        assert tree == plain
    assert pair.draft.vocab == pair.target.vocab == 4096
    drafted = pair.draft.open(8).extend([5, 6, 7]).isfinite()
    assert drafted.nonzero()[:, 0].tolist() == FEW.tolist()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"hidden": 576}, "an embedding of width 576; this target has 384"),
        ({"tokens": "0" * 64}, "a tokenizer whose tokens have the hash"),
    ],
)
def test_a_draft_of_another_model_is_refused(
    folder: Path, tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    with pytest.raises(BadPair, match=words):
        loaded(copied(folder, tmp_path / "draft", **change))


def test_a_draft_without_its_target_is_refused(folder: Path) -> None:
    with pytest.raises(BadModel, match="layers only"):
        load_pair(target=str(folder), draft=str(BUNDLED_PAIR / "draft"), device="cpu")


@pytest.mark.parametrize("text", ["", '{"target": 1}'])
def test_a_damaged_identity_is_refused(folder: Path, tmp_path: Path, text: str) -> None:
    draft = copied(folder, tmp_path / "draft")
    (draft / IDENTITY).write_text(text)
    with pytest.raises(BadModel, match=IDENTITY):
        loaded(draft)


def damaged(folder: Path, to: Path, change: Any) -> Path:
    """A copy of the draft whose tensors went through `change`."""
    draft = copied(folder, to)
    for path in draft.glob("*.safetensors"):
        tensors = load_file(path)
        change(tensors)
        save_file(tensors, path, {"format": "pt"})
    return draft


def _lose(tensors: dict[str, torch.Tensor]) -> None:
    tensors.pop("model.layers.0.mlp.up_proj.weight", None)


def _far(tensors: dict[str, torch.Tensor]) -> None:
    tensors["frequent_tokens"] = torch.tensor([5, 5000])


@pytest.mark.parametrize("change", [_lose, _far])
def test_damaged_layers_are_refused(folder: Path, tmp_path: Path, change: Any) -> None:
    with pytest.raises(BadModel):
        loaded(damaged(folder, tmp_path / "draft", change))

"""Weight files whose tensors are not exactly those of the model. `transformers` would fill a
missing tensor with random numbers; here the model is refused."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from fake_gpus import LAYERS, fake_two_gpus
from fakes import WIDTH, save, tiny_model
from safetensors.torch import load_file, save_file
from toy_models import random_model, toy_config

from sequoia.errors import BadModel
from sequoia.loading.load import load_pair
from sequoia.loading.model_checks import check_source
from sequoia.loading.read_weights import read_weights, refuse_not_finite

Tensors = dict[str, torch.Tensor]
ONE = torch.ones(1)
PROJECTION = "model.layers.1.mlp.up_proj.weight"
ALL_OF_THEM = 4 * 9 + 3  # tensors of a llama of four layers
PATHS = {
    "target": {},
    "draft": {},
    "auto": {"dtype": "auto"},
    "offload": {"offload": 1},
    "spread": {"device": "spread"},
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A folder of each kind of model. The tests below remove tensors from copies, or add some."""
    base = tmp_path_factory.mktemp("whole")
    kinds = {
        kind: tiny_model(kind, layers=LAYERS) for kind in ("llama", "qwen2", "gpt2", "gpt_neox")
    }
    kinds["mixtral"] = random_model(toy_config("mixtral"))
    return {kind: save(model, base / kind) for kind, model in kinds.items()}


@pytest.fixture
def edited(folders: dict[str, str], tmp_path: Path) -> Callable[..., str]:
    """edited(kind, edit) copies the folder of `kind` to a folder called "m", and replaces its
    tensors by what `edit` makes of them."""

    def make(kind: str, edit: Callable[[Tensors], Tensors]) -> str:
        folder = tmp_path / "m"
        shutil.copytree(folders[kind], folder)
        file = folder / "model.safetensors"
        save_file(edit(load_file(file)), file, metadata={"format": "pt"})
        return str(folder)

    return make


def without(*parts: str) -> Callable[[Tensors], Tensors]:
    return lambda tensors: {
        name: one for name, one in tensors.items() if not any(part in name for part in parts)
    }


def with_more(*names: str) -> Callable[[Tensors], Tensors]:
    return lambda tensors: tensors | {name: ONE.clone() for name in names}


def read(folder: str) -> Any:
    return read_weights(check_source(folder, Path(folder)), torch.float32)


def load(path: str, odd: str, good: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Load a pair. `odd` is the folder of the draft if `path` is "draft", and of the target
    otherwise. `path` is a key of PATHS."""
    folders = {"target": good, "draft": odd} if path == "draft" else {"target": odd, "draft": good}
    if path == "spread":
        fake_two_gpus(["cpu", "disk"] * 2, monkeypatch)
    load_pair(**folders, **{"device": "cpu", "dtype": "float32", **PATHS[path]})


# -- every way of loading, for target and draft ----------------------------------------------------

FAULTS = {
    "one missing": (
        without(PROJECTION),
        rf"m: its files lack 1 tensor that the model needs: {PROJECTION}",
    ),
    "all missing": (
        lambda _: {"other": torch.ones(3)},
        rf"m: its files lack {ALL_OF_THEM} tensors .*: lm_head\.weight, .*, \.\.\.",
    ),
    "another shape": (
        lambda tensors: tensors | {"model.norm.weight": torch.ones(3)},
        (
            r"m: its files contain 1 tensor with a shape that does not fit .* model\.norm\.weight: "
            rf"3 instead of {WIDTH}"
        ),
    ),
    "one too many": (
        with_more("model.layers.1.mlp.up_proj.bias"),
        (
            r"its files contain 1 tensor that a model with its config does not have: "
            r"model\.layers\.1\.mlp\.up_proj\.bias"
        ),
    ),
}


@pytest.mark.parametrize(
    ("path", "fault"),
    [*(("target", fault) for fault in FAULTS), *((path, "one missing") for path in PATHS)],
)
def test_every_way_of_loading_refuses_wrong_tensors(
    path: str,
    fault: str,
    folders: dict[str, str],
    edited: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    edit, reason = FAULTS[fault]
    with pytest.raises(BadModel, match=reason):
        load(path, edited("llama", edit), folders["llama"], monkeypatch)


# -- what is refused, and why ----------------------------------------------------------------------

W1 = "layers.0.block_sparse_moe.experts.2.w1"
EXPERT = "layers.0.block_sparse_moe.experts.2."
REFUSED: dict[str, tuple[str, Callable[[Tensors], Tensors], str]] = {
    "part of an expert": (
        "mixtral",
        without(W1),
        r"cannot be merged into those the model needs, because one of them",
    ),
    "an expert": (
        "mixtral",
        without(EXPERT),
        r"2 tensors with a shape that does not fit .*: 3 x 32 x 64 instead of 4 x 32 x 64",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_refusal_names_the_model(what: str, edited: Callable[..., str]) -> None:
    """The message starts with the model's name and says which tensors are wrong, or what is
    wrong with them."""
    kind, edit, reason = REFUSED[what]
    with pytest.raises(BadModel, match=reason) as caught:
        read(edited(kind, edit))
    assert str(caught.value).startswith("m: ")
    assert len(str(caught.value)) < 300


# -- what is allowed -------------------------------------------------------------------------------


def renamed(tensors: Tensors) -> Tensors:
    """The tied matrix under the head's name."""
    return {name.replace("model.embed_tokens", "lm_head"): one for name, one in tensors.items()}


def copied(tensors: Tensors) -> Tensors:
    return {name: one.clone() for name, one in tensors.items()}


@pytest.mark.parametrize(
    "edit",
    [dict, renamed, lambda tensors: tensors | copied(renamed(tensors))],
    ids=["embedding", "head", "both"],
)
def test_a_tied_matrix_may_be_stored_under_either_name(
    edit: Callable[[Tensors], Tensors], folders: dict[str, str], edited: Callable[..., str]
) -> None:
    found = read(edited("qwen2", edit))
    assert found.lm_head.weight is found.model.embed_tokens.weight
    assert torch.equal(found.lm_head.weight, read(folders["qwen2"]).lm_head.weight)


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("gpt2", ["transformer.h.0.attn.bias", "transformer.h.0.attn.masked_bias"]),
        ("gpt_neox", ["gpt_neox.layers.0.attention.rotary_emb.inv_freq"]),
        ("llama", ["model.rotary_emb.original_inv_freq"]),
        ("llama", ["vision_tower.layers.0.up.weight", "projector.weight", "model.mtp.0.w"]),
    ],
)
def test_tensors_that_are_computed_or_of_other_parts_may_be_stored(
    kind: str, names: list[str], edited: Callable[..., str]
) -> None:
    """Earlier versions of `transformers` stored masks and tables; a vision tower or prediction
    heads are not needed to continue a text."""
    read(edited(kind, with_more(*names)))


# -- NaN and infinity ------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("value", [float("nan"), float("-inf")])
def test_one_nan_or_infinity_is_found_in_every_dtype(value: float, dtype: torch.dtype) -> None:
    model = tiny_model().to(dtype)
    refuse_not_finite(model, "m")
    with torch.no_grad():
        model.model.layers[1].mlp.up_proj.weight[63, 31] = value
    says = r"^m: model\.layers\.1\.mlp\.up_proj\.weight contains NaN or infinity"
    with pytest.raises(BadModel, match=says):
        refuse_not_finite(model, "m")


def test_numbers_too_large_for_float16_are_named_as_such() -> None:
    model = tiny_model()
    with torch.no_grad():
        model.lm_head.weight[5, 5] = 1e5
    refuse_not_finite(model, "m")
    with pytest.raises(BadModel, match="or too large for float16: then load the model in another"):
        refuse_not_finite(model.to(torch.float16), "m")

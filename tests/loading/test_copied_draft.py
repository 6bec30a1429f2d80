"""A pair whose draft is a copy of the target with rounded weights."""

from __future__ import annotations

import types
from pathlib import Path
from typing import Any

import psutil
import pytest
from decoded import emitted
from fakes import save, tiny_model
from toy_models import random_model, toy_config
from transformers import AutoModelForCausalLM

from sequoia import Pair, SamplingParams, Tree, plain, speculate
from sequoia.errors import BadModel, BadPair, OutOfMemory
from sequoia.loading.load import load_pair
from sequoia.loading.pair_request import PairRequest
from sequoia.models.rounded_copy import ROUNDED

GREEDY = SamplingParams(max_new_tokens=24, ignore_eos=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return save(tiny_model(), tmp_path_factory.mktemp("models") / "big")


def load(folder: str, draft: str, **options: Any) -> Pair:
    return load_pair(target=folder, draft=draft, device="cpu", online=False, **options)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("numbers", ROUNDED)
def test_greedy_text_is_that_of_plain_decoding(numbers: str, dtype: str, folder: str) -> None:
    pair = load(folder, numbers, dtype=dtype)
    assert pair.draft.numbers == numbers
    assert pair.draft.name == f"big in {numbers}"
    for tree in (Tree.chain(4), Tree.kary(3, 3)):
        steps = [*speculate(pair, "def f(x):", GREEDY, tree)]
        assert emitted(steps) == emitted(plain(pair, "def f(x):", GREEDY))
        assert len(steps) < 0.7 * GREEDY.max_new_tokens


def test_a_streamed_target_has_a_copy_that_is_not_streamed(folder: str) -> None:
    pair = load(folder, "int8", offload=1, dtype="float32")
    assert "streamed" in pair.target.placement
    assert pair.draft.placement == ""
    steps = [*speculate(pair, "def f(x):", GREEDY, Tree.chain(4))]
    assert emitted(steps) == emitted(plain(pair, "def f(x):", GREEDY))


def test_the_weights_are_read_once(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read = []
    usual = AutoModelForCausalLM.from_pretrained

    def counted(*args: Any, **named: Any) -> Any:
        read.append(args)
        return usual(*args, **named)

    monkeypatch.setattr(AutoModelForCausalLM, "from_pretrained", counted)
    pair = load(folder, "int8", dtype="float32")
    assert len(read) == 1
    embeddings = [one.hf.get_input_embeddings().weight for one in (pair.target, pair.draft)]
    assert embeddings[0].data_ptr() == embeddings[1].data_ptr()


def test_the_bundled_target_with_its_copy() -> None:
    """The rates recorded for the bundled draft do not hold for the copy."""
    pair = load_pair(draft="int8", device="cpu", online=False)
    assert (pair.draft.name, pair.known) == ("target in int8", ())
    assert pair.begin == (pair.tokenizer.bos_token_id,)
    assert pair.draft.parameters == pair.target.parameters
    assert pair.draft.forward_name == pair.target.forward_name


def test_what_a_request_means() -> None:
    assert PairRequest(draft="int8").models == PairRequest().models[:1]
    assert PairRequest("qwen3-8b", draft="int4").models == PairRequest("qwen3-8b").models[:1]
    assert PairRequest(target="a/b", draft="int8").title == "a/b with a copy in int8"
    assert PairRequest(target="a/b", draft="int8").models == ("a/b",)
    for draft in ("int3", "INT8", "int8 ", ["int8"]):
        with pytest.raises(BadPair, match="as the draft, int8 or int4 means a copy"):
            PairRequest(draft=draft)  # pyright: ignore[reportArgumentType]


@pytest.mark.usefixtures("no_weights")
def test_a_mixture_of_experts_is_refused(tmp_path: Path) -> None:
    """Its experts are not linear layers."""
    folder = save(random_model(toy_config("mixtral")), tmp_path / "experts")
    with pytest.raises(BadModel, match=r"draft int8: only \d+% of experts's weights are in linear"):
        load(folder, "int8")


@pytest.mark.usefixtures("no_weights")
def test_memory_for_the_copy_is_counted(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is room for the target, not for its copy too."""
    target = (Path(folder) / "model.safetensors").stat().st_size
    free = types.SimpleNamespace(available=int(1.2 * target))
    monkeypatch.setattr(psutil, "virtual_memory", lambda: free)
    with pytest.raises(OutOfMemory, match="the two models need about"):
        load(folder, "int8", dtype="float32")

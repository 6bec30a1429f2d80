"""Loading: whatever is unknown, unsafe or cannot run is refused with the reason. Where possible,
this happens before the weights are loaded."""

from __future__ import annotations

import json
import pickle
import shutil
import types
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest
import torch
from fakes import save, tiny_model, tiny_tokenizer
from transformers import (
    AutoModelForCausalLM,
    GraniteMoeHybridConfig,
    MistralConfig,
    PretrainedConfig,
)

from sequoia import Acceptance, SamplingParams, Tree, speculate
from sequoia.errors import BadModel, BadPair, OutOfMemory, Stopped
from sequoia.loading.find_pair import LoadNews
from sequoia.loading.load import load_pair, loaded_bytes, recorded_acceptances
from sequoia.loading.model_checks import (
    PassedCheck,
    Source,
    check_source,
    checked_device,
)
from sequoia.loading.model_families import refuse_unfit
from sequoia.models.pair import RecordedAcceptance
from sequoia.this_machine import dtypes, gpu_health


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Folders of a target and a draft that load."""
    base = tmp_path_factory.mktemp("good")
    return save(tiny_model(seed=0), base / "target"), save(tiny_model(seed=1), base / "draft")


def load(target: str, draft: str, **options: Any) -> Any:
    return load_pair(target=target, draft=draft, **{"device": "cpu", "dtype": "float32", **options})


def source_of(folder: str) -> Source:
    return check_source(folder, Path(folder))


# -- requests --------------------------------------------------------------------------------------

UNKNOWN = r"unknown pair .*known: bundled, smollm2"
HALF = "must be given together, but got draft=.* and target="
NAMED = "named by a folder or a Hugging Face id"
DEVICE = "device .* is not auto, spread, cpu, cuda or cuda:NUMBER"
DTYPE = "dtype .* is not one of auto, float32, bfloat16, float16"


@pytest.mark.usefixtures("no_weights")
@pytest.mark.parametrize(
    ("request_", "error", "words"),
    [
        *(({"name": name}, BadModel, UNKNOWN) for name in ("nope", "x" * 10_000, None)),
        *(({role: "gpt2"}, BadPair, HALF) for role in ("draft", "target")),
        *(({"target": name, "draft": "int8"}, BadModel, NAMED) for name in ("", 5, "x" * 501)),
        *(({"device": one}, BadModel, DEVICE) for one in ("tpu", "meta", "cuda:-1", None)),
        *(({"dtype": one}, BadModel, DTYPE) for one in ("int8", None, torch.float32)),
        ({"name": "nope", "target": "a", "draft": "b"}, BadPair, "got the name 'nope' and target"),
        ({"should_stop": lambda: True}, Stopped, "stopped before the weights"),
    ],
)
def test_what_cannot_be_loaded_is_refused_with_the_value(
    request_: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words) as caught:
        load_pair(**{"device": "cpu", "dtype": "float32", **request_})
    assert len(str(caught.value)) < 300


# -- configs ---------------------------------------------------------------------------------------


FULL = ["full_attention"] * 2


@pytest.mark.parametrize(
    "config",
    [
        MistralConfig(sliding_window=None),
        MistralConfig(sliding_window=4096, max_position_embeddings=4096),
        GraniteMoeHybridConfig(
            num_hidden_layers=2, layer_types=FULL, hidden_size=64, mamba_n_heads=8
        ),
    ],
    ids=lambda config: config.model_type,
)
def test_layers_that_see_the_whole_context_are_allowed(config: PretrainedConfig) -> None:
    """No layer uses the window or the state that the config describes."""
    refuse_unfit("m", config)


@pytest.mark.parametrize(
    ("narrowest", "expected"),
    [(torch.bfloat16, "bfloat16"), (torch.float32, "float32")],
)
def test_the_dtypes_on_a_cpu_follow_from_its_narrowest_fast_one(
    narrowest: torch.dtype,
    expected: str,
    good: tuple[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(dtypes, "narrowest_dtype", lambda _: narrowest)
    pair = load(*good, dtype="auto")
    assert (pair.target.numbers, pair.draft.numbers) == (expected, expected)


# -- files -----------------------------------------------------------------------------------------


class Bomb:
    """A pickle that writes a file when it is read."""

    def __init__(self, mark: Path) -> None:
        self._mark = str(mark)

    def __reduce__(self) -> tuple:
        return Path.touch, (Path(self._mark),)


@pytest.mark.usefixtures("no_weights")
def test_weights_that_could_run_code_are_not_loaded(tmp_path: Path, good: tuple[str, str]) -> None:
    folder = tmp_path / "pickled"
    shutil.copytree(good[0], folder)
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Bomb(tmp_path / "ran")))
    with pytest.raises(
        BadModel,
        match=r"no \.safetensors file, only .*; other formats .* pickles",
    ):
        load(str(folder), good[1])
    assert not (tmp_path / "ran").exists()
    pickle.loads((folder / "pytorch_model.bin").read_bytes())
    assert (tmp_path / "ran").exists(), "reading the pickle left no trace, so this proves nothing"


@pytest.mark.parametrize("model_type", ["llama", "evil"])
@pytest.mark.parametrize("key", ["AutoConfig", "AutoTokenizer"])
def test_code_that_comes_with_a_model_is_never_run(
    key: str, model_type: str, tmp_path: Path, good: tuple[str, str]
) -> None:
    folder = tmp_path / "remote"
    shutil.copytree(good[0], folder)
    (folder / "evil.py").write_text(
        f"open({str(tmp_path / 'ran')!r}, 'w')\nclass Evil:\n    pass\n", encoding="utf-8"
    )
    name = ["evil.Evil", "evil.Evil"] if key == "AutoTokenizer" else "evil.Evil"
    for file in ("config.json", "tokenizer_config.json"):
        data = json.loads((folder / file).read_text(encoding="utf-8")) | {"auto_map": {key: name}}
        data |= {"model_type": model_type} if file == "config.json" else {}
        (folder / file).write_text(json.dumps(data), encoding="utf-8")
    if model_type == "evil":
        with pytest.raises(BadModel, match=r"remote"):
            load(str(folder), good[1])
    else:
        load(str(folder), good[1])
    assert not (tmp_path / "ran").exists()


# -- tokenizers ------------------------------------------------------------------------------------


def test_models_with_fewer_tokens_than_the_tokenizer_are_refused(tmp_path: Path) -> None:
    folder = save(tiny_model(vocab=280), tmp_path / "small", tiny_tokenizer(288))
    with pytest.raises(
        BadPair, match=r"the tokenizer has 288 tokens, but the target has 280 and the draft 280"
    ):
        load(folder, folder)


# -- machine ---------------------------------------------------------------------------------------


def test_a_cuda_device_with_too_high_a_number_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    assert checked_device("cuda:0") == checked_device("cuda") == torch.device("cuda:0")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr("sequoia.loading.model_checks.unusable_gpu", lambda: "")
    assert checked_device("auto") == checked_device("spread") == torch.device("cuda:0")
    with pytest.raises(BadModel, match=r"'cuda:1' does not exist: this machine has 1 CUDA device$"):
        checked_device("cuda:1")


def test_a_card_that_runs_nothing_is_not_used_unless_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """An example is a card that torch lists although it is too old for this build of torch."""

    def ones(*_: object, **__: object) -> None:
        raise RuntimeError("CUDA error: no image\nCompile with...")

    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch, "ones", ones)
    gpu_health.unusable_gpu.cache_clear()
    assert [checked_device("auto") for _ in range(2)] == [torch.device("cpu")] * 2
    assert checked_device("cuda") == torch.device("cuda:0")
    with pytest.raises(
        BadModel,
        match=r"'spread' uses all GPUs, but the first cannot compute \(CUDA error: no image",
    ):
        checked_device("spread")
    gpu_health.unusable_gpu.cache_clear()
    assert [record.getMessage() for record in caplog.records] == [
        "the graphics card is not used, because it runs no kernel: CUDA error: no image"
    ]


@pytest.mark.usefixtures("no_weights")
def test_too_little_free_memory_is_reported_before_the_weights(
    good: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(psutil, "virtual_memory", lambda: types.SimpleNamespace(available=200_000))
    with pytest.raises(
        OutOfMemory, match=r"the two models need about [\d.]+ MB on cpu; 0\.2 MB is free"
    ):
        load(*good)


def test_memory_is_counted_in_the_dtype_in_use(tmp_path: Path) -> None:
    """Weights stored in bfloat16 take twice as many bytes when they are loaded as float32. On a
    CPU, small models also take as many bytes as packed weights, and 4 for each parameter while the
    faster forward is tested."""
    half = source_of(save(tiny_model().bfloat16(), tmp_path / "half"))
    whole = source_of(save(tiny_model(), tmp_path / "whole"))
    assert half.weight_bytes == (tmp_path / "half" / "model.safetensors").stat().st_size
    large = replace(half, weight_bytes=2**40)
    for device, source, dtype, each in (
        ("cuda", half, torch.float32, 4),
        ("cuda", half, torch.bfloat16, 2),
        ("cuda", whole, torch.bfloat16, 4),
        ("cpu", half, torch.bfloat16, 2 + 2 + 4),
        ("cpu", half, torch.float32, 4 + 4 + 4),
        ("cpu", large, torch.bfloat16, 2),
    ):
        parameters = source.weight_bytes // source.stored_dtype.itemsize
        assert loaded_bytes(source, torch.device(device), dtype) == each * parameters


def test_running_out_of_memory_while_loading_is_reported(
    good: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise torch.OutOfMemoryError("tried to allocate 20 GiB")

    monkeypatch.setattr(AutoModelForCausalLM, "from_pretrained", full)
    with pytest.raises(OutOfMemory, match=r"cannot load .*target.*20 GiB"):
        load(*good)


# -- reports, padded vocabularies and stopping -----------------------------------------------------


def test_a_vocabulary_that_is_only_padded_is_cut(tmp_path: Path) -> None:
    """No token that pads the larger vocabulary is drafted or emitted."""
    tokenizer = tiny_tokenizer(280)
    target = tiny_model(vocab=320)
    with torch.no_grad():
        target.lm_head.weight[288:] *= 20  # without the cut, a padding token would win
    folders = (
        save(target, tmp_path / "320", tokenizer),
        save(tiny_model(vocab=288), tmp_path / "288", tokenizer),
    )
    reported = list[LoadNews]()
    pair = load(*folders, on_progress=reported.append)
    assert pair.target.vocab == pair.draft.vocab == 288
    words = [news.words for news in reported if isinstance(news, PassedCheck)]
    assert any("32 more tokens of the target are padding" in one for one in words)
    params = SamplingParams(max_new_tokens=12, ignore_eos=True)
    steps = [*speculate(pair, "def f(x):", params, Tree.kary(2, 3))]
    assert max(max(*step.tokens, *step.emitted) for step in steps) < 288
    with torch.inference_mode():
        ids = torch.tensor([pair.encode("def f(x):")])
        assert int(pair.target.hf(ids).logits[0, -1].argmax()) >= 288


# -- shipped figures -------------------------------------------------------------------------------


def test_shipped_acceptance_is_read_by_temperature(tmp_path: Path) -> None:
    file = tmp_path / "acceptance.json"
    rows = [
        {"temperature": 0, "rates": [0.5, 0.2], "kind": "code", "agreement": 0.7},
        {"temperature": 1, "rates": [0.4], "fitted": {"rates": [0.3]}},
    ]
    file.write_text(json.dumps({"measured": rows}), encoding="utf-8")
    assert recorded_acceptances(file) == (
        RecordedAcceptance(0.0, Acceptance((0.5, 0.2)), "code", 0.7),
        RecordedAcceptance(1.0, Acceptance((0.3,))),
    )

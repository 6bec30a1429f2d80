"""The models view's handlers: what is shown, chosen, refused and loaded, with tiny local models
and hostile values."""

from __future__ import annotations

import asyncio
import html
import json
import threading
from collections.abc import AsyncIterable, Callable
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import fakes
import gradio as gr
import psutil
import pytest
import torch
from visits import Reading, laid_out, request, wait

from sequoia import Pair
from sequoia.errors import BadModel, Stopped
from sequoia.loading import model_checks
from sequoia.loading.download import DownloadProgress
from sequoia.loading.model_families import known_types
from sequoia.loading.pair_request import PairRequest, presets
from ui import page
from ui.hardware.form import NONE, FormValues
from ui.hardware.tab import HERE, HardwareTab
from ui.lab.tab import LabTab
from ui.models import load_job
from ui.models import view as models_view
from ui.models.load_job import OWN, LoadJob, field_of, requested_pair
from ui.models.tab import FORM, ModelsTab
from ui.run.decode_job import DecodeJob
from ui.run.tab import RunTab
from ui.serving.limits import LOCAL, PUBLIC
from ui.serving.model_host import ModelHost

Maker = Callable[..., DecodeJob]
CHAT = (
    "{% for m in messages %}<|begin|>{{ m.role }}\n{{ m.content }}<|endoftext|>\n{% endfor "
    "%}<|begin|>assistant\n"
)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """A target with a padded vocabulary and its draft, both with a chat template."""
    base = tmp_path_factory.mktemp("models")
    tokenizer = fakes.tiny_tokenizer()
    tokenizer.chat_template = CHAT
    return (
        fakes.save(fakes.tiny_model("qwen3", vocab=320), base / "big", tokenizer),
        fakes.save(fakes.tiny_model("qwen3", seed=1), base / "small", tokenizer),
    )


@pytest.fixture
def tab(model_host: ModelHost) -> ModelsTab:
    return built(model_host)


def built(model_host: ModelHost, limits: Any = LOCAL) -> ModelsTab:
    tab = ModelsTab(model_host, limits, online=False)
    with laid_out():
        tab.build()
    return tab


def filled(tab: ModelsTab, **changes: Any) -> dict[Any, Any]:
    values = {
        "pair": "bundled",
        "target": "",
        "draft": "",
        "device": "cpu",
        "dtype": "float32",
        "offload": False,
        **changes,
    }
    return {getattr(tab, name): values[name] for name in FORM}


def own(tab: ModelsTab, folders: tuple[str, str], **changes: Any) -> dict[Any, Any]:
    return filled(tab, pair=OWN, target=folders[0], draft=folders[1], **changes)


def board_messages(tab: ModelsTab, updates: AsyncIterable[dict[Any, Any]]) -> list[dict[str, Any]]:
    """All messages for the board."""
    return [json.loads(one[tab.board]) for one in Reading(updates) if tab.board in one]


def refusal(tab: ModelsTab, updates: AsyncIterable[dict[Any, Any]]) -> str:
    """The error at the form. A refused request must show nothing else."""
    (update,) = Reading(updates)
    assert json.loads(update[tab.board])["load"] is None
    assert update[tab.problem]["visible"] is True
    return html.unescape(update[tab.problem]["value"])


# -- showing ---------------------------------------------------------------------------------------


def test_it_shows_all_pairs_the_machine_and_the_models_in_use(tab: ModelsTab, pair: Pair) -> None:
    async def first() -> str:
        return await anext(tab.come())

    shown = json.loads(asyncio.run(first()))
    assert [row["name"] for row in shown["pairs"]] == [one.name for one in presets()]
    assert shown["loaded"]["vocab"] == pair.target.vocab
    assert shown["loaded"]["notes"][0][0] == "Chat template"
    assert shown["machine"]["online"] is False
    row = next(row for row in shown["pairs"] if row["name"] == "llama-2-7b")
    assert row["gated"] == ["meta-llama/Llama-2-7b-hf"]
    why = "its small model is a pickle file, which can run code when it is opened"
    assert row["why_not"] == why
    assert "the converted one under “Small model”" in row["note"]
    assert shown["loaded"]["target"]["forward"] == pair.target.forward_words
    assert "Llama 2 Community License" in row["licences"]
    assert row["disk"]["words"] == "fits" or row["disk"]["fits"] == "no"


def test_it_lists_every_model_type_with_its_result_in_words(tab: ModelsTab) -> None:
    async def first() -> str:
        return await anext(tab.come())

    shown = json.loads(asyncio.run(first()))["types"]
    rows = {row["name"]: row for row in shown["rows"]}
    assert len(rows) == len(known_types().types)
    assert rows["llama"] == {"name": "llama", "result": "runs", "words": "runs"}
    assert rows["xlm"]["words"].startswith("refused: it builds its own attention mask")
    assert (
        f"transformers {known_types().transformers} can load {len(rows)} model types"
        in shown["summary"]
    )


@pytest.mark.parametrize(
    ("dtype", "fits"), [("bfloat16", True), ("float32", False), ("auto", False)]
)
def test_the_memory_of_a_pair_depends_on_the_precision_in_the_form(
    dtype: str, fits: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = SimpleNamespace(total=8e9, available=8e9)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: memory)
    monkeypatch.setattr(models_view, "narrowest_dtype", lambda _: torch.float32)
    said = "too large in float32: needs 8.*; choose a smaller pair or another precision"
    refusal = nullcontext() if fits else pytest.raises(BadModel, match=said)
    with refusal:
        models_view.require_fit(PairRequest("smollm2-1.7b", device="cpu", dtype=dtype))


@pytest.mark.parametrize(("gpus", "device", "fits"), [(2, "auto", True), (2, "cuda", False)])
def test_a_pair_may_be_spread_over_all_gpus_unless_one_gpu_is_chosen(
    gpus: int, device: str, fits: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    card = SimpleNamespace(total_memory=12e9)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: gpus)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: card)
    monkeypatch.setattr(model_checks, "unusable_gpu", lambda: "")
    monkeypatch.setattr(models_view, "free_bytes", lambda _: 11.5e9)
    monkeypatch.setattr(models_view, "narrowest_dtype", lambda _: torch.bfloat16)
    refusal = nullcontext() if fits else pytest.raises(BadModel, match=r"the GPU has 12\.0 GB")
    with refusal:
        models_view.require_fit(PairRequest("qwen3-8b", device=device))


@pytest.mark.parametrize(
    ("name", "card", "fits"),
    [
        ("qwen3-32b-offload", 24e9, True),
        ("qwen3-32b-offload", 16e9, False),
    ],
)
def test_a_streamed_pair_needs_a_gpu_with_room_for_its_draft_and_a_fifth_of_its_target(
    name: str, card: float, fits: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = {"cuda": card, "cpu": 100e9}
    monkeypatch.setattr(models_view, "total_bytes", lambda device: memory[device.type])
    monkeypatch.setattr(models_view, "free_bytes", lambda device: memory[device.type])
    monkeypatch.setattr(models_view, "checked_device", lambda _: torch.device("cuda", 0))
    monkeypatch.setattr(models_view, "narrowest_dtype", lambda _: torch.bfloat16)
    refusal = nullcontext() if fits else pytest.raises(BadModel, match="needs a GPU with")
    with refusal:
        models_view.require_fit(PairRequest(name, device="cuda", offload=True))


@pytest.mark.parametrize("name", ["qwen3-8b", "qwen3-32b-offload"])
def test_a_pair_of_the_table_is_copied_to_the_form(tab: ModelsTab, name: str) -> None:
    updates = tab.choose(SimpleNamespace(_data={"pair": name}))
    assert updates[tab.pair] == name
    assert updates[tab.target]["visible"] is False
    assert updates[tab.offload]["value"] is (name == "qwen3-32b-offload")


@pytest.mark.parametrize("data", [None, {"pair": "nope"}, {"pair": ["bundled"]}])
def test_an_invalid_choice_changes_nothing(tab: ModelsTab, data: Any) -> None:
    assert tab.choose(SimpleNamespace(_data=data)) == {tab.pair: gr.skip()}


# -- asking ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"pair": "nope"}, "unknown pair 'nope'; known: bundled"),
        ({"pair": OWN, "target": "a/b"}, "draft: enter a folder"),
        ({"pair": OWN, "target": ["a"], "draft": "b"}, "not a list"),
        ({"pair": OWN, "target": "x" * 501, "draft": "b"}, "Hugging Face id"),
        ({"pair": OWN, "target": "a/b", "draft": "x.gguf"}, "draft: 'x.gguf' is a GGUF file"),
        ({"dtype": "int3"}, "dtype 'int3'"),
    ],
)
def test_the_refusal_of_a_bad_request_is_shown_only_at_the_form(
    tab: ModelsTab, model_host: ModelHost, popups: list[str], changes: Any, says: str
) -> None:
    before = model_host.version
    assert says in refusal(tab, tab.change(filled(tab, **changes), request()))
    assert popups == []
    assert model_host.version == before


def test_a_visitor_of_the_network_cannot_load_models(
    tab: ModelsTab, folders: tuple[str, str]
) -> None:
    asked = request(client="192.168.1.9")
    assert "owner's link" in refusal(tab, tab.change(own(tab, folders), asked))
    assert tab.sessions.get("one") is None


def test_a_pair_that_the_table_calls_too_large_is_refused_before_anything_is_fetched(
    tab: ModelsTab, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = SimpleNamespace(total=8e9, available=8e9)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: memory)
    monkeypatch.setattr(LoadJob, "start", lambda *_: pytest.fail("loading was begun"))
    said = refusal(tab, tab.change(filled(tab, pair="qwen3-8b"), request()))
    assert "qwen3-8b does not fit this machine (too large in " in said
    said = refusal(tab, tab.change(filled(tab, pair="qwen3-32b-offload"), request()))
    assert "(needs a GPU with " in said


def test_visitors_of_a_public_page_load_nothing(
    model_host: ModelHost, folders: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their page has no Models drawer, and its handler refuses requests anyway."""
    monkeypatch.setattr(LoadJob, "start", lambda *_: pytest.fail("loading was begun"))
    tab = built(model_host, PUBLIC)
    for data in (own(tab, folders), filled(tab), filled(tab, pair="smollm2-1.7b")):
        assert "serves only one pair" in refusal(tab, tab.change(data, request()))
    blocks = page.page(model_host, PUBLIC)
    assert "pg-models" not in [block.elem_id for block in blocks.blocks.values()]
    names = [fn.api_name for fn in blocks.fns.values()]
    assert not {"models_change", "models_choose", "models_job_state"} & set(names)


def test_a_copy_of_the_target_may_be_the_draft() -> None:
    how = {"device": "auto", "dtype": "auto", "offload": False}
    asked = {"pair": OWN, "target": "a/b", "draft": " int8 ", **how}
    assert requested_pair(asked, LOCAL) == PairRequest(target="a/b", draft="int8")
    assert field_of("draft int4: torch cannot multiply", asked) == "draft"


# -- loading ---------------------------------------------------------------------------------------


def test_a_pair_is_loaded_with_its_checks_shown_and_used_from_then_on(
    tab: ModelsTab, model_host: ModelHost, make: Maker, folders: tuple[str, str]
) -> None:
    received = board_messages(tab, tab.change(own(tab, folders), request()))
    assert all("load" in message for message in received[:-1])
    end = received[-2]["load"]
    assert end["done"]
    assert end["over"]
    assert end["error"] is None
    words = dict(end["checks"])
    assert list(words) == ["tokenizer", "target", "draft", "vocabulary", "chat template"]
    assert "32 more tokens of the target are padding" in words["vocabulary"]
    assert received[-1]["loaded"]["name"] == "big + small"
    assert ["Chat template", words["chat template"]] in received[-1]["loaded"]["notes"]
    assert model_host.status.words.startswith("big + small pair")
    run = make(model_host=model_host, chat=True)
    run.start(None)
    list(run.messages())
    assert (run.recording.meta["target"].split(",")[0], run.recording.meta["chat"]) == ("big", True)


def test_a_copy_is_loaded_with_its_prediction_shown(
    tab: ModelsTab, folders: tuple[str, str]
) -> None:
    form = own(tab, (folders[0], "int8"))
    received = board_messages(tab, tab.change(form, request()))
    assert received[-2]["load"]["done"]
    shown = received[-1]["loaded"]
    assert shown["draft"]["numbers"] == "int8"
    assert shown["draft"]["name"].startswith("big in int8, ")
    note = dict(shown["notes"])["The small model"]
    assert "a copy of the large model in int8 is predicted to be" in note


def test_after_a_mismatched_pair_the_current_one_stays_loaded(
    tab: ModelsTab, model_host: ModelHost, pair: Pair, tmp_path: Path, folders: tuple[str, str]
) -> None:
    other = fakes.save(fakes.tiny_model(), tmp_path / "other", fakes.tiny_tokenizer(pieces=("Ω",)))
    received = board_messages(tab, tab.change(own(tab, (folders[0], other)), request()))
    assert "the tokenizers differ" in received[-2]["load"]["error"]
    assert "The current models stay loaded." in received[-2]["load"]["error"]
    assert model_host.pair(lambda: False) is pair


def test_nothing_is_downloaded_in_offline_mode(
    tab: ModelsTab,
) -> None:
    received = board_messages(tab, tab.change(filled(tab, pair="smollm2-1.7b"), request()))
    assert "HF_HUB_OFFLINE is set" in received[-2]["load"]["error"]


def test_a_visitor_loads_one_pair_at_a_time_and_can_stop_it(
    tab: ModelsTab,
    model_host: ModelHost,
    pair: Pair,
    folders: tuple[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun = threading.Event()

    def slow(
        _request: Any,
        _online: Any,
        on_progress: Callable[..., None],
        should_stop: Callable[[], bool],
    ) -> None:
        on_progress(DownloadProgress("owner/model", 100, 1000, 50.0))
        begun.set()
        wait(should_stop, 20)
        raise Stopped("stopped; what was downloaded is kept")

    monkeypatch.setattr(load_job, "fetch", slow)
    received: list[dict[str, Any]] = []
    thread = threading.Thread(
        target=lambda: received.extend(
            board_messages(tab, tab.change(own(tab, folders), request()))
        )
    )
    thread.start()
    assert begun.wait(20)
    assert "one run at a time" in refusal(tab, tab.change(own(tab, folders), request()))
    tab.stop(request())
    thread.join(20)
    assert [message["load"]["share"] for message in received if "load" in message].count(0.1) >= 1
    last = received[-2]["load"]
    assert (last["words"], last["over"]) == ("stopped; what was downloaded is kept", True)
    assert (last["error"], last["done"], last["share"]) == (None, False, None)
    assert model_host.pair(lambda: False) is pair


# -- the other views -------------------------------------------------------------------------------


def test_nothing_of_the_previous_models_is_shown_for_the_new_ones(
    model_host: ModelHost, folders: tuple[str, str], make: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Times and acceptance in the hardware view and the lab are those of the new pair. The hardware
    view no longer shows a run of the old pair."""
    live = RunTab(model_host, LOCAL, None)
    hardware = HardwareTab(model_host, LOCAL, live)
    lab = LabTab(model_host, LOCAL, live)
    with laid_out():
        hardware.build()
    run = make(run_store=live.run_store)
    run.start(None)
    list(run.messages())
    monkeypatch.setattr(hardware.form, "values", lambda _: FormValues(HERE, NONE, None, 64, []))
    name = run.recording.name

    def shown() -> dict[str, Any]:
        return json.loads(hardware.look({}, request(run=name))[hardware.board])["view"]

    assert shown()["run"] is not None
    before = lab._known([], "")
    tab = built(model_host)
    board_messages(tab, tab.change(own(tab, folders), request()))
    after = lab._known([], "")
    view = shown()
    assert view["run"] is None
    assert view["profile"]["target"] == "big"
    assert view["rates"]["label"] == "measured"
    assert view["rates"]["name"].startswith("this pair, T 0")
    assert after["profile"] != before["profile"]
    assert after["pair"] == before["pair"] + 1
    assert [one["temperature"] for one in after["own"]] == [0]

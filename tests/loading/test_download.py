"""Downloads from a hub on this machine: progress, stop and resume, and the ways in which a download
can fail. Each transfer runs in the real download process, so these tests also cover the part of
`huggingface_hub` that this process uses."""

from __future__ import annotations

import hashlib
import os
import shutil
import socket
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
from fake_hub import FakeHub
from huggingface_hub import hf_hub_download
from transformers import AutoModelForCausalLM

from sequoia import load_pair
from sequoia.errors import BadModel, NotDownloaded, OutOfMemory, Stopped
from sequoia.loading import download, download_worker
from sequoia.loading.download import (
    DownloadProgress,
    Downloads,
)
from sequoia.loading.load import fetch
from sequoia.loading.model_files import cached
from sequoia.loading.pair_request import PairRequest, pinned_revision, preset

BIG = 3_000_000  # bytes of a fake weight file, which is transferred but cannot be loaded
BOTH = PairRequest(target="owner/model", draft="owner/model", device="cpu", dtype="float32")


@pytest.fixture
def big(tmp_path: Path, folder: Path) -> Path:
    """The model with weights that take a while to transfer."""
    large = Path(shutil.copytree(folder, tmp_path / "big"))
    (large / "model.safetensors").write_bytes(
        bytes(i * i % 251 for i in range(1000)) * (BIG // 1000)
    )
    return large


def fetched(name: str = "owner/model", **options: object) -> Path:
    with Downloads(online=True, **options) as downloads:
        place = downloads.locate(name)
        return place if isinstance(place, Path) else downloads.fetch(place, weights=True)


def test_a_model_of_the_catalog_is_fetched_at_its_pinned_commit(hub: FakeHub, folder: Path) -> None:
    name = preset("smollm2-135m").target.id
    hub.models[name] = folder
    fetched(name)
    assert f"/api/models/{name}/revision/{pinned_revision(name)}" in hub.asked


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        ("ALL_PROXY", "socks5://127.0.0.1:9", "socksio"),
        ("HTTPS_PROXY", "http://127.0.0.1:9", "cannot be reached"),
    ],
)
def test_the_downloader_gets_the_proxies_back_and_says_what_is_wrong_with_them(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, words: str
) -> None:
    """app.py has renamed the variables. NO_PROXY with IPv6 addresses is no problem."""
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HF_ENDPOINT", "https://192.0.2.1")
    monkeypatch.setenv(download_worker.PREFIX + variable, value)
    monkeypatch.setenv(download_worker.PREFIX + "NO_PROXY", "::1,fe80::/10,[::1],10.0.0.0/8")
    with Downloads(online=True) as downloads, pytest.raises(NotDownloaded) as caught:
        downloads.look_up("owner/model")
    assert words in str(caught.value)


# -- what is transferred ---------------------------------------------------------------------------


def test_files_in_the_cache_are_not_downloaded_again_and_other_programs_find_them(
    hub: FakeHub, folder: Path
) -> None:
    folder = fetched()
    hub.asked.clear()
    assert fetched() == folder == cached("owner/model")
    assert not hub.asked
    weights = Path(hf_hub_download("owner/model", "model.safetensors", local_files_only=True))
    assert weights.parent.resolve() == folder.resolve()
    assert weights.read_bytes() == (folder / "model.safetensors").read_bytes()


def test_a_pair_can_be_fetched_first_and_loaded_without_a_network_later(
    hub: FakeHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = {"target": "owner/model", "draft": "owner/model", "device": "cpu", "dtype": "float32"}
    with monkeypatch.context() as patch:
        patch.setattr(
            AutoModelForCausalLM,
            "from_pretrained",
            lambda *_, **__: pytest.fail("weights were read"),
        )
        fetch(PairRequest(**named), True, lambda _: None)
    hub.asked.clear()
    assert load_pair(**named, online=False).name == "owner/model + owner/model"
    assert not hub.asked


def test_a_pair_that_this_machine_can_never_hold_is_not_fetched(
    hub: FakeHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        psutil, "virtual_memory", lambda: SimpleNamespace(total=100_000, available=0)
    )
    with pytest.raises(
        OutOfMemory, match=r"the two models need about .* MB; the memory of cpu is 0\.1 MB"
    ):
        fetch(BOTH, True, lambda _: None)
    assert not [path for path in hub.files_asked if "safetensors" in path]


# -- stop and continue -----------------------------------------------------------------------------


def begun(
    hub: FakeHub, big: Path, reported: list[DownloadProgress]
) -> tuple[threading.Event, threading.Thread, list[BaseException]]:
    """Starts a slow transfer and waits until part of it has arrived. Returns the event that
    stops it, its thread, and a list for the Stopped error."""
    hub.models["owner/model"] = big
    hub.slow = 0.05
    stop = threading.Event()
    problems = list[BaseException]()

    def run() -> None:
        try:
            fetched(on_progress=reported.append, should_stop=stop.is_set)
        except Stopped as problem:
            problems.append(problem)

    thread = threading.Thread(target=run)
    thread.start()
    end = time.monotonic() + 30
    while not (reported and reported[-1].done > 1_300_000) and time.monotonic() < end:
        time.sleep(0.02)
    assert reported
    return stop, thread, problems


def test_a_stopped_download_continues_where_it_stopped(hub: FakeHub, big: Path) -> None:
    reported: list[DownloadProgress] = []
    stop, thread, problems = begun(hub, big, reported)
    stop.set()
    thread.join(20)
    assert not thread.is_alive()
    assert "the downloaded part is kept" in str(problems[0])
    assert 0 < reported[-1].done < reported[-1].total
    assert reported[-1].rate > 0
    kept = sum(
        path.stat().st_size
        for path in (Path(download.hub_folder("owner/model")) / "blobs").glob("*.part")
    )
    assert kept > 0
    hub.slow = 0
    hub.asked.clear()
    assert (fetched() / "model.safetensors").read_bytes() == (
        big / "model.safetensors"
    ).read_bytes()
    assert [path for path in hub.asked if f"bytes={kept}-" in path]


def test_a_part_file_with_wrong_content_is_deleted(hub: FakeHub, folder: Path) -> None:
    whole = (folder / "model.safetensors").read_bytes()
    with Downloads(online=True) as downloads:
        listing = downloads.locate("owner/model")
        downloads.fetch(listing, weights=False)
    part = (
        download.hub_folder("owner/model") / "blobs" / f"{hashlib.sha256(whole).hexdigest()}.part"
    )
    part.write_bytes(b"?" * 100)
    with pytest.raises(NotDownloaded, match=r"damaged and has been deleted; load it again"):
        fetched()
    assert (fetched() / "model.safetensors").read_bytes() == whole


# -- what can go wrong, and its message ------------------------------------------------------------


def test_no_such_model(hub: FakeHub) -> None:
    with pytest.raises(
        NotDownloaded,
        match=r"no model 'owner/nothing', or it is private.*an account that has access.*owner/name",
    ):
        fetched("owner/nothing")


@pytest.mark.parametrize("status", [401, 403])
def test_a_gated_model_says_what_to_do(hub: FakeHub, status: int) -> None:
    hub.gated["owner/model"] = status
    with pytest.raises(
        NotDownloaded,
        match=r"owner/model is gated.* https://huggingface\.co/owner/model, .*hf auth login",
    ):
        fetched()


def test_no_network(hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{free.getsockname()[1]}")
    with pytest.raises(
        NotDownloaded,
        match=r"hub cannot be reached for owner/model \(.*\)\. Check the connection and the proxy",
    ):
        fetched()


def test_too_little_disk_space_is_reported_before_the_download_with_sizes(
    hub: FakeHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=1_000_050_000))
    with pytest.raises(
        NotDownloaded,
        match=r"download of .* does not fit in .*cache: 1\.0 GB is free, of which 1\.0 GB must",
    ):
        load_pair(target="owner/model", draft="owner/model", device="cpu", online=True)
    assert not hub.files_asked


def test_a_model_that_cannot_run_a_tree_is_refused_before_its_weights_are_fetched(
    hub: FakeHub, tmp_path: Path, folder: Path
) -> None:
    mamba = Path(shutil.copytree(folder, tmp_path / "mamba"))
    (mamba / "config.json").write_text('{"model_type": "mamba"}')
    hub.models["owner/model"] = mamba
    with pytest.raises(BadModel, match="mamba"):
        load_pair(target="owner/model", draft="owner/model", device="cpu", online=True)
    assert not [path for path in hub.files_asked if "safetensors" in path]

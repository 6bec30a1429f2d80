"""The changes in ui/serving/gradio_changes.py still work with the installed version of Gradio. Each
test checks one of them in a served page."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator

import gradio as gr
import gradio.queueing
import gradio.routes
import pytest
from gradio import processing_utils
from gradio.state_holder import SessionState
from http_client import Client

from ui.serving.gradio_changes import change_gradio


@pytest.fixture(autouse=True)
def changed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gradio with these changes, for one test."""
    for owner, name in (
        (SessionState, "_update_value_in_config"),
        (SessionState, "_update_config"),
        (SessionState, "__init__"),
        (processing_utils, "async_ssrf_protected_get"),
        (gradio.queueing, "traceback"),
        (gradio.routes, "traceback"),
    ):
        # no change yet, but monkeypatch restores this value after the test
        monkeypatch.setattr(owner, name, getattr(owner, name))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
    change_gradio()


@pytest.fixture
def blocks() -> Iterator[gr.Blocks]:
    """A page with a handler that repeats a text, one that takes a file, and one that fails."""

    def fail(text: str) -> str:
        raise KeyError(text)

    with gr.Blocks(analytics_enabled=False) as blocks:
        text = gr.Textbox(elem_id="text")
        file = gr.File(elem_id="file")
        out = gr.HTML()
        for name, handler, given in (
            ("repeat", lambda text: text * 1000, text),
            ("take", lambda file: str(file), file),
            ("fail", fail, text),
        ):
            gr.on(None, handler, given, out, api_name=name)
    blocks.launch(prevent_thread_lock=True, quiet=True, server_port=None)
    yield blocks
    blocks.close(verbose=False)


def output(client: Client, name: str, **fields: object) -> object:
    assert client.join(name, **fields).status_code == 200
    ended = [event for event in client.events() if event["msg"] == "process_completed"]
    return ended[0]["output"]


def test_a_session_keeps_no_values_of_components(blocks: gr.Blocks) -> None:
    """Gradio would keep them for its deep links, which the page does not use."""
    client = Client(blocks.local_url)
    assert "my wordsmy words" in str(output(client, "repeat", text="my words"))
    state = blocks.app.state_holder.session_data[client.session]
    assert state.config_values == {}, "the session has its own copies of component configs"
    assert state.blocks_config.blocks


def test_a_file_with_a_web_address_is_not_downloaded(
    blocks: gr.Blocks, monkeypatch: pytest.MonkeyPatch
) -> None:
    import safehttpx

    asked: list[object] = []

    async def get(*given: object, **_: object) -> None:
        asked.append(given)
        raise OSError

    monkeypatch.setattr(safehttpx, "get", get)
    url = "https://example.org/x.json"
    file = {"path": url, "url": url, "meta": {"_type": "gradio.FileData"}}
    output(Client(blocks.local_url), "take", file=file)
    with pytest.raises(gr.Error):
        asyncio.run(processing_utils.async_ssrf_protected_download(url, "/tmp"))
    assert asked == []


def test_a_failed_handler_logs_one_line_without_the_data(
    blocks: gr.Blocks, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """A failed call leaves one line in the log, without the data that was sent to the handler."""
    with caplog.at_level(logging.INFO, logger="ui"):
        output(Client(blocks.local_url), "fail", text="my prompt")
    (record,) = [record for record in caplog.records if record.name.startswith("ui")]
    assert record.getMessage().startswith("a handler failed: KeyError in test_gradio_changes.py")
    assert "my prompt" not in caplog.text + "".join(capfd.readouterr())

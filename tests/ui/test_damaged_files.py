"""If an opened file is damaged, or the disk is full, everything else works."""

from __future__ import annotations

import errno
import json
import os
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from visits import filled, request, sent, wait

from sequoia.errors import BadTrace
from sequoia.loading import download as hub_download
from ui.run import run_handlers
from ui.run.recordings import opened
from ui.run.tab import RunTab
from ui.serving.limits import LOCAL

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    "tokens",
    [None, [["a", 1]], [["a", True]] * 1101],
    ids=range(3),
)
def test_a_run_with_damaged_prompt_tokens_is_refused(tokens: Any, tmp_path: Path) -> None:
    """A list that is malformed or too long."""
    run = json.loads((ROOT / "tests" / "saved" / "races" / "greedy.json").read_text())
    path = tmp_path / "run.json"
    for given in ([["<|begin|>", True], ["hello", False]], tokens):
        meta = {**run["meta"], "chat": True, "prompt_tokens": given}
        path.write_text(json.dumps({**run, "meta": meta}))
        refusal = nullcontext() if given is not tokens else pytest.raises(BadTrace, match="prompt")
        with refusal:
            opened(str(path), LOCAL.upload)


def full(*_: Any, **__: Any) -> str:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_with_a_full_disk_a_run_ends_and_its_buttons_come_back(
    view: RunTab, popups: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_handlers, "save_bytes_to_cache", full)
    assert view.load(request())[view.stage]
    assert "No space left on device" in popups[0]
    messages = sent(view.run(filled(view), request()))
    assert messages[-1]["done"] is True
    wait(lambda: not view.sessions.get("one").busy)
    updates = view.buttons_now(request())
    assert updates[view.form.run]["interactive"] is True
    assert updates[view.form.save]["interactive"] is False
    assert "sequoia-run-" in popups[1]


def test_a_full_disk_does_not_matter_if_nothing_is_downloaded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(hub_download, "disk_free", lambda: 0)
    hub_download.require_room(0)
    with pytest.raises(hub_download.NotDownloaded):
        hub_download.require_room(1)

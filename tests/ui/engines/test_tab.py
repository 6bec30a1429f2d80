"""The Engines view: every sample is read, and what is no log is refused and shown literally."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gradio as gr
import pytest

from sequoia.engines.read_log import MOST_CHARS
from ui.engines.tab import SAMPLES, EnginesTab

TAB = EnginesTab()
PROFILE = "rtx-4090-qwen3-8b"


@pytest.mark.parametrize("engine", SAMPLES)
def test_each_sample_is_read_with_the_settings_of_every_engine(engine: str) -> None:
    shown = TAB.read_text(SAMPLES[engine], PROFILE)
    assert f"What the log of {engine} says" in shown
    for setting in (
        "synthetic_acceptance_rates",
        "SGLANG_SIMULATE_ACC_LEN",
        "num_speculative_tokens",
        "--spec-draft-n-max",
        "--speculative-eagle-topk",
    ):
        assert setting in shown
    assert "predicted" in shown


@pytest.mark.parametrize(("text", "profile"), [("<b>no log</b>", PROFILE), (SAMPLES["vLLM"], "x")])
def test_a_refusal_is_one_sentence(text: str, profile: str) -> None:
    shown = TAB.read_text(text, profile)
    assert shown.count('role="alert"') == 1
    assert "Not read: " in shown
    assert "<b>no log" not in shown


@pytest.mark.parametrize("text", [None, 5, [], {"a": 1}, "  "])
def test_without_a_text_the_view_says_what_to_paste(text: Any) -> None:
    assert "Paste such a log" in TAB.read_text(text, PROFILE)


def test_an_uploaded_file_fills_the_form_unless_it_is_too_large(tmp_path: Path) -> None:
    file = tmp_path / "log.txt"
    file.write_text(SAMPLES["vLLM"], encoding="utf-8")
    assert TAB.read_file(str(file)) == SAMPLES["vLLM"]
    file.write_text("x" * (MOST_CHARS + 1), encoding="utf-8")
    for path in (str(file), None, str(tmp_path / "none")):
        with pytest.raises(gr.Error, match="Not opened"):
            TAB.read_file(path)

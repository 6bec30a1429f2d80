"""The Engines view: its form and its handlers. Anyone can call the handlers with any value, so they
check what they get. No model runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gradio as gr

from sequoia import SequoiaError
from sequoia.assets_folder import ASSETS
from sequoia.engines.read_log import MOST_CHARS, read_log
from sequoia.errors import BadLog, BadProfile
from sequoia.text_files import load_json
from ui.engines import report
from ui.shared import saved_profiles
from ui.shared.events import QUIET
from ui.shared.layout import menu, side_and_main, start_button

_START = "rtx-4090-qwen3-8b"
# the samples that the buttons fill in, by engine: in its form, written by us
SAMPLES: dict[str, str] = load_json(ASSETS / "engine_logs.json")


class EnginesTab:
    """The view's components and their handlers."""

    def build(self) -> None:
        """Lay the view out in the current container."""
        side, main = side_and_main("en", "Log and machine")
        with side:
            self.log = gr.Textbox(label="Log of an engine", lines=8, max_lines=16, elem_id="en-log")
            with gr.Row(elem_classes="pg-chips"):
                self.samples = [gr.Button(name, size="sm", min_width=60) for name in SAMPLES]
            profiles = saved_profiles.listed(saved_profiles.shipped())
            named = [(entry.name, key) for key, entry in profiles.items()]
            self.profile = menu(named, "Step times of", "en-profile", value=_START)
            with gr.Row(elem_classes="pg-go"):
                self.read = start_button("Read the log", "en-read")
            self.file = gr.UploadButton("Open a file", size="sm", elem_id="en-open")
        with main:
            look = {"apply_default_css": False, "elem_id": "en-view", "elem_classes": "pg-view"}
            self.shown = gr.HTML(report.intro(), **look)

    def wire(self, _blocks: gr.Blocks) -> None:
        """Connect components and handlers."""
        form = [self.log, self.profile]
        self.read.click(self.read_text, form, self.shown, **QUIET)
        self.profile.input(self.read_text, form, self.shown, **QUIET)
        self.file.upload(self.read_file, self.file, self.log, **QUIET).success(
            self.read_text, form, self.shown, **QUIET
        )
        for button, text in zip(self.samples, SAMPLES.values(), strict=True):
            button.click(lambda text=text: text, None, self.log, **QUIET).then(
                self.read_text, form, self.shown, **QUIET
            )

    def read_text(self, text: Any, profile: Any) -> str:
        """What `text` says, on the machine of the shipped profile with this key, as HTML."""
        if not isinstance(text, str) or not text.strip():
            return report.intro()
        try:
            entries = saved_profiles.shipped()
            if profile not in entries:
                raise BadProfile("step times: choose one of the profiles in the list")
            return report.read(read_log(text), entries[profile])
        except SequoiaError as problem:
            return report.refused(problem)

    def read_file(self, path: Any) -> str:
        """The text of an uploaded file, for the form."""
        try:
            if Path(path).stat().st_size > MOST_CHARS:
                raise BadLog(f"a log may have at most {MOST_CHARS:,} bytes")
            return Path(path).read_text(encoding="utf-8", errors="replace")
        except (OSError, TypeError, ValueError, SequoiaError) as problem:
            raise gr.Error(f"Not opened: {problem}", print_exception=False) from None

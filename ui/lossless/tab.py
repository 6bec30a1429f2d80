"""The Lossless tab: its form, the component that the browser draws, and their handlers. Anyone
can call the handlers with any value, so they check what they get."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from random import getrandbits

import gradio as gr

from sequoia import SequoiaError
from sequoia.exactness.losslessness.settings import PAIR, PRESETS, Setting, bug_named
from ui.lossless.form import LosslessForm, field_of, lossless_form
from ui.lossless.lossless_job import LosslessJob
from ui.lossless.messages import refusal_message, report_message
from ui.lossless.tables import opening, shown_counts
from ui.serving.job import Report
from ui.serving.session_view import ASKED, SessionView, sent_with
from ui.shared.events import UNQUEUED, FormData, Updates, model_work, visitor
from ui.shared.layout import busy_buttons, drawn, on_choice, side_and_main
from ui.shared.markup import element
from ui.shared.prompts import require_length
from ui.shared.serve_modules import call
from ui.words.losslessness import WHAT_IT_DOES

SECONDS = 120.0  # time limit of a test


class LosslessTab(SessionView[LosslessJob]):
    """The view's components and their handlers. The server stores no sample of a test."""

    form: LosslessForm

    def build(self) -> None:
        """Lay the view out in the current container."""
        side, main = side_and_main("ls", "Decoder and settings")
        with side:
            self.form = lossless_form()
        with main:
            intro = element("p", WHAT_IT_DOES, class_="ls-say")
            page = element("div", intro, opening(), class_="sq-stage sq-frame")
            self.board = drawn("ls", "lossless/lossless_view", ["ask", "fill"], page)

    def wire(self, _blocks: gr.Blocks) -> None:
        """Connect components and handlers."""
        form = self.form
        fields = list(form.fields.values())
        filled = self.board.fill(self.fill_form_with_a_bug, None, fields, **UNQUEUED)
        for start in (form.run.click, filled.then):
            start(
                self.test_losslessness,
                form.parts,
                [self.board, form.run, form.stop, *fields],
                **model_work(self._limits.waiting),
            ).then(
                None,
                None,
                None,
                js=call("shared/form_fields", "web.focusWrong()"),
                api_visibility="private",
            )
        form.stop.click(self.stop, None, None, **UNQUEUED)
        self.board.ask(self.job_state, None, [self.board, form.run, form.stop], **ASKED)
        on_choice(form.fields["bug"], form.preset, [], fields, **UNQUEUED)
        on_choice(form.fields["where"], form.shaped, [], fields, **UNQUEUED)

    def fill_form_with_a_bug(self, event: gr.EventData) -> Updates:
        """Choose a decoder with a bug, as if in the form's menu. `event` brings the bug's key as
        "bug"."""
        bug = sent_with(event).get("bug")
        return self.form.preset(bug, chosen=True)

    def test_in(self, board: gr.HTML) -> None:
        """Let `board`, a component of another view, test decoders with its event `test`."""
        board.test(self.test_preset, None, board, **model_work(self._limits.waiting))

    async def test_preset(self, event: gr.EventData, request: gr.Request) -> AsyncIterator[str]:
        """Test a decoder with the preset of its bug, which `event` brings as "bug". Yields messages
        with the counts alone."""
        bug = sent_with(event).get("bug", "")
        try:
            bug_named(bug)
            task = await self.started(request, lambda: self._job(PRESETS[bug]))
        except SequoiaError as problem:
            yield refusal_message(f"Not tested: {problem}")
            return
        try:
            async for report in task.reports():
                yield report_message(report, shown_counts)
        finally:  # also if the page is closed: Gradio then closes this generator
            task.halt()

    async def test_losslessness(
        self, data: FormData, request: gr.Request
    ) -> AsyncIterator[Updates]:
        """Run a test. A message about a refused value appears at its field, and nothing typed is
        lost."""
        form = self.form
        try:
            setting = form.setting(data)
            self._check(setting)
            task = await self.started(request, lambda: self._job(setting))
        except SequoiaError as problem:
            yield self._refused(problem)
            return
        refused: Updates = {}
        try:
            yield {**busy_buttons(form.run, form.stop, True), **form.refused(None)}
            async for report in task.reports():
                refused = self._refused_late(report)
                yield refused or {self.board: report_message(report)}
        finally:  # also if the page is closed: Gradio then closes this generator
            task.halt()
        yield {**refused, **busy_buttons(form.run, form.stop, False)}

    def _job(self, setting: Setting) -> LosslessJob:
        # A new seed each time: with that of the recorded test, its counts would come out again.
        fresh = replace(setting, seed=getrandbits(32))
        return LosslessJob(self._model_host, fresh, min(SECONDS, self._limits.seconds))

    def buttons_now(self, request: gr.Request) -> Updates:
        job = self.sessions.get(visitor(request))
        return busy_buttons(self.form.run, self.form.stop, job is not None and job.busy)

    def not_running(self, words: str) -> Updates:
        return {self.board: refusal_message(words)}

    def _check(self, setting: Setting) -> None:
        """Raises BadPrompt if the pair is tested with a prompt that is too long for a visitor, and
        a SequoiaError for a tree, verifier or bug that cannot be tested."""
        # Reading `decoding` checks the tree, the verifier and the bug. For a toy, this already
        # happened when `setting` was made.
        _ = setting.decoding
        if setting.where == PAIR and isinstance(setting.prompt, str):
            require_length(setting.prompt, self._limits.prompt_chars, "prompt:")

    def _refused_late(self, report: Report) -> Updates:
        """Updates for a value that only the job could refuse, because it has the models: for
        example, a prompt without tokens. Empty if no value was refused."""
        problem = SequoiaError(report.error or "")
        return self._refused(problem) if field_of(problem) else {}

    def _refused(self, problem: SequoiaError) -> Updates:
        """Updates that show a problem at its field, or in a banner if it is not about a field."""
        if field_of(problem):
            return {**self.form.refused(problem), self.board: refusal_message("")}
        return {self.board: refusal_message(f"Not tested: {problem}")}

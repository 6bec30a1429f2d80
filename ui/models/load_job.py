"""Loads another pair of models in its own thread. The pair is downloaded while other visitors
decode, and loaded when it is this job's turn in the queue. Independent of the page.

If loading fails or is stopped, the previous pair stays in use. If it was unloaded to make room, it
is loaded again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from sequoia import Pair, SequoiaError
from sequoia.loading.find_pair import LoadNews
from sequoia.loading.hub.download import Progress
from sequoia.loading.load import fetch, load
from sequoia.loading.model_checks import PassedCheck
from sequoia.loading.pair_request import PairRequest
from ui.serving.fair_queue import wait_words
from ui.serving.job import Job
from ui.serving.model_host import ModelHost
from ui.serving.wait_times import Demand, Wait

KEPT = "The current models stay loaded."
_USUAL_SECONDS = 60.0  # predicted for the first load, and the most predicted for any load
_ERROR_NUMBER = re.compile(r"\[Errno -?\d+\] ")  # in messages of the operating system


@dataclass(frozen=True)
class Report:
    """The state of a load. words: the current activity, or a sentence about a stopped load;
    empty if the load succeeded or failed. progress: of the current download; None without one.
    checks: those passed so far. over: whether the load has ended. error: the reason if it failed.
    done: whether the new models are in use."""

    words: str
    progress: Progress | None = None
    checks: tuple[PassedCheck, ...] = ()
    over: bool = False
    error: str | None = None
    done: bool = False


class LoadJob(Job[Report]):
    """Loads one pair. Stop ends a download or the wait in the queue. If it is pressed while the
    target's weights are read, loading stops once they have been read. As soon as the draft's
    weights are being read, Stop has no effect."""

    name = "loading of other models"

    def __init__(
        self, model_host: ModelHost, pair_request: PairRequest, online: bool | None = None
    ) -> None:
        super().__init__(model_host)
        self._pair_request = pair_request
        self._online = online
        self._last = Report(f"looking for {pair_request.title}")

    def work(self, steps: int | None) -> Report:  # noqa: ARG002  a load has no steps
        self._on_progress(self._last.words)
        fetch(self._pair_request, self._online, self._on_progress, self.halted)
        # loading does all checks again
        self._last = replace(self._last, progress=None, checks=())
        self._on_progress("waiting for the current run to end")
        self._model_host.change(self._load, self.halted, self._on_wait, self._next_turn())
        return replace(self.stopped(""), done=True)

    def demand(self) -> Demand:
        return Demand("loading of models", limit=_USUAL_SECONDS)

    def notice(self, words: str) -> Report:
        return replace(self._last, words=words, progress=None)

    def stopped(self, words: str) -> Report:
        return replace(self.notice(words), over=True)

    def failed(self, error: str) -> Report:
        return replace(self.stopped(""), error=error)

    @property
    def if_it_fails(self) -> str:
        return KEPT if self._model_host.status.stage == "ready" else ""

    if_out_of_memory = if_it_fails

    def refused(self, problem: SequoiaError) -> str:
        text = _ERROR_NUMBER.sub("", str(problem))
        kept = self.if_it_fails
        return f"{text.removesuffix('.')}. {kept}" if kept else text

    def _load(self) -> Pair:
        """Load the pair. The model host may call this again long after this job has ended, to
        reload the pair. Such a reload cannot be stopped."""
        return load(
            self._pair_request, False, self._on_progress, lambda: self.busy and self.halted()
        )

    def _on_progress(self, news: LoadNews) -> None:
        if isinstance(news, PassedCheck):
            self._last = replace(self._last, checks=(*self._last.checks, news))
        elif isinstance(news, Progress):
            self._last = replace(self._last, words="downloading", progress=news)
        else:
            self._last = replace(self._last, words=news, progress=None)
        if self.busy:
            self.post(self._last)

    def _on_wait(self, wait: Wait) -> None:
        self._on_progress(wait_words(wait, "loading"))

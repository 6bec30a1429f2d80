"""Other models being loaded, in a thread of its own: fetched while others decode, then loaded in
turn. Knows no page.

Whatever goes wrong, and if it is stopped, the pair that was there stays.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sequoia import Pair, SequoiaError
from sequoia.loading.find_pair import LoadNews
from sequoia.loading.hub.download import Progress
from sequoia.loading.load import fetch, load
from sequoia.loading.pair_checks import PassedCheck
from sequoia.loading.pair_request import PairRequest
from ui.serving.fair_queue import position_words
from ui.serving.job import Job
from ui.serving.model_host import ModelHost

KEPT = "the models that were there stay"


@dataclass(frozen=True)
class Report:
    """How far it is: words for what is being done now, a download's progress, the checks passed so
    far. `over`: it has ended; `error`: why, where it failed; `done`: the new models are in use."""

    words: str
    progress: Progress | None = None
    checks: tuple[PassedCheck, ...] = ()
    over: bool = False
    error: str | None = None
    done: bool = False


class LoadJob(Job[Report]):
    """Loads once. It stops a download within a moment, and the reading of weights after the
    model being read."""

    name = "loading of other models"
    if_it_fails = if_out_of_memory = KEPT

    def __init__(
        self, model_host: ModelHost, pair_request: PairRequest, online: bool | None = None
    ) -> None:
        super().__init__(model_host)
        self._pair_request = pair_request
        self._online = online
        self._last = Report(f"looking for {pair_request.title}")

    def work(self, steps: int | None) -> Report:  # noqa: ARG002  it is done once
        self._on_progress(self._last.words)
        fetch(self._pair_request, self._online, self._on_progress, self.halted)
        # all of them are made again as it is loaded
        self._last = replace(self._last, progress=None, checks=())
        self._on_progress("waiting for what is running to end")
        self._model_host.change(self._load, self.halted, self._on_position)
        return replace(self.stopped(""), done=True)

    def notice(self, words: str) -> Report:
        return replace(self._last, words=words, progress=None)

    def stopped(self, words: str) -> Report:
        return replace(self.notice(words), over=True)

    def failed(self, error: str) -> Report:
        return replace(self.stopped(""), error=error)

    def refused(self, problem: SequoiaError) -> str:
        return f"{problem} ({KEPT})" if self._model_host.status.stage == "ready" else str(problem)

    def _load(self) -> Pair:
        """Also called when this pair has to be loaded again, long after this task; then
        nobody can stop it."""
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

    def _on_position(self, before: int) -> None:
        self._on_progress(position_words(before, "loading"))

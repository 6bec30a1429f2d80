"""Loads the models in the background while the page is already up, replaces them on request, and
lets one visitor at a time use them. Independent of the page.
"""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import torch

from sequoia import Pair, SamplingParams, SequoiaError, default_plan, machine
from sequoia.algorithm.progress import ShouldStop
from sequoia.errors import OutOfMemory
from sequoia.loading.find_pair import LoadNews, printer
from sequoia.loading.model_checks import PassedCheck
from sequoia.this_machine.gpu_health import free_unused_gpu_memory, gpu_problem
from ui.serving.fair_queue import Cancelled, FairQueue, OnWait, Work
from ui.serving.owner import Owner

_log = logging.getLogger(__name__)
Load = Callable[[], Pair]
Measure = Callable[[Pair], object]  # measures the pair's step times on this machine


class RunningJobs(Protocol):
    """The jobs of one view (see `Sessions`)."""

    @property
    def in_line(self) -> Mapping[str, Any]: ...
    def keeps(self, who: str, /) -> bool: ...
    def close(self, who: str, /) -> None: ...
    def end_all(self, words: str, /) -> None: ...


class NotLoaded(SequoiaError):
    """The models could not be loaded, or their GPU stopped working. The message says why."""


@dataclass(frozen=True)
class Status:
    """The state of loading. stage: "loading", "measuring", "ready" or "failed". words: the state in
    one line."""

    stage: str
    words: str

    @property
    def settled(self) -> bool:
        """Whether loading has succeeded or failed."""
        return self.stage in ("ready", "failed")


class ModelHost:
    """Loads a pair with `load`, measures it with `measure` and plans a tree, so that the first run
    does not wait for these. waiting: the maximum length of the queue. draft: the name of the draft
    that `load` loads.

    `version` counts the pairs loaded so far. The callbacks in `before_unload` are called before a
    pair's memory is freed. Code that keeps part of a pair after its turn must register a callback
    that drops this part. `sessions` contains the jobs of each view; `starting` is held while one of
    them starts. The callbacks in `after_leaving` are called with the key of a visitor whose page is
    gone.
    """

    def __init__(
        self,
        load: Load,
        waiting: int,
        measure: Measure = machine,
        owner: Owner | None = None,
        draft: str = "",
    ) -> None:
        self.queue = FairQueue(waiting)
        self.owner = owner or Owner()
        self._measure = measure
        self.before_unload: list[Callable[[], None]] = []
        self.sessions: list[RunningJobs] = []
        self.starting = threading.Lock()
        self.after_leaving: list[Callable[[str], None]] = []
        self.version = 0
        self._log = printer()
        self._load = load
        self._draft = draft
        self._pair = None
        self._lost = ""  # why the pair's GPU no longer works, or ""
        self.status = Status("loading", "loading the models")

    def open(self) -> None:
        """Start loading in a separate thread."""
        threading.Thread(target=self._fill, name="model-host", daemon=True).start()

    def on_progress(self, news: LoadNews) -> None:
        """Print the progress of a download in steps of 5%. Until loading has ended, `news` also
        becomes the words of the status. A passed check does neither."""
        self._log(news)
        if not self.settled and not isinstance(news, PassedCheck):
            self.status = Status(self.status.stage, str(news))

    def status_json(self) -> str:
        """The state of loading as JSON for the page's header. `models`: the names of target and
        draft as in a run's meta, null if no models are ready."""
        status = self.status
        pair = self._pair if status.stage == "ready" else None
        return json.dumps(
            {
                "stage": status.stage,
                "words": status.words,
                "version": self.version,
                "models": pair and [named(pair, "target"), named(pair, "draft")],
            }
        )

    @property
    def settled(self) -> bool:
        return self.status.settled

    def pair(self, should_stop: ShouldStop) -> Pair:
        """Wait until loading has ended and return the pair. Raises NotLoaded, or Cancelled if
        `should_stop` returns True while waiting."""
        self._wait(should_stop)
        if self._lost:
            raise NotLoaded(self._lost)
        if (pair := self._pair) is None:
            raise NotLoaded(f"the models could not be loaded: {self.status.words}")
        return pair

    @property
    def pair_now(self) -> Pair | None:
        """The pair. None while a pair is being loaded, if none could be loaded, or if its GPU has
        stopped working."""
        return None if self._lost or not self.settled else self._pair

    @property
    def draft(self) -> str:
        """The name of the draft that is loaded or, before the first is, of the one that will be."""
        pair = self._pair  # read once: another thread may unload it
        return pair.draft.name if pair else self._draft

    async def until_settled(self) -> None:
        """Wait until loading has succeeded or failed."""
        while not self.settled:
            await asyncio.sleep(0.2)

    def check_gpu(self) -> str:
        """Call it after an unexpected error. If the pair's GPU no longer works, no further runs are
        served until other models are loaded. Returns a message that says that the GPU has stopped
        working, or "" if it works."""
        problem = gpu_problem(self._pair.target.device) if self._pair else ""
        if problem:
            self._lost = f"The graphics card stopped working ({problem}). Start the program again."
            self.status = Status("failed", self._lost)
        return self._lost

    @contextmanager
    def turn(
        self, should_stop: ShouldStop, on_wait: OnWait, work: Work | None = None
    ) -> Iterator[Pair]:
        """Wait for the caller's turn and yield the pair that is loaded then. The turn lasts until
        the context ends. Raises NotLoaded, Busy or Cancelled."""
        self.pair(should_stop)
        with self._engine(should_stop, on_wait, work):
            yield self.pair(should_stop)

    def change(
        self, load: Load, should_stop: ShouldStop, on_wait: OnWait, work: Work | None = None
    ) -> Pair:
        """Wait for the caller's turn, load another pair and serve it from then on. If that fails,
        the current pair stays. If the memory is too small for both pairs, the current one is
        unloaded first, and loaded again if the new one fails. Returns the new pair. Raises Busy,
        Cancelled, what `load` or the measurement raises, or NotLoaded if the current pair could not
        be loaded again."""
        self._wait(should_stop)
        with self._engine(should_stop, on_wait, work):
            before = self.status
            self.status = Status("loading", "loading other models")
            try:
                pair = self._beside_or_instead(load)
            except BaseException:
                self.status = before if self._pair else Status("failed", "no models are loaded")
                raise
            else:
                self._load = load
                self._serve(pair)
        return pair

    def keeps(self, who: str) -> bool:
        """Whether a job of the visitor is in progress or paused."""
        return any(jobs.keeps(who) for jobs in self.sessions)

    def leave(self, who: str) -> None:
        """The visitor's page is gone: stop their jobs after the current step and forget them."""
        for jobs in self.sessions:
            jobs.close(who)
        for callback in self.after_leaving:
            callback(who)

    def close(self, words: str) -> None:
        """The program is ending: the last message of all jobs has `words`."""
        for jobs in self.sessions:
            jobs.end_all(words)

    def _wait(self, should_stop: ShouldStop) -> None:
        while not self.settled:
            if should_stop():
                raise Cancelled
            time.sleep(0.1)

    @contextmanager
    def _engine(
        self, should_stop: ShouldStop, on_wait: OnWait, work: Work | None
    ) -> Iterator[None]:
        with self.queue.turn(should_stop, on_wait, work):
            # apply the process's number of torch threads to this thread, too
            torch.set_num_threads(torch.get_num_threads())
            yield

    def _beside_or_instead(self, load: Load) -> Pair:
        try:
            return self._prepared(load)
        except OutOfMemory:
            if self._pair is None:
                raise
        self._unload()
        try:
            return self._prepared(load)
        except BaseException as problem:
            self.status = Status("loading", "loading the previous models again")
            try:
                self._pair = self._prepared(self._load)
            except Exception as second:
                raise NotLoaded(
                    f"{problem}; the previous models were unloaded to make room and could not be "
                    f"loaded again: {second}"
                ) from problem
            self.version += 1
            raise

    def _prepared(self, load: Load) -> Pair:
        """Load a pair, measure it and plan its first tree. No run may be in progress, as that would
        disturb the measurement."""
        pair = load()
        self.status = Status("measuring", "timing the models on this machine")
        self._measure(pair)
        # the plan is cached in the pair
        default_plan(pair.as_chat() if pair.template else pair, SamplingParams())
        return pair

    def _serve(self, pair: Pair) -> None:
        self._unload()
        gc.collect()
        # A full collection takes a fifth of a second, in which no visitor is served. Most objects
        # that exist now stay in use, so later collections leave them out.
        gc.freeze()
        self.queue.times.forget(machine(pair).plain_seconds)
        self._pair = pair
        self._lost = ""
        self.version += 1
        self.status = Status("ready", words_for(pair))

    def _unload(self) -> None:
        if self._pair is None:
            return
        self._pair = None
        gc.unfreeze()
        for callback in self.before_unload:
            callback()
        gc.collect()
        free_unused_gpu_memory()

    def _fill(self) -> None:
        start = time.perf_counter()
        try:
            self._serve(self._prepared(self._load))
            _log.info("models ready after %.1f s", time.perf_counter() - start)
        except SequoiaError as problem:
            _log.warning("no models are loaded: %s", problem)
            self.status = Status("failed", str(problem))
        except Exception:
            _log.exception("loading failed")
            self.status = Status("failed", "an unexpected error; see the server's log for details")


def words_for(pair: Pair) -> str:
    """A description of the pair in one line: name, sizes, device and placement."""
    models = [model for model in (pair.target, pair.draft) if model.parameters]
    sizes = " + ".join(parameter_count(model.parameters) for model in models)
    name = " + ".join(part.rsplit("/", 1)[-1] for part in pair.name.split(" + "))
    facts = (f"{name} pair", f"{sizes} parameters", pair.target.device.type, pair.target.placement)
    return " · ".join(filter(None, facts))


def named(pair: Pair, role: str) -> str:
    """The name and size of a model of `pair`. role: "target" or "draft". A model without a name of
    its own, as in the bundled pair, gets the pair's name and its role."""
    model = getattr(pair, role)
    name = f"{pair.name} {role}" if model.name == role else model.name
    return f"{name}, {parameter_count(model.parameters)}" if model.parameters else name


def made_with(meta: Mapping[str, Any], pair: Pair) -> bool:
    """Whether the run described by `meta` was made with the models of `pair`."""
    return all(meta.get(role) == named(pair, role) for role in ("target", "draft"))


def parameter_count(parameters: int) -> str:
    """A number of parameters in words: "15.7 M", "7 B"."""
    in_billions = parameters >= 999.5e6  # would be rounded to 1000 M
    return f"{parameters / 1e9:.3g} B" if in_billions else f"{parameters / 1e6:.3g} M"

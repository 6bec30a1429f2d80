"""Acceptance measured with the loaded pair, in a thread of its own: it waits for its turn and can be stopped. Knows no page."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue

import torch

from sequoia import Pair, Policy, SequoiaError
from sequoia.atlas import counting_tree
from sequoia.measure import Counted, Progress, count_acceptance
from sequoia.teacher import force_acceptance

from .engine_room import EngineRoom
from .line import Left

Way = Callable[[Pair, Sequence[str], Policy, Progress], Counted]
RANKS = 16
TOLD = 0.1  # seconds between two tallies
WIDTH, LEVELS = 3, 5  # below the first children of the root, where levels are counted
_log = logging.getLogger(__name__)


def _on_policy(pair: Pair, prompts: Sequence[str], policy: Policy, progress: Progress) -> Counted:
    return count_acceptance(pair, prompts, policy, ranks=_ranks(pair), progress=progress)


def _by_level(pair: Pair, prompts: Sequence[str], policy: Policy, progress: Progress) -> Counted:
    tree = counting_tree(_ranks(pair), min(WIDTH, _ranks(pair)), LEVELS)
    return count_acceptance(pair, prompts, policy, tree=tree, progress=progress)


def _forced(own: bool) -> Way:
    return lambda pair, prompts, policy, progress: force_acceptance(pair, prompts, policy, ranks=_ranks(pair), own=own,
                                                                    progress=progress)


def _ranks(pair: Pair) -> int:
    return min(RANKS, pair.target.vocab)


# Ways to measure, by the name the page asks for: what the page calls them, and the counting itself.
WAYS: dict[str, tuple[str, Way]] = {
    "decode": ("on-policy, at the root", _on_policy), "levels": ("on-policy, by level", _by_level),
    "own": ("teacher-forced, target's own text", _forced(True)),
    "text": ("teacher-forced, the text as it stands", _forced(False)),
}


@dataclass(frozen=True)
class Tally:
    """How far it is: share done, 0 to 1, and words. `over`: it has ended; `error`: why, where it failed; `counted`: what came out
    of it."""

    share: float
    words: str
    over: bool = False
    error: str | None = None
    counted: Counted | None = None


class Counting:
    """Counts once, over `policy.max_new_tokens` tokens of each prompt, for at most about `seconds`. Holds nothing afterwards."""

    holding = False

    def __init__(self, room: EngineRoom, prompts: Sequence[str], policy: Policy, seconds: float, way: str = "decode") -> None:
        self._room, self._prompts, self._policy, self._seconds = room, tuple(prompts), policy, seconds
        self._way = WAYS[way][1]
        self._halt, self._mail, self._busy = threading.Event(), SimpleQueue[Tally](), False

    @property
    def busy(self) -> bool:
        return self._busy

    def start(self, _steps: int | None = None) -> None:
        """Begin in the background."""
        self._busy = True
        threading.Thread(target=self._work, name="counting", daemon=True).start()

    def halt(self) -> None:
        """Stop after the present step or pass."""
        self._halt.set()

    def release(self) -> None:
        self.halt()

    def tallies(self) -> Iterator[Tally]:
        """Tallies until the end, each the newest at its time."""
        while True:
            tally = self._mail.get()
            with suppress(Empty):
                while not tally.over:
                    tally = self._mail.get_nowait()
            yield tally
            if tally.over:
                return

    # -- in the thread ---------------------------------------------------------------------------------------------------------

    def _work(self) -> None:
        ended = Tally(0, "", True, "the count broke off by an unexpected error; the server's log has the details")
        try:
            ended = Tally(1, "", True, counted=self._count())
        except Left:
            ended = Tally(0, "stopped; the vector that was there is kept", True)
        except SequoiaError as problem:
            ended = Tally(0, "", True, str(problem))
        except (torch.OutOfMemoryError, MemoryError):
            ended = Tally(0, "", True, "out of memory; the vector that was there is kept")
        except Exception:
            _log.exception("a count failed")
        finally:
            self._busy = False
            self._mail.put(ended)

    def _count(self) -> Counted:
        self._mail.put(Tally(0, "waiting for the models"))
        with self._room.turn(self._halt.is_set, self._tell_place) as pair:
            self._end, self._told = time.monotonic() + self._seconds, 0.0
            self._mail.put(Tally(0, f"measuring on {_prompts(len(self._prompts))}"))
            return self._way(pair, self._prompts, self._policy, self._progress)

    def _progress(self, share: float) -> None:
        if self._halt.is_set():
            raise Left
        now, prompts = time.monotonic(), len(self._prompts)
        if share < 1 and now > self._end:
            raise OutOfTime(f"{self._seconds:g} s were up, the longest a count may take here")
        if now - self._told >= TOLD:
            self._told = now
            self._mail.put(Tally(share, f"{int(share * prompts + 1e-9)} of {_prompts(prompts)} done"))

    def _tell_place(self, before: int) -> None:
        self._mail.put(Tally(0, f"{before} {'run' if before == 1 else 'runs'} before yours; it begins by itself"))


def _prompts(count: int) -> str:
    return f"{count} prompt{'' if count == 1 else 's'}"


class OutOfTime(SequoiaError):
    """The count took longer than a visitor may use."""

"""Acceptance measured with the loaded pair, in a thread of its own: it waits for its turn and can
be stopped. Knows no page."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sequoia import Pair, Policy, SequoiaError
from sequoia.algorithm.progress import Progress
from sequoia.measuring.acceptance import Counted, count_acceptance
from sequoia.measuring.acceptance_by_level import counting_tree
from sequoia.measuring.acceptance_teacher_forced import force_acceptance
from ui.serving.fair_queue import Left, place_words
from ui.serving.model_host import EngineRoom
from ui.serving.task import Task

Way = Callable[[Pair, Sequence[str], Policy, Progress], Counted]
RANKS = 16
TOLD = 0.1  # seconds between two tallies
# below the first children of the root, where levels are counted
WIDTH = 3
LEVELS = 5


def _on_policy(pair: Pair, prompts: Sequence[str], policy: Policy, progress: Progress) -> Counted:
    return count_acceptance(pair, prompts, policy, ranks=_ranks(pair), progress=progress)


def _by_level(pair: Pair, prompts: Sequence[str], policy: Policy, progress: Progress) -> Counted:
    tree = counting_tree(_ranks(pair), min(WIDTH, _ranks(pair)), LEVELS)
    return count_acceptance(pair, prompts, policy, tree=tree, progress=progress)


def _forced(own: bool) -> Way:
    return lambda pair, prompts, policy, progress: force_acceptance(
        pair, prompts, policy, ranks=_ranks(pair), own=own, progress=progress
    )


def _ranks(pair: Pair) -> int:
    return min(RANKS, pair.target.vocab)


# Ways to measure, by the name the page asks for: what the page calls them, and the counting itself.
WAYS: dict[str, tuple[str, Way]] = {
    "decode": ("on-policy, at the root", _on_policy),
    "levels": ("on-policy, by level", _by_level),
    "own": ("teacher-forced, target's own text", _forced(True)),
    "text": ("teacher-forced, the text as it stands", _forced(False)),
}


@dataclass(frozen=True)
class Tally:
    """How far it is: share done, 0 to 1, and words. `over`: it has ended; `error`: why, where it
    failed; `counted`: what came out of it."""

    share: float
    words: str
    over: bool = False
    error: str | None = None
    counted: Counted | None = None


class Counting(Task[Tally]):
    """Counts once, over `policy.max_new_tokens` tokens of each prompt, for at most about
    `seconds`."""

    what = "count"
    kept = "the vector that was there is kept"

    def __init__(
        self,
        room: EngineRoom,
        prompts: Sequence[str],
        policy: Policy,
        seconds: float,
        way: str = "decode",
    ) -> None:
        super().__init__()
        self._room = room
        self._prompts = tuple(prompts)
        self._policy = policy
        self._seconds = seconds
        self._way = WAYS[way][1]

    def do(self) -> Tally:
        self.mail.put(Tally(0, "waiting for the models"))
        with self._room.turn(self.halted, self._tell_place) as pair:
            self._end = time.monotonic() + self._seconds
            self._told = 0.0
            self.mail.put(Tally(0, f"measuring on {_prompts(len(self._prompts))}"))
            return Tally(
                1, "", True, counted=self._way(pair, self._prompts, self._policy, self._progress)
            )

    def ended(self, words: str = "", error: str | None = None) -> Tally:
        return Tally(0, words, True, error)

    def _progress(self, share: float) -> None:
        if self.halted():
            raise Left
        now = time.monotonic()
        prompts = len(self._prompts)
        if share < 1 and now > self._end:
            raise OutOfTime(f"{self._seconds:g} s were up, the longest a count may take here")
        if now - self._told >= TOLD:
            self._told = now
            self.mail.put(
                Tally(share, f"{int(share * prompts + 1e-9)} of {_prompts(prompts)} done")
            )

    def _tell_place(self, before: int) -> None:
        self.mail.put(Tally(0, place_words(before)))


def _prompts(count: int) -> str:
    return f"{count} prompt{'' if count == 1 else 's'}"


class OutOfTime(SequoiaError):
    """The count took longer than a visitor may use."""

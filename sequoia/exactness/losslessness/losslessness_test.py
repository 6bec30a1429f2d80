"""One test of losslessness. What is counted is fixed before the first sample is drawn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice

from sequoia.exactness.losslessness.broken import BROKEN, BUGS, Bug
from sequoia.exactness.losslessness.cells import Cells
from sequoia.exactness.losslessness.comparison import Comparison, Grouping
from sequoia.exactness.losslessness.exact_output import output_shares
from sequoia.exactness.losslessness.pair_rows import PairRows
from sequoia.exactness.losslessness.sampling import Models, samples
from sequoia.exactness.losslessness.settings import TOY, Setting
from sequoia.models.pair import Pair


@dataclass(frozen=True)
class Findable:
    """How well a test with the cells of `grouping` would find a bug. shares: the exact probability
    of each cell for the output of the decoder with the bug, or None if unknown."""

    bug: Bug
    grouping: Grouping
    shares: tuple[float, ...] | None = None

    @cached_property
    def distance(self) -> float | None:
        """The total variation between the broken decoder's output and the target's distribution,
        over the cells."""
        return None if self.shares is None else self.grouping.distance(self.shares)

    @cached_property
    def power(self) -> float | None:
        """Roughly the probability that the test finds the bug."""
        return None if self.shares is None else self.grouping.power(self.shares)

    def after(self, draws: int) -> Findable:
        """The same bug and shares, for a test that has ended after `draws` samples."""
        return replace(self, grouping=replace(self.grouping, draws=draws))


class LosslessnessTest:
    """One test of `setting`. pair: needed unless the setting is a toy; ValueError without it.
    Raises BadPrompt, BadTree or BadSamplingParams for a bad setting, BadModel if the target
    overflows, and OutOfMemory as `in_float32` does."""

    def __init__(self, setting: Setting, pair: Pair | None = None) -> None:
        self.setting = setting
        decoding = setting.decoding  # may raise, so it comes before the slow work on a pair
        self._models = _models(setting, pair)
        decoding.require_words(self._models.vocab)
        self.cells = Cells(self._models.p, setting.places, setting.top(self._models))
        shares = tuple(cell.share for cell in self.cells.all)
        self.grouping = Grouping(shares, setting.samples)

    def comparisons(self, batch: int) -> Iterator[Comparison]:
        """After every `batch` samples, and at the end, yields a comparison of the counts so far.
        Only the verdict of the last comparison is valid (see `Comparison`)."""
        counts = [0] * len(self.cells.all)
        drawn = samples(self._models, self.setting.decoding, self.cells, self.setting.seed)
        left = self.setting.samples
        while left:
            for cell in islice(drawn, min(batch, left)):
                counts[cell] += 1
            left -= min(batch, left)
            yield Comparison(self.grouping, tuple(counts))

    def findable(self) -> tuple[Findable, ...]:
        """How well this test would find each bug that its verifier can have."""
        verifier = self.setting.verifier
        return tuple(self.find(bug) for bug in BUGS.values() if verifier in bug.verifiers)

    def find(self, bug: Bug) -> Findable:
        """How well this test would find `bug`."""
        decoding = replace(self.setting.decoding, bug=bug)
        shares = output_shares(self._models, decoding, self.cells)
        return Findable(bug, self.grouping, None if shares is None else tuple(shares))


def decoder_name(setting: Setting) -> str:
    """The name of the sampled decoder, for results and files."""
    bug = setting.decoding.bug
    return f"{BROKEN}: {bug.label}" if bug else "correct"


def _models(setting: Setting, pair: Pair | None) -> Models:
    if setting.where == TOY:
        return setting.toy
    if pair is None:
        raise ValueError("a setting with a prompt needs a pair")
    return PairRows(pair, setting.prompt, setting.params)

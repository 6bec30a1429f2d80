"""The settings of a losslessness test as plain values, and for each bug a setting that shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from sequoia.algorithm.sampling import Seeded
from sequoia.algorithm.sampling_params import GREATEST_SEED, SamplingParams
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers import DEFAULT_VERIFIER, verifier_named
from sequoia.algorithm.verifiers.verifier import Verifier
from sequoia.errors import BadSamplingParams, BadTree
from sequoia.exactness.losslessness.bugs import BUGS, Bug, ChanceOfStep, every_step
from sequoia.exactness.losslessness.tested_models import PairRows, Toy, over_torch
from sequoia.validate_input import one_of, shown, whole

TOY = "toy"
PAIR = "pair"
CORRECT = "none"  # the value of `bug` for the decoder without a bug
MOST_PLACES = 3  # tokens of a text that can be counted together
SAMPLES = 20_000
LEAST_SAMPLES = 100
MOST_SAMPLES = 100_000
MOST_CHILDREN = 8  # of a node
MOST_LEVELS = 6  # levels with children
# If more than one token of a pair's texts is counted, only the most probable TOP tokens at each
# position have cells of their own (see `Cells`).
TOP = 4


Models = Toy | PairRows  # where p and q come from


@dataclass(frozen=True)
class Decoding:
    """How a text is decoded. verifier: a verifier's key. bug: None for the correct decoder."""

    tree: Tree
    verifier: str
    bug: Bug | None = None

    def __post_init__(self) -> None:
        rule = verifier_named(self.verifier)
        if self.bug and self.verifier not in self.bug.verifiers:
            raise BadSamplingParams(
                f"verifier: {rule.label} cannot have this bug; choose one of "
                f"{', '.join(sorted(self.bug.verifiers))}"
            )

    @property
    def rule(self) -> Verifier:
        """The verifier, changed by the bug if the bug is in the verifier."""
        rule = over_torch(verifier_named(self.verifier))
        return self.bug.wrap(rule) if self.bug else rule

    def seeded(self, seed: int) -> ChanceOfStep:
        """The randomness of one sample."""
        return self.bug.seeded(seed) if self.bug else every_step(Seeded(seed))

    def require_words(self, vocab: int) -> None:
        """Raises BadTree if a node has more children than there are tokens."""
        widest = max(map(len, self.tree.children))
        if widest > vocab:
            raise BadTree(f"a node of the tree has {widest} children, but there are {vocab} tokens")


def bug_named(key: object) -> Bug | None:
    """The bug with this key, None for "none". Raises BadSamplingParams."""
    if key == "none":
        return None
    if not isinstance(key, str) or key not in BUGS:
        raise BadSamplingParams(f"bug: {shown(key)} is not one of none, {', '.join(BUGS)}")
    return BUGS[key]


@dataclass(frozen=True)
class Setting:
    """where: TOY or PAIR. p, q: for a toy, as typed. prompt, temperature, top_p: for a pair.
    children: the number of children of the root, then of every node on the next level, and so on.
    places: how many tokens at the start of each text are counted jointly (1: the first token
    alone). samples: the number of texts. bug: a key of BUGS, or CORRECT.

    Raises BadTree or BadSamplingParams. For a pair, the verifier, the bug and the size of the tree
    are checked only when `decoding` is read.
    """

    where: str = TOY
    p: str = "0.1, 0.3, 0.6"
    q: str = "0.6, 0.3, 0.1"
    prompt: str = "import "
    temperature: float = 0.6
    top_p: float = 1.0
    children: tuple[int, ...] = (2,)
    verifier: str = DEFAULT_VERIFIER
    places: int = 2
    samples: int = SAMPLES
    bug: str = CORRECT
    seed: int = 0

    def __post_init__(self) -> None:
        one_of(self.where, "where", (TOY, PAIR), BadSamplingParams)
        whole(self.places, "places", 1, MOST_PLACES, BadSamplingParams)
        whole(self.samples, "samples", LEAST_SAMPLES, MOST_SAMPLES, BadSamplingParams)
        whole(self.seed, "seed", 0, GREATEST_SEED, BadSamplingParams)
        self._check_children()
        if self.where == TOY:
            self.decoding.require_words(self.toy.vocab)
        elif self.params.temperature == 0:
            raise BadSamplingParams(
                "temperature: 0 leaves one possible token and no distribution to test; enter a "
                "number above 0"
            )

    def _check_children(self) -> None:
        if not 1 <= len(self.children) <= MOST_LEVELS:
            raise BadSamplingParams(
                f"children: {len(self.children)} numbers; enter 1 to {MOST_LEVELS} numbers"
            )
        for count in self.children:
            whole(count, "children", 1, MOST_CHILDREN, BadSamplingParams)

    @cached_property
    def toy(self) -> Toy:
        return Toy.parse(self.p, self.q)

    @cached_property
    def params(self) -> SamplingParams:
        return SamplingParams(temperature=self.temperature, top_p=self.top_p)

    @cached_property
    def decoding(self) -> Decoding:
        tree = Tree.from_branching(list(self.children))
        return Decoding(tree, self.verifier, bug_named(self.bug))

    def top(self, models: Models) -> int:
        """The `top` of Cells: how many tokens may have cells of their own at each position."""
        return models.vocab if self.where == TOY or self.places == 1 else TOP


_PAIR = Setting(where=PAIR, children=(1,), places=1)

# For each bug, a setting in which it shows. For CORRECT, the setting that the page opens with.
PRESETS: Mapping[str, Setting] = {
    CORRECT: Setting(),
    "float16": replace(_PAIR, prompt="def ", temperature=1.5, bug="float16"),
    "draft-noise": Setting(bug="draft-noise"),
    "walk-u": Setting(bug="walk-u"),
    "dropped": replace(_PAIR, bug="dropped"),
    "last-token": Setting(bug="last-token"),
}

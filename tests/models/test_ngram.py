"""The draft without a model: what it finds in a text, and runs with it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

import pytest
import torch
from fakes import tiny_pair

from sequoia import Decoder, SamplingParams, StepTrace, Tree, count_acceptance, run
from sequoia.algorithm.verifiers import VERIFIERS
from sequoia.decoding.race import Lane, Race
from sequoia.loading.load import load_pair
from sequoia.loading.pair_request import PairRequest
from sequoia.measuring.defaults import default_plan, machine
from sequoia.models.cache_and_mask import TreeLayout
from sequoia.models.ngram import LONGEST, Followers, NGram, logits_of

VOCAB = 5
WIDE = Tree.from_branching([3, 2, 1])
REPEATED = "one two three four one two three five one two three"


def found_by_hand(text: Sequence[int]) -> Counter[int]:
    """What followed the longest suffix of `text` that occurred before, by trying all places."""
    for n in range(min(LONGEST, len(text)), 0, -1):
        at = [i for i in range(n, len(text)) if text[i - n : i] == text[-n:]]
        if at:
            return Counter(text[i] for i in at)
    return Counter()


def random_text(seed: int, most: int = 40) -> list[int]:
    rng = random.Random(seed)
    return [rng.randrange(rng.choice((2, VOCAB))) for _ in range(rng.randrange(most))]


@pytest.mark.parametrize("seed", range(40))
def test_the_followers_of_the_longest_match_are_found(seed: int) -> None:
    text, more = random_text(seed), random_text(seed + 1000, 12)
    followers = Followers(text)
    assert followers.found() == found_by_hand(text)
    for token in more:
        followers.append(token)
    assert followers.found() == found_by_hand(text + more)
    for _ in more:
        followers.pop()
    assert followers.found() == found_by_hand(text)


@pytest.mark.parametrize("seed", range(20))
def test_a_node_gets_what_is_found_after_its_path(seed: int) -> None:
    """Level by level, as in a step, and again after some nodes were kept."""
    rng = random.Random(seed)
    text = [rng.randrange(VOCAB) for _ in range(12)]
    context = NGram(VOCAB, 100).open(100)
    layout = TreeLayout(context, WIDE)
    context.extend(text)
    for _ in range(2):
        tokens = [rng.randrange(VOCAB) for _ in range(len(WIDE))]
        rows = torch.cat(
            [context.forward(tokens[i:j], layout) for i, j in ((0, 1), (1, 4), (4, 16))]
        )
        for node in range(len(WIDE)):
            path = [tokens[i] for i in WIDE.path(node)]
            assert torch.equal(rows[node], logits_of(found_by_hand(text + path), VOCAB))
        kept = WIDE.path(len(WIDE) - 1)
        context.keep(kept)
        text += [tokens[i] for i in kept]
        assert context.length == len(text)


def steps(temperature: float, verifier: str, tree: Tree = WIDE) -> list[StepTrace]:
    pair = tiny_pair().with_lookup()
    params = SamplingParams(temperature=temperature, max_new_tokens=60, seed=3, ignore_eos=True)
    return [*run(Decoder(pair, REPEATED, params, tree, verifier))]


@pytest.mark.parametrize("verifier", VERIFIERS)
def test_children_are_drawn_only_where_something_was_found(verifier: str) -> None:
    """So each drafted token has a draft probability above 0, and a step for which nothing was
    found is one of plain decoding."""
    found = steps(1.5, verifier)
    assert all(q > 0 for step in found for q in step.draft_p[1:] if q is not None)
    assert {1} < {len(step.tree) for step in found}


def test_a_race_can_have_a_lane_without_a_draft_model() -> None:
    pair = tiny_pair()
    lookup = pair.with_lookup()
    assert lookup is pair.with_lookup()
    params = SamplingParams(max_new_tokens=40, ignore_eos=True)
    trees = lookup.draft.offered(WIDE)  # a decoder offers them again, which changes nothing
    lanes = [Lane("tree", WIDE), Lane("looked up", trees, pair=lookup)]
    raced = [step.tree for lane, step in Race(pair, REPEATED, params, lanes) if lane == 1]
    own = [step.tree for step in run(Decoder(lookup, REPEATED, params, WIDE))]
    assert raced == own


def test_acceptance_is_counted_over_all_steps() -> None:
    """A step for which nothing was found counts as one in which no child was accepted."""
    pair = tiny_pair().with_lookup()
    params = SamplingParams(temperature=1, max_new_tokens=50, ignore_eos=True)
    counted = count_acceptance(pair, [REPEATED], params, ranks=3)
    made = [*run(Decoder(pair, REPEATED, params, Tree.from_branching([3])))]
    assert any(len(step.tree) == 1 for step in made[:-1])
    assert counted.visited == len(made) - (len(made[-1].tree) == 1)
    assert sum(counted.accepted) == sum(len(step.verdict.path) - 1 for step in made)


def test_no_second_model_is_loaded_and_a_tree_is_planned() -> None:
    asked = PairRequest(target="a/b", draft="ngram")
    assert (asked.models, asked.title) == (("a/b",), "a/b with an n-gram lookup")
    pair = load_pair(draft="ngram", device="cpu", online=False)
    assert isinstance(pair.draft, NGram)
    assert (pair.name, pair.known) == ("target + n-gram lookup", ())
    plan = default_plan(pair, SamplingParams())
    assert plan.source == "measured"
    assert machine(pair).draft == "n-gram lookup"

"""The what-if of a batch: a pass over B trees of n nodes takes the time of one over B x n."""

from __future__ import annotations

import pytest

from sequoia import Acceptance, named_profile, profile_names
from sequoia.planning.compare_plans import BATCHES, at_batches, for_batch
from ui.words.hardware import batch_words

RATES = Acceptance((0.6, 0.2, 0.1, 0.05))


@pytest.mark.parametrize("name", profile_names())
@pytest.mark.parametrize("batch", [1, 4, 64])
def test_the_times_are_those_of_the_larger_pass(name: str, batch: int) -> None:
    profile = named_profile(name)
    batched = for_batch(profile, batch)
    for n in (1, 2, 5, 16, 64, 128):
        exact = profile.verify_seconds(n * batch), profile.draft_seconds_at(n * batch)
        found = batched.verify_seconds(n), batched.draft_seconds_at(n)
        assert found == pytest.approx(exact, rel=0.02)
    assert batched.source == "simulated"


def test_a_larger_batch_leaves_less_to_gain_and_smaller_trees() -> None:
    plans = at_batches(RATES, named_profile("rtx-4090-qwen3-8b"), 128)
    assert [one.batch for one in plans] == [*BATCHES]
    speedups = [one.tree.predicted_speedup for one in plans]
    assert speedups == sorted(speedups, reverse=True)
    assert len(plans[-1].tree.tree) < len(plans[0].tree.tree)
    assert all(one.tree.predicted_speedup >= one.chain.predicted_speedup for one in plans)
    assert plans[-1].chain.predicted_speedup >= 1


def test_the_sentence_names_the_batches_from_which_trees_and_chains_lose() -> None:
    def words(name: str) -> str:
        return batch_words(at_batches(RATES, named_profile(name), 128))

    cpu = words("epyc-2-cores-bundled")
    assert "best chain from 4 texts on" in cpu
    assert "plain decoding from 16 texts on" in cpu
    assert "up to 64 texts" in words("h100-qwen3-32b-offloaded")

"""The tree to decode with when none is given. It is planned from this machine's step times and from
the acceptance vector of the pair (target and draft). The vector has the probability that a node's
first child is accepted, that its second child is, and so on. Times or a vector that are not known
yet are measured quickly."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace

import torch

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.step_trace import StepTrace
from sequoia.algorithm.tree import MAX_NODES, Tree
from sequoia.algorithm.verifiers import DEFAULT_VERIFIER, verifier_named
from sequoia.decoding.engine import Decoder, run
from sequoia.decoding.recorder import Recorder
from sequoia.measuring.acceptance_teacher_forced import shared_mass
from sequoia.measuring.counted_acceptance import count_acceptance
from sequoia.measuring.hardware import measure_profile
from sequoia.models.pair import Pair, RecordedAcceptance
from sequoia.planning.hardware_profile import HardwareProfile
from sequoia.planning.plan_for_machine import (
    USUAL_NODES,
    Plan,
    best_chain,
    best_plan,
    bounds,
    levels_for,
)
from sequoia.saved_files.run_file import Run

# Among trees predicted to be at most this share slower than the fastest, the one with the most
# tokens per step is chosen. With 0.05, the chosen trees were larger but measurably slower.
SLACK = 0.01
# short, because a pair without a profile is measured while the user waits for the first step
_QUICK_SECONDS = 2.0
_QUICK_TOKENS = 48
_QUICK_RANKS = 8  # ranks counted if the profile is missing or limits trees to USUAL_NODES nodes
_WIDE_RANKS = 32  # ranks counted if the profile allows larger trees
# A recorded vector is used up to this difference in temperature: half the largest gap between
# recorded temperatures, which is 0.3.
_NEAR = 0.15
_QUESTION = "How does a bicycle pump work?"
_SAMPLE = 'import os\n\n\ndef main(path):\n    """Read the file and print what is in it."""\n'


def machine(pair: Pair) -> HardwareProfile:
    """This machine's profile, as stored with `pair`. If none is stored, one is measured quickly
    (about two seconds for a small pair) and stored."""
    if pair.measured.profile is None:
        pair.measured.profile = measure_profile(pair, rounds=7, seconds=_QUICK_SECONDS)
    return pair.measured.profile


def acceptance_of(
    pair: Pair, params: SamplingParams, verifier: str = DEFAULT_VERIFIER, texts: Sequence[str] = ()
) -> tuple[Acceptance, str]:
    """The pair's acceptance vector under `params` and `verifier`, and its source. The source is
    "recorded" and the kind of text, such as "recorded code", if the pair comes with a vector
    counted under nearly the same settings. Otherwise the source is "measured": the first call with
    these settings measures the vector and stores it with the pair.

    texts: the prompts. Recorded vectors counted on the most similar kind of text are preferred.
    """
    if known := known_acceptance(pair, params, verifier, texts):
        return known
    params, verifier = _settings_that_matter(params, verifier)
    quick = SamplingParams(params.temperature, params.top_p, _QUICK_TOKENS, ignore_eos=True)
    profile = pair.measured.profile
    ranks = min(
        _WIDE_RANKS if profile and bounds(profile)[0] > USUAL_NODES else _QUICK_RANKS,
        pair.target.vocab,
    )
    sample = _QUESTION if pair.chats else _SAMPLE
    found = count_acceptance(pair, [sample], quick, ranks=ranks, verifier=verifier).acceptance
    pair.measured.acceptances[params.temperature, params.top_p, verifier] = found
    return found, "measured"


def known_acceptance(
    pair: Pair, params: SamplingParams, verifier: str = DEFAULT_VERIFIER, texts: Sequence[str] = ()
) -> tuple[Acceptance, str] | None:
    """The same as `acceptance_of`, but None if the vector is neither recorded nor measured yet.
    Models run only to find the recorded kind of text that is most similar to `texts`."""
    params, verifier = _settings_that_matter(params, verifier)
    if recorded := _recorded(pair, params, verifier, texts):
        return recorded.acceptance, " ".join(filter(None, ("recorded", recorded.kind)))
    found = pair.measured.acceptances.get((params.temperature, params.top_p, verifier))
    return (found, "measured") if found else None


def _settings_that_matter(params: SamplingParams, verifier: str) -> tuple[SamplingParams, str]:
    """The settings, with a verifier or top-p that does not affect acceptance replaced by the
    default. At temperature 0 every verifier accepts only the most probable token, and top-p never
    removes it. Acceptance is counted with trees of two levels. In such a tree, a verifier that
    judges whole paths accepts exactly as the default verifier does."""
    if params.temperature == 0:
        return SamplingParams(), DEFAULT_VERIFIER
    return params, DEFAULT_VERIFIER if verifier_named(verifier).from_leaves else verifier


def _recorded(
    pair: Pair, params: SamplingParams, verifier: str, texts: Sequence[str]
) -> RecordedAcceptance | None:
    """The recorded vector nearest in temperature, of the kind of `texts` if possible. None if no
    recorded temperature is near. Vectors are recorded only for the default verifier and without
    top-p. For other settings, the result is None."""
    if verifier != DEFAULT_VERIFIER or params.top_p < 1:
        return None
    near = [known for known in pair.known if abs(known.temperature - params.temperature) <= _NEAR]
    if not near:
        return None
    kind = text_kind(pair, texts)
    return min(
        [known for known in near if known.kind == kind] or near,
        key=lambda known: abs(known.temperature - params.temperature),
    )


def text_kind(pair: Pair, texts: Sequence[str]) -> str:
    """The kind of text most similar to `texts`, among the kinds the pair's acceptance was counted
    on. Two texts are similar if draft and target agree about as much on the one as on the other.
    The usual answer is the kind of the pair's first recorded vector ("" if there is none). Another
    kind is returned only if it is clearly more similar. The last answer is cached."""
    kinds = {
        known.kind: known.agreement for known in reversed(pair.known) if known.agreement is not None
    }
    usual = pair.known[0].kind if pair.known else ""
    texts = tuple(texts)
    if not texts or len(kinds) < 2:
        return usual
    if pair.measured.kind is None or pair.measured.kind[0] != texts:
        pair.measured.kind = texts, _nearest(kinds, usual, shared_mass(pair, texts))
    return pair.measured.kind[1]


def _nearest(kinds: Mapping[str, float], usual: str, shared: torch.Tensor) -> str:
    """The kind whose agreement is nearest to the mean of `shared`, (positions,). A kind other than
    the usual one is chosen only if it is nearer by more than the standard error of that mean."""
    mean = float(shared.mean())
    error = float(shared.std()) / math.sqrt(len(shared)) if len(shared) > 1 else 1.0
    return min(kinds, key=lambda kind: abs(kinds[kind] - mean) + error * (kind != usual))


def default_plan(
    pair: Pair,
    params: SamplingParams,
    verifier: str = DEFAULT_VERIFIER,
    texts: Sequence[str] = (),
    most: int = MAX_NODES,
    profile: HardwareProfile | None = None,
) -> Plan:
    """The plan for this pair and texts like `texts`, on this machine or the machine of `profile`.
    Among the trees predicted to be within `SLACK` of the fastest and no slower than plain decoding,
    the one with the most tokens per step is chosen. If no tree is predicted to be faster than plain
    decoding, the plan is plain decoding: a tree of one node. The tree has at most `most` nodes, and
    no more than `bounds` allows for the profile. The tree is planned with a smoothed acceptance
    vector, but the plan contains the vector before smoothing, and its source."""
    profile = profile or machine(pair)
    acceptance, source = acceptance_of(pair, params, verifier, texts)
    plan = best_plan(acceptance, profile, _most_nodes(profile, most), slack=SLACK)
    return replace(plan, acceptance=acceptance, source=source)


def default_chain(
    pair: Pair,
    params: SamplingParams,
    verifier: str = DEFAULT_VERIFIER,
    texts: Sequence[str] = (),
    most: int = MAX_NODES,
    profile: HardwareProfile | None = None,
) -> Plan:
    """The chain that `default_plan` would choose if no node could have two children. It is planned
    with the same acceptance, times, bounds and `SLACK`, so that a race between tree and chain
    compares only their shapes. If `most` allows it, the chain has at least two nodes, even if plain
    decoding is predicted to be faster."""
    profile = profile or machine(pair)
    acceptance, source = acceptance_of(pair, params, verifier, texts)
    longest = min(levels_for(_most_nodes(profile, most)), most)
    plan = best_chain(acceptance, profile, longest, SLACK, min_nodes=min(2, longest))
    return replace(plan, acceptance=acceptance, source=source)


def _most_nodes(profile: HardwareProfile, most: int) -> int:
    return min(bounds(profile)[0], most)


def speculate(
    pair: Pair,
    prompt: str,
    params: SamplingParams,
    tree: Tree | None = None,
    verifier: str = DEFAULT_VERIFIER,
) -> Iterator[StepTrace]:
    """Decode `prompt` with a token tree, and yield a StepTrace for each step. Without `tree`, a
    tree is planned for this machine.

    Arguments are checked when this function is called, before the first step. Raises BadPrompt,
    BadTree, BadSamplingParams or OutOfMemory. Raises BadModel if logits overflow, which can happen
    at any step.
    """
    pair.require_room(prompt, params.max_new_tokens)
    if tree is None:
        verifier_named(verifier)  # raises before anything is measured
        tree = default_plan(pair, params, verifier, [prompt]).tree
    return run(Decoder(pair, prompt, params, tree, verifier))


def record(
    pair: Pair,
    prompt: str,
    params: SamplingParams,
    tree: Tree | None = None,
    verifier: str = DEFAULT_VERIFIER,
) -> Run:
    """Decode as `speculate` does, and return the whole run, to show in a notebook or to save.
    Raises what `speculate` raises."""
    meta = {
        "label": "measured",
        "target": pair.target.name,
        "draft": pair.draft.name,
        "prompt": prompt,
        "params": asdict(params),
        "verifier": verifier,
    }
    recorder = Recorder(pair, pair.encode(prompt), meta)
    for step in speculate(pair, prompt, params, tree, verifier):
        recorder.add(step)
    return recorder.run()

"""Whether a rounded copy of the target pays as the draft. All speed-ups are predictions, from the
times of passes on this machine."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.errors import BadModel
from sequoia.loading.placement import SHARE
from sequoia.measuring.defaults import default_chain, default_plan, machine
from sequoia.models.pair import Pair, same_weights
from sequoia.models.rounded_copy import rounded_copy_bytes
from sequoia.models.tree_forward import TreeModel
from sequoia.planning.hardware_profile import HardwareProfile
from sequoia.planning.plan_for_machine import best_plan
from sequoia.this_machine.memory import total_bytes

# The first child's rate that is assumed for a copy in int8. Measured at temperature 0.6, the mean
# sum of min(p, q) was 0.96 for SmolLM2-135M and 0.99 for the bundled target.
_LIKELY = Acceptance((0.95,))
CLEARLY = 1.1  # a copy is called faster, and advised, from this predicted speed-up on
# Bytes moved for each weight of an int8 copy in a pass. On a GPU the weights are expanded to 16
# bits first: one byte is read, then two are written and read.
_CPU_BYTES = 1
_GPU_BYTES = 5


def is_copy(pair: Pair) -> bool:
    """Whether the draft is a rounded copy of the target."""
    return pair.draft.name == f"{pair.target.name} in {pair.draft.numbers}"


@dataclass(frozen=True)
class DraftNote:
    """What a person who chooses models should know about the draft.

    code: "same" if the draft is the target itself. "copy" if it is a rounded copy of the target, in
    `numbers`; `speedup` is predicted over plain decoding. "better_copy" if a copy in int8 is
    predicted to be the better draft, with `speedup` instead of `now`.
    """

    code: Literal["same", "copy", "better_copy"]
    numbers: str = ""
    speedup: float = 1.0
    now: float = 1.0


def draft_note(pair: Pair) -> DraftNote | None:
    """None if there is nothing to know. The pair must have been measured and a tree planned for
    it."""
    draft = pair.draft
    if not isinstance(draft, TreeModel):
        return None
    if same_weights(pair.target, draft):
        return DraftNote("same")
    if is_copy(pair):
        return DraftNote("copy", draft.numbers, _at_temperature_0(pair))
    return _advice(pair, draft)


def with_draft(pair: Pair, params: SamplingParams) -> float:
    """The predicted speed-up over plain decoding, with a tree of at least two nodes."""
    plan = default_plan(pair, params)
    return (plan if len(plan.tree) > 1 else default_chain(pair, params)).predicted_speedup


def _at_temperature_0(pair: Pair) -> float:
    return with_draft(pair.as_chat() if pair.template else pair, SamplingParams())


def _advice(pair: Pair, draft: TreeModel) -> DraftNote | None:
    """That a copy is predicted to be the better draft, if the target is streamed from host memory
    and the copy fits on the device."""
    target = pair.target
    if "streamed" not in target.placement:
        return None
    try:
        needed = rounded_copy_bytes(target.hf.config, "", "int8", target.device, target.dtype)
    except BadModel:
        return None
    now = _at_temperature_0(pair)
    copied = best_plan(_LIKELY, _with_copy(pair, draft)).predicted_speedup
    if needed > SHARE * total_bytes(target.device) or copied < CLEARLY * max(now, 1):
        return None
    return DraftNote("better_copy", "int8", copied, now)


def _with_copy(pair: Pair, draft: TreeModel) -> HardwareProfile:
    """This machine's profile with a copy in int8 as the draft. Its passes are predicted to take
    longer than those of today's draft in proportion to the bytes that they move."""
    profile = machine(pair)
    each = _GPU_BYTES if pair.target.device.type == "cuda" else _CPU_BYTES
    now = draft.parameters * (1 if draft.rounding else draft.dtype.itemsize)
    longer = pair.target.parameters * each / now
    points = tuple((n, s * longer, spread * longer) for n, s, spread in profile.draft_seconds)
    return replace(profile, draft_seconds=points)

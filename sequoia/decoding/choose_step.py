"""Chooses where the steps of a run are verified: on the GPU or on the host."""

from __future__ import annotations

from sequoia.algorithm.sampling import Chance, Seeded
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.verifiers.verifier import Verifier
from sequoia.decoding.cuda.cuda_step import CudaStep, fits
from sequoia.decoding.cuda.kernel_check import kernel_problem
from sequoia.decoding.drafter import Drafter
from sequoia.decoding.host_step import HostStep
from sequoia.decoding.step import Step
from sequoia.models.tree_forward import Context


def step_for(
    target: Context, drafter: Drafter, params: SamplingParams, verifier: Verifier, chance: Chance
) -> Step:
    """The Step that makes the steps of one run. It verifies them on the GPU if the models' devices
    (see `fits`), `verifier` and `chance` allow this and the kernel passes its check. Otherwise it
    verifies them on the host. Dynamic trees are always verified on the host."""
    host = HostStep(target, drafter, params, verifier, chance)
    rule = verifier.on_gpu
    if rule is None or not isinstance(chance, Seeded):
        return host
    if not fits(target.device, drafter.context.device):
        return host
    model = target.model
    model.no_gpu_verification = kernel_problem(target.device, model.vocab, rule.replacing)
    if model.no_gpu_verification:
        return host
    return CudaStep(target, drafter, params, rule, chance, host)

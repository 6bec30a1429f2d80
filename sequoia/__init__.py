"""Tree speculative decoding as in Sequoia (arXiv 2402.12374): a draft model proposes a tree of
tokens, and the target model verifies the whole tree in one forward pass.

Short names usually mean: `p` target distribution, `q` draft distribution, `u` uniform random
number, `k` sibling rank or number of siblings, `n` number of nodes of a tree (root included),
`levels` number of its levels (the root's included), `a` acceptance vector (the acceptance rate of
each sibling rank).

The main packages, in reading order: algorithm (the paper's algorithm, without models), models
(forward passes over a tree), decoding (one step after another), planning and measuring (the best
tree for a machine), loading (how a pair of models is loaded), exactness and diagnosis (checking and
explaining a run).
tests/test_imports.py defines which package may import which.
"""

from sequoia.algorithm.acceptance import Acceptance
from sequoia.algorithm.best_tree import best_tree, dp_table
from sequoia.algorithm.expected_tokens import expected_tokens
from sequoia.algorithm.sampling_params import SamplingParams
from sequoia.algorithm.step_trace import DecodeStats, StepTrace
from sequoia.algorithm.tree import Tree
from sequoia.decoding.dynamic_tree import DynamicChoice
from sequoia.decoding.engine import Decoder, plain, run
from sequoia.decoding.race import Lane, Race
from sequoia.decoding.recorder import Recorder
from sequoia.decoding.tree_choice import TreeChoice
from sequoia.errors import BadSamplingParams, SequoiaError
from sequoia.loading.load import load_pair
from sequoia.measuring.counted_acceptance import count_acceptance
from sequoia.measuring.defaults import acceptance_of, default_plan, machine, record, speculate
from sequoia.measuring.hardware import measure_profile
from sequoia.models.pair import Pair
from sequoia.planning.hardware_profile import HardwareProfile
from sequoia.planning.named_profiles import named_profile, profile_names
from sequoia.planning.plan_for_machine import Plan, best_plan
from sequoia.saved_files.run_file import Run

__all__ = [
    "Acceptance",
    "BadSamplingParams",
    "DecodeStats",
    "Decoder",
    "DynamicChoice",
    "HardwareProfile",
    "Lane",
    "Pair",
    "Plan",
    "Race",
    "Recorder",
    "Run",
    "SamplingParams",
    "SequoiaError",
    "StepTrace",
    "Tree",
    "TreeChoice",
    "acceptance_of",
    "best_plan",
    "best_tree",
    "count_acceptance",
    "default_plan",
    "dp_table",
    "expected_tokens",
    "load_pair",
    "machine",
    "measure_profile",
    "named_profile",
    "plain",
    "profile_names",
    "record",
    "run",
    "speculate",
]

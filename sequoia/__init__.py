"""Tree speculative decoding as in Sequoia (arXiv 2402.12374): a draft model proposes a tree, the target verifies it at once.

Letters, the same everywhere: `p` target distribution, `q` draft distribution, `u` uniform draw, `k` sibling rank,
`n` nodes of a tree counting the root, `levels` counting the root's, `a` acceptance vector.

Reading order: tree, acceptance, planner, chance, warp, verify (the algorithm, no models) - slots, rows, models, pair, engine,
trace (decoding) - hardware, plan, measure, auto (the tree for a machine) - shaper, replan, dynamic (trees that change) - race -
catalog, gather, checks, unfit, hub, self_test (loading) - record, bench (keeping, comparing).
"""

from .acceptance import Acceptance
from .auto import acceptance_of, default_plan, machine, speculate
from .counted import count_acceptance, measure_acceptance
from .dynamic import Dynamic
from .engine import Decoder, plain, run
from .errors import SequoiaError
from .hardware import HardwareProfile
from .hub import load_pair
from .measure import measure_profile
from .pair import Pair
from .plan import Plan, best_plan
from .planner import best_tree, dp_table, expected_tokens
from .policy import Policy
from .race import Lane, Race
from .record import Recorder
from .replan import Replanned
from .shaper import Shaper
from .trace import DecodeStats, Run, StepTrace
from .tree import Tree

__all__ = [
    "Acceptance", "DecodeStats", "Decoder", "Dynamic", "HardwareProfile", "Lane", "Pair", "Plan", "Policy", "Race", "Recorder",
    "Replanned", "Run", "SequoiaError", "Shaper", "StepTrace", "Tree", "acceptance_of", "best_plan", "best_tree",
    "count_acceptance", "default_plan", "dp_table", "expected_tokens", "load_pair", "machine", "measure_acceptance",
    "measure_profile", "plain", "run", "speculate",
]

"""Who won a race, by how much, and how sure the verdict is: numbers and codes. The sentences are
made in ui/words/race_verdict.py.

lane_runs (the runs of each lane, as plain values), compare_pair (two lanes: the ratio of their
paces and its interval), decide (all lanes: places, ties, correction), two_prompts (a lane's
speed-ups on two prompts), verdict (the result as a value).
"""

from sequoia.diagnosis.race_verdict.compare_pair import Speedup, speedup
from sequoia.diagnosis.race_verdict.decide import race_verdict
from sequoia.diagnosis.race_verdict.lane_runs import LaneRun, LaneRuns
from sequoia.diagnosis.race_verdict.verdict import LanePlace, PairVerdict, Verdict

__all__ = [
    "LanePlace",
    "LaneRun",
    "LaneRuns",
    "PairVerdict",
    "Speedup",
    "Verdict",
    "race_verdict",
    "speedup",
]

"""Reads what other engines print about speculative decoding. Their drafts are chains, so a log has
the acceptance of first children only. Read from documentation and sources in November 2026:

- vLLM: `metrics.speculative_decoding` of a response (docs, acceptance_metrics, 0.32), and the log
  line "SpecDecoding metrics" (vllm/v1/spec_decode/metrics.py).
- SGLang: `meta_info` of a response, with `spec_verify_ct` (scheduler's output, 0.5).
- llama.cpp: the lines "draft acceptance rate = ... (A accepted / G generated)" and "statistics
  NAME" (tools/server and common/speculative); `timings.draft_n` of a response; `llama-bench -o
  json` with -p 1,2,4,8.
- AIPerf: `spec_decode_acceptance` of each line of its records.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sequoia.errors import BadLog
from sequoia.validate_input import number, whole

MOST_CHARS = 4_000_000
_ENGINES = {"sglang": "SGLang", "tensorrt_llm": "TensorRT-LLM"}  # in AIPerf's records
_MOST = 2**40  # of a count
_MOST_DIGITS = 20  # of a number in text
_MOST_NS = 1e15  # of a pass
_MOST_DRAFTED = 1024  # tokens of a chain


@dataclass(frozen=True)
class EngineLog:
    """What a log says. engine: its name. accepted, tried: how many draft tokens were accepted, and
    how many were tried, that is, all before them in their step were accepted. is_least: whether the
    log counts untried tokens as tried, so that the rate is at least this. passes: seconds of a
    target pass by its number of tokens. positions: for each place of a chain, the share of `steps`
    that accepted the token there and all before it. Without counts, times or places, the rest is 0
    or empty.
    """

    engine: str
    accepted: int = 0
    tried: float = 0.0
    is_least: bool = False
    passes: tuple[tuple[int, float], ...] = ()
    positions: tuple[float, ...] = ()
    steps: float = 0.0

    @property
    def rate(self) -> float:
        """How often a token that is tried is accepted: the first rate of an acceptance vector."""
        return self.accepted / self.tried if self.tried else 0.0


def read_log(text: str) -> EngineLog:
    """What `text` says, with all requests in it together. Raises BadLog if no engine's numbers are
    found in it, or a number is not possible."""
    if len(text) > MOST_CHARS:
        raise BadLog(f"the log has {len(text):,} characters; at most {MOST_CHARS:,} are read")
    found = [*_from_json(text)] or [*_from_lines(text)]
    if not found:
        raise BadLog(
            "no acceptance and no times were found; known are the metrics and log lines of vLLM, "
            "SGLang, llama.cpp and AIPerf, and llama-bench -o json"
        )
    engines = sorted({one.engine for one in found})
    if len(engines) > 1:
        raise BadLog(f"the log mixes {' and '.join(engines)}; read one engine at a time")
    passes = {size: seconds for one in found for size, seconds in one.passes}
    accepted = sum(one.accepted for one in found)
    tried = sum(one.tried for one in found)
    if not tried and not passes:
        raise BadLog(f"{engines[0]} tried no draft token in this log")
    is_least = any(one.is_least for one in found)
    times = tuple(sorted(passes.items()))
    steps = sum(one.steps for one in found)
    return EngineLog(engines[0], accepted, tried, is_least, times, _mean_positions(found), steps)


def _mean_positions(logs: Sequence[EngineLog]) -> tuple[float, ...]:
    """The positions of all logs together, each weighted with its steps; empty unless all have the
    same number of them."""
    counted = [one for one in logs if one.tried]
    total = sum(one.steps for one in counted)
    if not total or len({len(one.positions) for one in counted}) != 1:
        return ()
    return tuple(
        sum(one.steps * one.positions[i] for one in counted) / total
        for i in range(len(counted[0].positions))
    )


# -- JSON ------------------------------------------------------------------------------------------


def _from_json(text: str) -> Iterator[EngineLog]:
    try:
        yield from _in_value(json.loads(text))
        return
    except (ValueError, RecursionError):
        pass
    for line in text.splitlines():
        try:
            value = json.loads(line) if line.lstrip().startswith("{") else None
        except (ValueError, RecursionError):
            continue
        yield from _in_value(value)


def _in_value(value: Any, depth: int = 0) -> Iterator[EngineLog]:
    """The logs in `value` or anywhere below it."""
    if depth > 12:
        return
    if isinstance(value, Mapping):
        found = _of_object(value)
        if found:
            yield found
            return
    below = value.values() if isinstance(value, Mapping) else value
    if isinstance(value, Mapping | list):
        for one in below:
            yield from _in_value(one, depth + 1)


def _of_object(value: Mapping[str, Any]) -> EngineLog | None:
    if "spec_verify_ct" in value:
        return _sglang(value)
    if "acceptance_histogram" in value:
        engine = _ENGINES.get(str(value.get("engine")), "vLLM")
        return _of_histogram(engine, value["acceptance_histogram"], _drafted(value))
    if "draft_n" in value and "draft_n_accepted" in value:
        return _of_totals("llama.cpp", value["draft_n_accepted"], value["draft_n"], None)
    if "n_prompt" in value and "avg_ns" in value:
        return _bench_row(value)
    return None


def _drafted(value: Mapping[str, Any]) -> int | None:
    """Tokens of each step's chain; None if the log does not say."""
    found = value.get("num_spec_tokens")
    return None if found is None else _count(found, "num_spec_tokens", _MOST_DRAFTED)


def _sglang(value: Mapping[str, Any]) -> EngineLog:
    steps = _count(value["spec_verify_ct"], "spec_verify_ct")
    drafted = _count(value.get("spec_num_proposed_drafts", 0), "spec_num_proposed_drafts")
    chain = drafted // steps if steps and drafted % steps == 0 else None
    if histogram := value.get("spec_correct_drafts_histogram"):
        return _of_histogram("SGLang", histogram, chain)
    accepted = _count(value.get("spec_num_correct_drafts", 0), "spec_num_correct_drafts")
    return _of_totals("SGLang", accepted, drafted, steps)


def _bench_row(value: Mapping[str, Any]) -> EngineLog:
    size = _count(value["n_prompt"], "n_prompt", 65_536)
    seconds = number(value["avg_ns"], "avg_ns", 0, _MOST_NS, BadLog) / 1e9
    is_pass = size > 0 and not value.get("n_gen") and seconds > 0
    return EngineLog("llama.cpp", passes=((size, seconds),) if is_pass else ())


def _of_histogram(engine: str, histogram: Any, chain: int | None) -> EngineLog:
    """histogram: how many steps accepted 0, 1, 2 ... tokens, as a list or by the number."""
    pairs = histogram.items() if isinstance(histogram, Mapping) else enumerate(_list(histogram))
    counts = Counter[int]()
    for key, steps in pairs:
        accepted = _count(_number(key), "a number of accepted tokens", _MOST_DRAFTED)
        counts[accepted] += _count(steps, "a number of steps")
    longest = max(counts, default=0) if chain is None else chain
    if max((one for one, steps in counts.items() if steps), default=0) > longest:
        raise BadLog(f"a step accepted more than the {longest} tokens of its chain")
    accepted = sum(one * steps for one, steps in counts.items())
    ended = sum(steps for one, steps in counts.items() if one < longest)
    total = counts.total()
    positions = tuple(
        sum(steps for one, steps in counts.items() if one >= place) / (total or 1)
        for place in range(1, longest + 1)
    )
    return EngineLog(engine, accepted, accepted + ended, positions=positions, steps=total)


def _of_totals(engine: str, accepted: Any, drafted: Any, steps: int | None) -> EngineLog:
    """Totals alone: with the number of steps, the rate is the same for all tokens of a chain.
    Without, all drafted tokens count as tried."""
    accepted = _count(accepted, "accepted draft tokens")
    drafted = _count(drafted, "draft tokens")
    if accepted > drafted:
        raise BadLog(f"{accepted} of {drafted} draft tokens were accepted; that is not possible")
    if not steps or not accepted:
        return EngineLog(engine, accepted, drafted, is_least=drafted > accepted)
    return EngineLog(engine, accepted, accepted / _rate(accepted / steps, drafted / steps))


def _rate(mean: float, chain: float) -> float:
    """The rate with which a chain of `chain` tokens has `mean` accepted ones, on average."""
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        whole_tokens = sum(middle**i for i in range(1, int(chain) + 1))
        found = whole_tokens + (chain % 1) * middle ** (int(chain) + 1)
        low, high = (middle, high) if found < mean else (low, middle)
    return high


# -- lines -----------------------------------------------------------------------------------------

_VLLM = re.compile(
    r"SpecDecoding metrics:.*?Accepted: (\d+) tokens, Drafted: (\d+) tokens, "
    r"Per-position acceptance rate: ([\d., ]+), Avg"
)
_STATISTICS = re.compile(
    r"statistics .*#gen drafts = *(\d+).*#gen tokens = *(\d+).*#acc tokens = *(\d+)"
)
_LLAMA = re.compile(r"draft acceptance(?: rate)?\s*=\s*[\d.]+%?\s*\(\s*(\d+)[^/\d]*/\s*(\d+)")


def _from_lines(text: str) -> Iterator[EngineLog]:
    totals = []  # of llama.cpp, which its statistics repeat with the number of drafts
    has_statistics = bool(_STATISTICS.search(text))
    for line in text.splitlines():
        if vllm := _VLLM.search(line):
            yield _vllm_line(vllm[1], vllm[2], vllm[3])
        elif counts := _STATISTICS.search(line):
            steps, drafted, accepted = map(_number, counts.groups())
            yield _of_totals("llama.cpp", accepted, drafted, _count(steps, "drafts"))
        elif llama := _LLAMA.search(line):
            totals.append(_of_totals("llama.cpp", _number(llama[1]), _number(llama[2]), None))
    if not has_statistics:
        yield from totals


def _vllm_line(accepted: str, drafted: str, positions: str) -> EngineLog:
    """A position's rate is the share of steps that accepted it and all before it."""
    found = _of_totals("vLLM", _number(accepted), _number(drafted), None)
    rates = [
        number(float(one), "a per-position acceptance rate", 0, 1, BadLog)
        for one in re.findall(r"\d+(?:\.\d+)?", positions)
    ]
    if not rates:
        return found
    steps = found.tried / len(rates)
    tried = found.accepted + steps * (1 - rates[-1])
    return EngineLog("vLLM", found.accepted, tried, positions=tuple(rates), steps=steps)


# -- checks ----------------------------------------------------------------------------------------


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise BadLog("an acceptance histogram must be a list, or counts by number")
    return value


def _number(value: Any) -> Any:
    is_number = isinstance(value, str) and value.isdecimal() and len(value) <= _MOST_DIGITS
    return int(value) if is_number else value


def _count(value: Any, what: str, most: int = _MOST) -> int:
    return whole(value, what, 0, most, BadLog)

"""Functions that other programs may call, through `gradio_client` or by HTTP. Gradio lists them at
/gradio_api/info, with the types of their arguments. All but `decode` run one after another, so that
any number of calls takes at most one thread from a run. Runs wait behind those of the page."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache, wraps
from inspect import signature
from typing import Any

import gradio as gr
from pydantic import ValidationError, validate_call

from sequoia import Acceptance, Pair, SequoiaError, Tree, best_plan, machine, named_profile
from sequoia import expected_tokens as expected
from sequoia.algorithm.verifiers import DEFAULT_VERIFIER
from sequoia.errors import BadTree
from sequoia.exactness.one_step import step_outcomes
from sequoia.measuring.defaults import SLACK
from sequoia.planning.hardware_profile import HardwareProfile
from sequoia.planning.plan_for_machine import Plan
from sequoia.validate_input import shown, whole
from ui.run.decode_job import DecodeJob
from ui.run.recordings import RunStore
from ui.run.request import RunRequest
from ui.serving.fair_queue import Busy
from ui.serving.limits import Limits
from ui.serving.model_host import ModelHost
from ui.serving.sender import address_of

HERE = "this machine"
MAX_NODES = 256
_LEVELS = 8  # at most, of a tree that decode makes


def add_api(model_host: ModelHost, limits: Limits | None) -> None:
    """Add the functions to the Blocks of the current context. limits: on what `decode` may use;
    None to leave it out."""
    of_pair = OfPair(model_host)
    for called in (of_pair.plan, expected_tokens, verify, of_pair.pair_report):
        name = called.__name__
        gr.api(_refusing(called), api_name=name, concurrency_limit=1, concurrency_id="api")
    if limits is not None:
        decode = _refusing(Runs(model_host, limits).decode)
        gr.api(decode, api_name="decode", concurrency_limit=None)


def _refusing(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, with its arguments checked, and its refusals sent to the caller as they are."""
    checked = validate_call(config={"arbitrary_types_allowed": True})(function)

    @wraps(function)
    def called(*given: Any) -> Any:
        try:
            return checked(*given)
        except SequoiaError as problem:
            raise gr.Error(str(problem), print_exception=False) from None
        except ValidationError as problem:
            first = problem.errors()[0]
            where = list(signature(function).parameters)[int(first["loc"][0])]
            reason = f"{where}: {shown(first['input'])}: {first['msg']}"
            raise gr.Error(reason, print_exception=False) from None

    return called


def expected_tokens(tree: list[int], acceptance: list[float]) -> dict[str, Any]:
    """The tokens that a step is expected to emit (predicted).

    tree: the parent of each node, -1 for the root first. acceptance: the probability that a node's
    first child is accepted, that its second is, and so on."""
    shape = Tree(tuple(tree))
    return {"tokens": expected(shape, Acceptance(tuple(acceptance))), "label": "predicted"}


def verify(
    p: list[list[float]], q: list[list[float]], tree: list[int], rule: str = DEFAULT_VERIFIER
) -> dict[str, Any]:
    """Everything that one step can emit, with its exact probability.

    p, q: the target's and the draft's distributions, one row for each level of the tree, with at
    most 4 tokens. tree: the parents of at most 5 nodes, -1 for the root first. rule: the key of a
    verifier; the answer to an unknown one names all. error: the largest difference between the
    first emitted token's distribution and the target's; 0 up to rounding, as every rule here is
    lossless."""
    found = step_outcomes(p, q, Tree(tuple(tree)), rule)
    first = [0.0] * len(p[0])
    for tokens, share in found.items():
        first[tokens[0]] += share
    total = sum(p[0])
    return {
        "outcomes": [{"tokens": list(one), "probability": share} for one, share in found.items()],
        "tokens": sum(len(one) * share for one, share in found.items()),
        "first": first,
        "error": max(abs(ours - given / total) for ours, given in zip(first, p[0], strict=True)),
    }


class OfPair:
    """Those that need the loaded pair."""

    def __init__(self, model_host: ModelHost) -> None:
        self._model_host = model_host

    def plan(
        self, acceptance: list[float], profile: str = HERE, max_nodes: int = 64
    ) -> dict[str, Any]:
        """The tree predicted to be fastest, of at most `max_nodes` nodes (up to 256).

        acceptance: as in expected_tokens. profile: the name of a hardware profile that comes with
        the program, such as rtx-4090-qwen3-8b; or "this machine", as measured with the loaded
        pair."""
        most = whole(max_nodes, "max_nodes", 1, MAX_NODES, BadTree)
        times = self._here() if profile == HERE else named_profile(profile)
        return _planned(tuple(acceptance), times, most)

    def pair_report(self) -> dict[str, Any]:
        """What is stored about the loaded pair: its acceptance by rank, its sum of min(p, q), the
        times of its passes on this machine, and the speed-up that follows."""
        pair = self._pair()
        profile = self._here()
        return {
            "target": pair.target.name,
            "draft": pair.draft.name,
            "profile": profile.to_dict(),
            "texts": [
                {
                    "kind": one.kind,
                    "temperature": one.temperature,
                    "acceptance": list(one.acceptance.rates),
                    "sum_of_min_p_q": one.agreement,
                    "plan": _fields(
                        best_plan(one.acceptance, profile, MAX_NODES, slack=SLACK), profile
                    ),
                }
                for one in pair.known
            ],
        }

    def _here(self) -> HardwareProfile:
        return machine(self._pair())

    def _pair(self) -> Pair:
        """The loaded pair, after waiting for it. Raises NotLoaded."""
        return self._model_host.pair(lambda: False)


class Runs:
    """`decode`, and who is using it. At most a quarter of the places in the queue are used, and one
    for each network address."""

    def __init__(self, model_host: ModelHost, limits: Limits) -> None:
        self._model_host = model_host
        self._limits = limits
        self._most = max(1, limits.waiting // 4)
        self._addresses: set[str] = set()
        self._entering = threading.Lock()

    def decode(
        self,
        prompt: str,
        temperature: float = 0.6,
        top_p: float = 1.0,
        max_new_tokens: int = 64,
        seed: int = 0,
        nodes: int = 0,
        request: gr.Request | None = None,
    ) -> dict[str, Any]:
        """Decode a prompt, and return the run's file, as the page saves it.

        nodes: of the tree that yields the most tokens for its size; 0 for the tree planned for this
        machine, 1 for plain decoding."""
        best = ("best", f"{nodes}, {_LEVELS}", DEFAULT_VERIFIER)
        kind = "plain" if nodes == 1 else "planned"
        form = {
            **{"prompt": prompt, "temperature": temperature, "top_p": top_p, "seed": seed},
            "max_new_tokens": max_new_tokens,
            "lanes": [best if nodes > 1 else (kind, "", DEFAULT_VERIFIER)],
        }
        store = RunStore(1, self._limits.stored_nodes)
        asked = RunRequest.parse(form, self._limits)
        job = DecodeJob(asked, self._model_host, self._limits, store)
        job.yields = True
        with self._place(address_of(request)):
            job.start()
            for _ in job.messages():
                pass
        if job.error or job.recording is None:
            raise SequoiaError(job.error or "the run did not start")
        return json.loads(job.recording.log().to_json())

    @contextmanager
    def _place(self, address: str) -> Iterator[None]:
        with self._entering:
            if address in self._addresses:
                raise Busy("one call of decode at a time; your last one has not ended yet")
            if len(self._addresses) >= self._most:
                raise Busy(f"{self._most} calls of decode are running or waiting; try again later")
            self._addresses.add(address)
        try:
            yield
        finally:
            self._addresses.remove(address)


@lru_cache(maxsize=256)
def _planned(rates: tuple[float, ...], profile: HardwareProfile, most: int) -> dict[str, Any]:
    return _fields(best_plan(Acceptance(rates), profile, most, slack=SLACK), profile)


def _fields(plan: Plan, profile: HardwareProfile) -> dict[str, Any]:
    return {
        "tree": list(plan.tree.parents),
        "nodes": len(plan.tree),
        "levels": plan.tree.levels,
        "tokens": plan.expected_tokens,
        "step_ms": 1000 * plan.predicted_seconds,
        "speedup": plan.predicted_speedup,
        "label": "predicted",
        "times": profile.source,
    }

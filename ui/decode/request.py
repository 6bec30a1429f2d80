"""A requested run, parsed from the untrusted values of the form. Independent of Gradio."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sequoia import SamplingParams, SequoiaError
from sequoia.algorithm.verifiers import DEFAULT_VERIFIER, verifier_named
from sequoia.errors import BadPrompt, BadSamplingParams
from sequoia.planning.simulated_step_times import SimulatedClock
from sequoia.saved_files.run_file import clock_of
from sequoia.validate_input import shown, whole
from ui.decode import clocks
from ui.serving.limits import Limits
from ui.shared.labels import RUN, with_labels
from ui.shared.prompts import require_length
from ui.shared.saved_profiles import Entry
from ui.shared.tree_menu import TEXTS, typed_tree
from ui.shared.tree_request import TreeRequest

# used for settings that a run file lacks
_DEFAULTS = {"temperature": 1.0, "top_p": 1.0, "max_new_tokens": 128, "seed": 0}


@dataclass(frozen=True)
class DecodeRequest:
    """One run as requested. compare: whether to time plain decoding of the same prompt afterwards.
    chat: whether to wrap the prompt in the models' chat template, if they have one. clock: the
    profile of the simulated clock that times the run (see ui.decode.clocks); None to measure the
    times on this machine."""

    prompt: str
    params: SamplingParams
    tree_request: TreeRequest
    verifier: str = DEFAULT_VERIFIER
    compare: bool = True
    chat: bool = False
    clock: Entry | None = None

    @classmethod
    def parse(
        cls, form: Mapping[str, Any], limits: Limits, labels: Mapping[str, str] = RUN
    ) -> DecodeRequest:
        """The request in `form`. Raises a SequoiaError if a value is invalid. labels: the names of
        the sampling parameters in messages."""
        prompt = _prompt(form["prompt"], limits)
        params = _params(form, limits, labels)
        verifier_named(form["verifier"])
        tree_request = tree_request_of(form, limits)
        return cls(
            prompt,
            params,
            tree_request,
            form["verifier"],
            form["compare"] is True,
            form.get("chat") is True,
            _clock(form.get("clock", clocks.HERE), form.get("profiles"), tree_request),
        )

    @property
    def simulated_clock(self) -> SimulatedClock | None:
        """The clock that gives the step times; None if they are measured."""
        return clocks.simulated_clock(self.clock)


def settings_of(meta: Mapping[str, Any], limits: Limits, profiles: Any = None) -> dict[str, Any]:
    """The form values, by name, with which the run described by `meta` can be requested again. They
    include `tree` and its `numbers` only if `meta` says how the tree was requested. profiles: those
    saved in the visitor's browser. `meta` and `profiles` are untrusted. Raises a SequoiaError if
    this server would refuse the run."""
    params, tree = (
        meta[name] if isinstance(meta.get(name), Mapping) else {} for name in ("params", "tree")
    )
    tree_request = tree["request"] if isinstance(tree.get("request"), list) else []
    kind, *numbers = tree_request or ["plain"]
    first, second = [*numbers, None, None][:2]
    form = {
        "prompt": meta.get("prompt"),
        "chat": meta.get("chat") is True,
        "verifier": meta.get("verifier", DEFAULT_VERIFIER),
        "clock": clocks.key_of(clock_of(meta), profiles),
        **{name: params.get(name, value) for name, value in _DEFAULTS.items()},
    }
    DecodeRequest.parse(
        {
            **form,
            "tree": kind,
            "first": first,
            "second": second,
            "branching": first,
            "compare": False,
            "profiles": profiles,
        },
        limits,
    )
    return {**form, **({"tree": kind, "numbers": numbers} if tree_request else {})}


def _prompt(text: Any, limits: Limits) -> str:
    if not isinstance(text, str) or not text.strip():
        raise BadPrompt(
            "the prompt is empty; enter some text for the models to continue, or choose an example"
        )
    require_length(text, limits.prompt_chars)
    return text


def _params(form: Mapping[str, Any], limits: Limits, labels: Mapping[str, str]) -> SamplingParams:
    try:
        tokens = whole(
            _int(form["max_new_tokens"]), "max_new_tokens", 1, limits.tokens, BadSamplingParams
        )
        return SamplingParams.parse(
            {
                "temperature": form["temperature"],
                "top_p": form["top_p"],
                "max_new_tokens": tokens,
                "seed": _int(form["seed"]),
            }
        )
    except SequoiaError as problem:
        raise with_labels(problem, labels) from None


def tree_request_of(form: Mapping[str, Any], limits: Limits) -> TreeRequest:
    """The tree that the form asks for. Raises a SequoiaError if a field of the tree is invalid."""
    kind = form.get("tree")
    if not isinstance(kind, str):
        raise BadSamplingParams(
            f"tree: {shown(kind)} is not the name of a shape; choose one from the menu"
        )
    numbers = (typed_tree(kind, form.get("branching")),)
    if kind not in TEXTS:
        numbers = (_int(form.get("first")), _int(form.get("second")))
    return TreeRequest(kind, numbers, limits.nodes)


def _clock(key: Any, profiles: Any, tree_request: TreeRequest) -> Entry | None:
    clock = clocks.checked_clock(key, profiles)
    clocks.require_timeable(clock, tree_request.kind)
    return clock


def _int(value: Any) -> Any:
    """A whole float such as 128.0 as an int, because a browser does not distinguish 128.0 from
    128. All other values are returned unchanged."""
    return int(value) if isinstance(value, float) and value.is_integer() else value

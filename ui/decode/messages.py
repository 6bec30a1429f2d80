"""Messages from the server to the Decode view, as JSON strings. Their steps are the JSON values
described at `sequoia.saved_files.run_file.Packer`.

A message: {v, run, from, meta?, stored?, trees?, pieces?, steps, done, end?, tail?, error, notice,
wait?, follow?, followed?}. An answer to `get_steps` lacks done, error and notice; the first message
to a follower lacks error and notice. For messages without a run see `notice_message`.

from: the index of the first step, so that the browser notices missing steps.
stored: whether the page can load the run again by its name.
trees: drafted trees. pieces: the texts of tokens. A message has only those that no earlier message
of the run contained, but `since` and `whole` send all.
end: why the run ended or paused (see ui.serving.run_job.Ended).
tail: text that is held back after the last token, such as an incomplete character.
wait: how many runs are ahead, and their expected seconds. follow: true if the current run can be
followed meanwhile. Functions here get `wait` and `follow` together, as `ahead`.
followed: true for another visitor's run (added by ui.serving.following).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sequoia.saved_files.check_fields import MAX_HOW
from sequoia.saved_files.run_file import MAX_STEPS, Run, clock_of
from sequoia.validate_input import json_text
from ui.decode.clocks import mixture_in_file
from ui.serving.wait_times import NOTHING
from ui.shared.saved_profiles import MAX_NOTE
from ui.shared.speedup_meta import valid_verdict
from ui.words.machines import machine_of

VERSION = 1
MAX_TEXT = 20_000  # characters of a text in the meta
MAX_TOKENS = 1100  # tokens of a prompt
MAX_TOKEN = 200  # characters of a token
_OF_PLAIN = ("seconds", "text", "same", "finish", "limit")
_ENDS = ("eos", "length", "context", "time")  # why plain decoding ended
_TEXTS = (
    "label",
    "title",
    "target",
    "draft",
    "device",
    "dtype",
    "verifier",
    "prompt",
    "date",
    "about",
)


class RunMessages:
    """Makes the messages of one run, and counts the steps sent so far."""

    def __init__(self, run: str) -> None:
        self.run = run
        self.sent = 0

    def batch(
        self,
        added: Iterable[Mapping[str, Any]],
        *,
        meta: Mapping[str, Any] | None = None,
        end: str | None = None,
        tail: str = "",
        error: str | None = None,
        notice: str | None = None,
        ahead: Mapping[str, Any] = NOTHING,
    ) -> str:
        """One message with the steps of `added`, each as returned by `Recorder.add`. A message with
        an `end` is the last one, unless a paused or stopped run continues."""
        added = list(added)
        trees = [tree for one in added for tree in one["new_trees"]]
        pieces = {token: piece for one in added for token, piece in one["new_pieces"].items()}
        steps = [one["step"] for one in added]
        start = self.sent
        self.sent = self.sent + len(steps)
        return json_text(
            {
                "v": VERSION,
                "run": self.run,
                "from": start,
                **({"meta": meta, "stored": True} if meta is not None else {}),
                **({"trees": trees} if trees else {}),
                **({"pieces": pieces} if pieces else {}),
                "steps": steps,
                "done": end is not None,
                **({"end": end, "tail": tail} if end else {}),
                "error": error,
                "notice": notice,
                **ahead,
            }
        )


def notice_message(
    *, error: str | None = None, notice: str | None = None, ahead: Mapping[str, Any] = NOTHING
) -> str:
    """A message without a run: the page shows the texts in banners. The run on screen stays."""
    return json_text({"v": VERSION, "error": error, "notice": notice, **ahead})


def verdict_message(
    run: str,
    meta: Mapping[str, Any],
    *,
    done: bool,
    error: str | None,
    notice: str | None,
    ahead: Mapping[str, Any] = NOTHING,
) -> str:
    """A message about a finished run that is run again: its meta, with the verdict so far. done:
    whether no more further runs follow."""
    state = {"again": not done, "error": error, "notice": notice, **ahead}
    return json_text({"v": VERSION, "run": run, "meta": meta, "stored": True, **state})


def whole(run: Run, name: str, stored: bool = False) -> str:
    """The whole `run` as one message. stored: whether the page can load it again by its name."""
    state = {"stored": stored, "done": True, "error": None, "notice": None}
    return json_text({**_slice(run, name, 0), **state})


def since(run: Run, name: str, first: int, **state: Any) -> str:
    """The steps of `run` from index `first` on, with all trees and pieces. state: further fields of
    the message."""
    return json_text({**_slice(run, name, first), **state})


def _slice(run: Run, name: str, first: int) -> dict[str, Any]:
    data = run.to_dict()
    return {
        "v": VERSION,
        "run": name,
        "from": first,
        "meta": data["meta"],
        "trees": data["trees"],
        "pieces": data["pieces"],
        "steps": data["steps"][first:],
    }


def recorded(meta: Mapping[str, Any]) -> dict[str, Any]:
    """The meta of a run file, with only the known fields, and of these only what is valid.
    Its label is "simulated" if `meta` names a clock, else "recorded". Raises BadTrace if `meta`
    names a clock but is not labelled simulated."""
    clean: dict[str, Any] = {
        name: meta[name][:MAX_TEXT] for name in _TEXTS if isinstance(meta.get(name), str)
    }
    clock = clock_of(meta)
    clean["label"] = "simulated" if clock else "recorded"
    if clock:
        note = meta.get("clock_note")
        clean |= {"clock": clock, "clock_machine": machine_of(clock)}
        clean["clock_note"] = note[:MAX_NOTE] if isinstance(note, str) else ""
        clean |= mixture_in_file(meta, clock)
    if meta.get("chat") is True:
        clean |= {"chat": True, "prompt_tokens": _tokens(meta.get("prompt_tokens"))}
    if isinstance(params := meta.get("policy"), Mapping):
        clean["policy"] = _valid(
            params, ("temperature", "top_p", "max_new_tokens", "seed"), _is_number
        )
    if isinstance(tree := meta.get("tree"), Mapping):
        texts = _valid(tree, ("how", "why"), lambda value: isinstance(value, str))
        clean["tree"] = {
            **_valid(tree, ("nodes", "levels"), _is_number),
            **{name: text[:MAX_HOW] for name, text in texts.items()},
            **_valid(tree, ("wish",), _is_tree_request),
            **({"rates": "recorded"} if tree.get("rates") in ("measured", "recorded") else {}),
        }
    if _is_number(seconds := meta.get("plain_seconds", 0)) and 0 < seconds < 1e6:
        clean["plain_seconds"] = seconds
        if verdict := valid_verdict(meta.get("verdict"), clean["label"]):
            clean["verdict"] = verdict
        if meta.get("plain_lane") is True:
            clean["plain_lane"] = True
        if _is_plain_run(plain := meta.get("plain", {})):
            clean["plain"] = {name: plain[name] for name in _OF_PLAIN}
        if _is_opening(opening := meta.get("opening", {})):
            clean["opening"] = {name: opening[name] for name in ("median", "range", "prompts")}
    if (
        isinstance(rates := meta.get("acceptance"), list)
        and len(rates) <= 1024
        and all(map(_is_number, rates))
    ):
        clean["acceptance"] = rates
    if isinstance(versions := meta.get("versions"), Mapping):
        clean["versions"] = {
            str(name)[:40]: text[:40]
            for name, text in list(versions.items())[:32]
            if isinstance(text, str)
        }
    return clean


def _valid(
    source: Mapping[str, Any], names: Iterable[str], is_valid: Callable[[Any], bool]
) -> dict[str, Any]:
    return {name: source[name] for name in names if is_valid(source.get(name))}


def _tokens(value: Any) -> list[list[Any]]:
    """The prompt's tokens in a file, each [text, whether it is a special token]. Empty if they are
    not valid or too many."""
    rows = value if isinstance(value, list) and len(value) <= MAX_TOKENS else []
    good = all(
        isinstance(row, list)
        and len(row) == 2
        and isinstance(row[0], str)
        and isinstance(row[1], bool)
        for row in rows
    )
    return [[text[:MAX_TOKEN], special] for text, special in rows] if good else []


def _is_interval(value: Any, middle: float) -> bool:
    if not isinstance(value, list) or len(value) != 2 or not all(map(_is_number, value)):
        return False
    return 0 < value[0] <= middle <= value[1] < 1e6


def _is_plain_run(value: Any) -> bool:
    """Whether `value` is a possible field `plain`; see ui.shared.speedup_meta.plain_meta."""
    if not isinstance(value, Mapping):
        return False
    seconds, texts = value.get("seconds"), value.get("text")
    return (
        isinstance(seconds, list)
        and isinstance(texts, list)
        and 0 < len(seconds) == len(texts) <= MAX_STEPS
        and all(_is_number(one) and 0 <= one < 1e6 for one in seconds)
        and all(isinstance(one, str) and len(one) <= MAX_TOKEN for one in texts)
        and type(value.get("same")) is int
        and 0 <= value["same"] <= len(texts)
        and value.get("finish") in _ENDS
        and _is_number(value.get("limit"))
    )


def _is_opening(value: Any) -> bool:
    """Whether `value` is a valid `opening` of a meta. The run that the page opens with has this
    field. It contains the speed-ups on all prompts that were tried: the median, the range of the
    middle 80%, and [name, speed-up] of each prompt."""
    if not isinstance(value, Mapping) or not _is_number(median := value.get("median", "")):
        return False
    prompts = value.get("prompts")
    return (
        _is_interval(value.get("range"), median)
        and isinstance(prompts, list)
        and 0 < len(prompts) <= MAX_STEPS
        and all(
            isinstance(row, list)
            and len(row) == 2
            and isinstance(row[0], str)
            and len(row[0]) <= MAX_TOKEN
            and _is_number(row[1])
            for row in prompts
        )
    )


def _is_tree_request(value: Any) -> bool:
    """Whether `value` is a list with a kind of tree, then its numbers or its text. The tree itself
    is not checked."""
    return (
        isinstance(value, list)
        and 1 <= len(value) <= 3
        and isinstance(value[0], str)
        and all(
            _is_number(part) or (isinstance(part, str) and len(part) <= MAX_TEXT) for part in value
        )
    )


def _is_number(value: Any) -> bool:
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and abs(value) < 2**63
        and math.isfinite(value)
    )

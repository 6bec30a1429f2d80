"""A run as one JSON file, and its steps as messages to the page.

The file contains the texts of all its tokens, so the run can be replayed without the models.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sequoia.algorithm.residual_heads import MOST, ResidualHead
from sequoia.algorithm.step_trace import FINISHES, PHASES, StepTrace
from sequoia.algorithm.tree import Tree
from sequoia.algorithm.verifiers.verifier import Trial, Verdict
from sequoia.errors import BadTrace
from sequoia.saved_files.check_fields import list_of, text_of
from sequoia.validate_input import (
    MAX_JSON_BYTES,
    as_file,
    number,
    one_of,
    read_dict,
    read_file,
    shown,
    truth,
    whole,
    write_file,
)

MAX_STEPS = 4096
MAX_ID = 2**31
MAX_CLOCK = 200  # characters of a clock (see Run)
MAX_META_CHARS = 100_000  # of one text in a run's meta
MAX_META_DEPTH = 6  # levels of lists and objects in the meta
MAX_META_SIZE = 1_000_000  # characters of all texts in the meta, plus ten for each key and value
MAX_PIECES = 300_000  # texts of tokens; the usual tokenizers of language models have fewer


@dataclass(frozen=True)
class Run:
    """A recorded run.

    meta: a description of the run (models, device, sampling parameters, prompt and so on). pieces:
    for each token id, the text of that token alone. texts: texts[i] contains, for each token that
    step i emitted, the text that the token added ("" while a character is incomplete).

    The clock is the machine for which times were simulated, or "" if they were measured. A
    simulated run has the machine's name in `meta["clock"]`, and "simulated" in `meta["label"]`.
    Raises BadTrace if the clock of a step differs from the run's, or if `clock_of` rejects `meta`.
    """

    meta: Mapping[str, Any]
    pieces: Mapping[int, str]
    steps: tuple[StepTrace, ...]
    texts: tuple[tuple[str, ...], ...]

    def __post_init__(self) -> None:
        clock = clock_of(self.meta)
        if other := [step for step in self.steps if step.clock != clock]:
            raise BadTrace(
                f"step {other[0].index} has the clock {shown(other[0].clock)}, but the run has "
                f"{shown(clock)}; all steps of a run must have the run's clock"
            )

    def to_dict(self) -> dict[str, Any]:
        """The run as JSON values. For the format of a step see `Packer`."""
        packer = Packer()
        steps = [
            packer.pack(trace, text) for trace, text in zip(self.steps, self.texts, strict=True)
        ]
        pieces = {str(token): piece for token, piece in self.pieces.items()}
        content = {"meta": dict(self.meta), "trees": packer.trees, "pieces": pieces, "steps": steps}
        return as_file(content, "run")

    @classmethod
    def from_dict(cls, data: Any) -> Run:
        """The run in `data`, the JSON values of a run file. Raises BadTrace, and nothing else, if
        they are not complete and valid."""
        return read_dict(data, "run", BadTrace, _run)

    def to_json(self) -> str:
        """The text of a file that the app can open. Raises BadTrace if it is too long, and
        ValueError for NaN or infinity."""
        return write_file(self.to_dict(), "run", MAX_JSON_BYTES, BadTrace)

    @classmethod
    def from_json(cls, text: str) -> Run:
        """The run in `text`, the content of a run file. Raises BadTrace, and nothing else, if it is
        not complete and valid."""
        return read_file(text, "run", MAX_JSON_BYTES, BadTrace, _run)


def clock_of(meta: Mapping[str, Any]) -> str:
    """The clock of a run with this meta: the machine for which its times were simulated, or "" if
    they were measured. Raises BadTrace if the clock is not a text of at most MAX_CLOCK characters,
    or if there is a clock but the label is not "simulated"."""
    clock = text_of(meta.get("clock", ""), "meta: clock", MAX_CLOCK)
    if clock and meta.get("label") != "simulated":
        raise BadTrace(
            f"meta: label: {shown(meta.get('label'))}; a run with the clock {shown(clock)} must be "
            "labelled simulated"
        )
    return clock


class Packer:
    """Converts the steps of a run to JSON values, one after another. Each different tree is added
    to `trees` once, and steps refer to it by its index there.

    A step: {i: index, at: prefix_len, tree: index, tokens, q and p: a number or null for each node,
    trials: [[node, p, q, u, accepted, mass], ...], path, bonus, emitted, text: the text that each
    emitted token added, seconds: {draft, verify, overhead}, finish}. Probabilities have six
    significant digits.

    Three more fields, with four significant digits, are missing if they were not recorded.
    level_seconds: [seconds of each draft pass, ...]. residuals: [[tokens, p, q], ...], see
    `StepTrace.residual_heads`; q is left out if a head has none. expected:
    `StepTrace.expected_accepted`.
    """

    def __init__(self) -> None:
        self.trees: list[list[int]] = []
        self._numbers: dict[Tree, int] = {}

    def pack(self, trace: StepTrace, text: Sequence[str]) -> dict[str, Any]:
        """The step `trace` as JSON values. text: the text that each emitted token added."""
        number = self._numbers.setdefault(trace.tree, len(self.trees))
        if number == len(self.trees):
            self.trees.append(list(trace.tree.parents))
        verdict = trace.verdict
        return {
            "i": trace.index,
            "at": trace.prefix_len,
            "tree": number,
            "tokens": trace.tokens,
            "q": _digits(trace.draft_p),
            "p": _digits(trace.target_p),
            "trials": [
                [t.node, *_digits((t.p, t.q, t.u)), t.accepted, *_digits((t.mass,))]
                for t in verdict.trials
            ],
            "path": verdict.path,
            "bonus": verdict.bonus,
            "emitted": trace.emitted,
            "text": list(text),
            "seconds": {phase: round(seconds, 7) for phase, seconds in trace.seconds.items()},
            "finish": trace.finish,
            **_if_recorded("level_seconds", _digits(trace.level_seconds, 4)),
            **_if_recorded("residuals", [*map(_head, trace.residual_heads)]),
            **_expected(trace.expected_accepted),
        }


def _digits(values: Iterable[Any], digits: int = 6) -> list[float | None]:
    return [None if value is None else float(f"{float(value):.{digits}g}") for value in values]


def _if_recorded(name: str, values: list[Any]) -> dict[str, Any]:
    return {name: values} if values else {}


def _expected(accepted: float | None) -> dict[str, Any]:
    return {} if accepted is None else {"expected": _digits([accepted], 4)[0]}


def _head(head: ResidualHead) -> list[Any]:
    shares = [head.p, head.q] if head.q else [head.p]
    return [head.tokens, *(_digits(share, 4) for share in shares)]


# -- reading: every field is checked ---------------------------------------------------------------


def _run(data: Mapping[str, Any]) -> Run:
    steps = list_of(data["steps"], "steps", MAX_STEPS)
    trees = [Tree(parents) for parents in list_of(data["trees"], "trees", MAX_STEPS)]
    meta = checked_meta(data["meta"])
    pieces = _pieces(_object(data["pieces"], "pieces"))
    clock = clock_of(meta)
    traces = tuple(
        replace(_step(step, index, trees), clock=clock) for index, step in enumerate(steps)
    )
    if unnamed := {token for trace in traces for token in trace.shown_tokens} - pieces.keys():
        raise BadTrace(f"token {min(unnamed)} is in a step, but its text is not among the pieces")
    texts = tuple(tuple(text_of(text, "text") for text in step["text"]) for step in steps)
    return Run(meta, pieces, traces, texts)


def _pieces(pieces: Mapping[str, Any]) -> dict[int, str]:
    if len(pieces) > MAX_PIECES:
        raise BadTrace(f"{len(pieces)} pieces; expected at most {MAX_PIECES}")
    return {
        whole(int(token), "token id", 0, MAX_ID, BadTrace): text_of(piece, "piece")
        for token, piece in pieces.items()
    }


def checked_meta(meta: Any) -> dict[str, Any]:
    """`meta`, the description of a run or race in its file. Raises BadTrace if it is not an
    object, if it is too large or nested too deeply, or if a page cannot show one of its values."""
    if _check_meta(_object(meta, "meta")) > MAX_META_SIZE:
        raise BadTrace(f"meta is too large; the limit is about {MAX_META_SIZE:,} characters")
    return meta


def _object(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BadTrace(f"{what}: {shown(value)} is not an object")
    return value


def _step(step: Mapping[str, Any], index: int, trees: Sequence[Tree]) -> StepTrace:
    what = f"step {index}"
    tree = trees[whole(step["tree"], f"{what}: tree", 0, len(trees) - 1, BadTrace)]
    tokens = _ids(step["tokens"], what)
    emitted = _ids(step["emitted"], what)
    draft_p = _probabilities(step["q"], what)
    target_p = _probabilities(step["p"], what)
    if not len(tokens) == len(draft_p) == len(target_p) == len(tree):
        raise BadTrace(
            f"{what}: {len(tokens)} tokens, {len(draft_p)} q, {len(target_p)} p for a tree of "
            f"{len(tree)} nodes"
        )
    verdict = _verdict(step, tree, tokens, what)
    follows = (*(tokens[node] for node in verdict.path[1:]), verdict.bonus)
    if (
        not emitted
        or emitted != follows[: len(emitted)]
        or len(list_of(step["text"], "text", len(follows))) != len(emitted)
    ):
        raise BadTrace(
            f"{what}: the emitted tokens must be the accepted path and the bonus token, or the "
            "first few of these tokens, each with its text"
        )
    finish = step["finish"]
    if finish is not None:
        one_of(finish, f"{what}: finish", FINISHES, BadTrace)
    seconds = {
        phase: number(step["seconds"][phase], f"{what}: seconds", 0, 1e6, BadTrace)
        for phase in PHASES
    }
    whole(step["i"], f"{what}: i", index, index, BadTrace)
    prefix_len = whole(step["at"], f"{what}: at", 0, MAX_ID, BadTrace)
    return StepTrace(
        index,
        prefix_len,
        tree,
        tokens,
        draft_p,
        target_p,
        verdict,
        emitted,
        seconds,
        finish,
        level_seconds=_level_seconds(step, what),
        residual_heads=_residual_heads(step, len(verdict.trials), what),
        expected_accepted=_read_expected(step, tree, what),
    )


def _read_expected(step: Mapping[str, Any], tree: Tree, what: str) -> float | None:
    if (expected := step.get("expected")) is None:
        return None
    return number(expected, f"{what}: expected", 0, tree.levels, BadTrace)


def _level_seconds(step: Mapping[str, Any], what: str) -> tuple[float, ...]:
    return tuple(
        number(seconds, f"{what}: level_seconds", 0, 1e6, BadTrace)
        for seconds in list_of(step.get("level_seconds", []), "level_seconds", MAX_STEPS)
    )


def _residual_heads(step: Mapping[str, Any], trials: int, what: str) -> tuple[ResidualHead, ...]:
    rows = list_of(step.get("residuals", []), "residuals", trials + 1)
    if rows and len(rows) != trials + 1:
        raise BadTrace(
            f"{what}: {len(rows)} residuals; expected {trials + 1}, one for each trial and one for "
            "the token after them"
        )
    return tuple(_residual_head(row, what) for row in rows)


def _residual_head(row: Any, what: str) -> ResidualHead:
    tokens, p, q = [*list_of(row, f"{what}: residuals", 3), []][:3]
    tokens, p, q = _ids(tokens, what), _probabilities(p, what), _probabilities(q, what)
    if not 0 < len(tokens) <= MOST or len(p) != len(tokens) or len(q) not in (0, len(tokens)):
        raise BadTrace(
            f"{what}: residuals of {len(tokens)} tokens with {len(p)} p and {len(q)} q; expected "
            f"1 to {MOST} tokens with one p each, and one q each or no q"
        )
    return ResidualHead(tokens, _no_null(p, what), _no_null(q, what))


def _no_null(values: Sequence[float | None], what: str) -> tuple[float, ...]:
    known = tuple(value for value in values if value is not None)
    if len(known) != len(values):
        raise BadTrace(f"{what}: residuals: null; expected a probability")
    return known


def _verdict(step: Mapping[str, Any], tree: Tree, tokens: Sequence[int], what: str) -> Verdict:
    path = tuple(
        whole(node, f"{what}: path", 0, len(tree) - 1, BadTrace)
        for node in list_of(step["path"], "path", len(tree))
    )
    if path != tree.path(path[-1] if path else 0):
        raise BadTrace(f"{what}: path {path[:8]} does not lead down the tree from its root")
    trials = tuple(
        _trial(trial, tree, tokens, what) for trial in list_of(step["trials"], "trials", len(tree))
    )
    if not (_walks_down(path, trials, tree) or _comes_up(path, trials, tree)):
        raise BadTrace(f"{what}: the trials do not lead to the path {path[:8]}")
    return Verdict(path, whole(step["bonus"], f"{what}: bonus", 0, MAX_ID, BadTrace), trials)


def _walks_down(path: Sequence[int], trials: Sequence[Trial], tree: Tree) -> bool:
    """Whether the trials are those of a walk down from the root. In such a walk, the accepted nodes
    are those of the path below the root, and the parent of every tried node is on the path."""
    accepted = [trial.node for trial in trials if trial.accepted]
    return accepted == [*path[1:]] and all(tree.parents[trial.node] in path for trial in trials)


def _comes_up(path: Sequence[int], trials: Sequence[Trial], tree: Tree) -> bool:
    """Whether the trials are those of a traversal up from the leaves. In a traversal, no rejected
    node is on the path, and the parent of each rejected node is on the path or was tried later. If
    the path is only the root, every trial was rejected. Otherwise only the last trial was accepted,
    and its node is the end of the path."""
    above = [*path]
    for trial in reversed(trials):
        if trial.accepted and (trial is not trials[-1] or trial.node != path[-1]):
            return False
        if not trial.accepted and (trial.node in above or tree.parents[trial.node] not in above):
            return False
        above.append(trial.node)
    return path[-1] == 0 or (len(trials) > 0 and trials[-1].accepted)


def _trial(trial: Any, tree: Tree, tokens: Sequence[int], what: str) -> Trial:
    node, p, q, u, accepted, mass = trial
    node = whole(node, f"{what}: trial", 1, len(tree) - 1, BadTrace)
    truth(accepted, f"{what}: accepted", BadTrace)
    p, q, u, mass = _probabilities([p, q, u, mass], what)
    return Trial(node, tokens[node], p, q, u, accepted, mass)


def _probabilities(values: Any, what: str) -> tuple[float | None, ...]:
    return tuple(
        None if v is None else number(v, f"{what}: probability", 0, 1.00001, BadTrace)
        for v in list_of(values, "probabilities", MAX_STEPS)
    )


def _ids(values: Any, what: str) -> tuple[int, ...]:
    return tuple(
        whole(value, f"{what}: token id", 0, MAX_ID, BadTrace)
        for value in list_of(values, "tokens", MAX_STEPS)
    )


def _check_meta(value: Any, depth: int = 0) -> int:
    """The size of `value`, as MAX_META_SIZE counts it. Raises BadTrace for long texts and lists,
    deep nesting, and numbers that are not from -(2**63) to 2**63."""
    if depth > MAX_META_DEPTH:
        raise BadTrace(f"meta is nested more than {MAX_META_DEPTH} levels deep")
    size = 10
    if isinstance(value, dict | list):
        for item in (
            [*value, *value.values()]
            if isinstance(value, dict)
            else list_of(value, "meta", MAX_STEPS)
        ):
            size += _check_meta(item, depth + 1)
    elif isinstance(value, str):
        size += len(text_of(value, "meta", MAX_META_CHARS))
    elif value is not None and not isinstance(value, bool):
        number(value, "meta", -(2**63), 2**63, BadTrace)
    return size

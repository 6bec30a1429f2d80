"""A request to load a pair: which models, on which device, in which dtype. The named pairs are in
assets/pair_catalog.json."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from sequoia.assets_folder import ASSETS, BUNDLED_PAIR
from sequoia.errors import BadModel, BadPair
from sequoia.loading.model_name import checked_name
from sequoia.models.ngram import NGRAM, NGram
from sequoia.models.rounded_copy import ROUNDED
from sequoia.text_files import load_json
from sequoia.validate_input import read_each, shown

FILE = ASSETS / "pair_catalog.json"
BUNDLED_NAME = "bundled"


@dataclass(frozen=True)
class Model:
    """Published facts about a model.

    id: its id on the Hugging Face hub. bytes: total size of its weight files. licence: the
    licence's name. gated: the licence must be accepted on the model's page before a download. chat:
    the tokenizer has a chat template. source: where the figure in `bytes` comes from. revision: the
    preferred commit, looked up on the hub on `revision_date`; "" if none is preferred. pickle: the
    model is published only as a pickle file, which is refused.
    """

    id: str
    parameters: int
    bytes: int
    licence: str
    gated: bool
    chat: bool
    source: str
    revision: str = ""
    revision_date: str = ""
    pickle: bool = False


@dataclass(frozen=True)
class Preset:
    """A named pair. tier: what the pair is for, or where it comes from, in words. needs: what it
    requires, in words. note: anything else worth knowing. offload: whether layers of the target
    that do not fit on the device are streamed from host memory."""

    name: str
    tier: str
    target: Model
    draft: Model
    needs: str
    note: str = ""
    offload: bool = False

    @property
    def models(self) -> tuple[Model, Model]:
        """The target and the draft."""
        return self.target, self.draft


@cache
def presets() -> tuple[Preset, ...]:
    """All named pairs except the bundled one. Damaged entries of the file are skipped; a damaged
    file gives no pairs."""
    return read_each([(FILE.name, FILE)], _read).get(FILE.name, ())


def _read(file: Path) -> tuple[Preset, ...]:
    data = load_json(file)
    models = data["models"]

    def pair(row: dict[str, Any]) -> Preset:
        both = {role: Model(row[role], **models[row[role]]) for role in ("target", "draft")}
        return Preset(**{**row, **both})

    rows = ((f"pair {i} of {file.name}", row) for i, row in enumerate(data["pairs"], 1))
    return tuple(read_each(rows, pair).values())


def find(name: Any) -> Preset | None:
    """The pair called `name`. None for the bundled pair and for unknown names."""
    return next((one for one in presets() if one.name == name), None)


def preset(name: Any) -> Preset:
    """The pair called `name`, which must not be the bundled one. Raises BadModel with a list of all
    names if there is no such pair."""
    if found := find(name):
        return found
    known = ", ".join([BUNDLED_NAME, *(one.name for one in presets())])
    raise BadModel(
        f"unknown pair {shown(name)}; known: {known}; to load other models, pass draft= and target="
    )


@dataclass(frozen=True)
class Ref:
    """A reference to a model. name: a folder or a hub id. revision: the preferred commit, or "". If
    this machine has only another commit, that one is used. date: when `revision` was looked up."""

    name: str
    revision: str = ""
    date: str = ""


LOOKUPS: dict[str, type[NGram]] = {NGRAM: NGram}  # drafts without a model
DERIVED = (*ROUNDED, *LOOKUPS)  # drafts without files of their own


@dataclass(frozen=True)
class PairRequest:
    """A named pair, or two models given as local folders or Hugging Face ids (see
    model_name.py).

    draft: "int8" and "int4" stand for a copy of the target with its weights rounded, "ngram" for a
    lookup in the text, without a model. With one of these, the target may also be that of the pair
    called `name`. Raises BadPair if only one model is given, or if two models are given with a name
    other than the default. Raises BadModel if the target would be both spread and streamed.

    device: "auto" (GPUs if there are any, as few as have room for the pair), "spread" (the target
    over all GPUs), "cpu", "cuda", "cuda:1" and so on. dtype: a key of DTYPES
    (this_machine/dtypes.py) or "auto", the usual one of the device; a small draft on a CPU is then
    rounded to int8. offload: with True, target layers that do not fit on the device stay in host
    memory and are streamed (see large/offload.py). A number sets how many layers stay on the
    device.
    """

    name: str = BUNDLED_NAME
    target: str | None = None
    draft: str | None = None
    device: str = "auto"
    dtype: str = "auto"
    offload: bool | int = False

    def __post_init__(self) -> None:
        if (self.draft is None) != (self.target is None) and not self.derived:
            raise BadPair(
                f"draft and target must be given together, but got draft={shown(self.draft)} and "
                f"target={shown(self.target)}; as the draft, int8 or int4 means a copy of the "
                f"target, whichever that is, and {', '.join(LOOKUPS)} a lookup in the text"
            )
        if self.target is not None and self.name != BUNDLED_NAME:
            raise BadPair(
                f"give either the name of a pair or two models, not both; got the name "
                f"{shown(self.name)} and target={shown(self.target)}"
            )
        if self.device == "spread" and self._needs_streaming:
            raise BadModel(
                f"device 'spread' uses several GPUs, but the pair {shown(self.name)} streams its "
                "target to one; choose another device"
            )
        if self.device == "spread" and self.offload is not False:
            raise BadModel(
                "device 'spread' uses several GPUs, but offload streams the target to one; leave "
                "out one of the two"
            )

    @property
    def has_bundled_target(self) -> bool:
        """Whether the target is the one that comes with the program."""
        return self.target is None and self.name == BUNDLED_NAME

    @property
    def derived(self) -> str:
        """The draft if it is in DERIVED, otherwise ""."""
        return self.draft if self.draft in DERIVED else ""

    @property
    def models(self) -> tuple[Ref, ...]:
        """The target and the draft; only the target if the draft is `derived`. Raises BadModel
        if no pair has this name, or if a given model is neither a folder nor a hub id."""
        if self.target is not None:
            given = [self.target] if self.derived else [self.target, self.draft]
            return tuple(Ref(checked_name(one)) for one in given)
        return self._named[: 1 if self.derived else 2]

    @property
    def _named(self) -> tuple[Ref, Ref]:
        if self.has_bundled_target:
            return Ref(str(BUNDLED_PAIR / "target")), Ref(str(BUNDLED_PAIR / "draft"))
        target, draft = preset(self.name).models
        return _pinned(target), _pinned(draft)

    @property
    def streamed(self) -> bool | int:
        """`offload`. If that is False, whether the catalog says that this pair needs offloading."""
        return self._needs_streaming if self.offload is False else self.offload

    @property
    def _needs_streaming(self) -> bool:
        one = find(self.name)
        return bool(one and one.offload)

    @property
    def title(self) -> str:
        """The pair's name in messages."""
        target = self.target or self.name
        if self.derived:
            is_lookup = self.derived in LOOKUPS
            copy = f"an {LOOKUPS[self.derived].name}" if is_lookup else f"a copy in {self.derived}"
            return f"{target} with {copy}"
        return f"{target} with {self.draft}" if self.target else self.name


def _pinned(model: Model) -> Ref:
    return Ref(model.id, model.revision, model.revision_date)

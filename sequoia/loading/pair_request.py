"""A request to load a pair: which models, on which device, in which dtype. The named pairs are in
assets/pair_catalog.json.

A model is named by a folder, a Hugging Face id or its address, perhaps with blanks or quotes around
it."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from sequoia.assets_folder import ASSETS, BUNDLED_PAIR
from sequoia.errors import BadModel, BadPair
from sequoia.loading.model_files import is_hub_id
from sequoia.models.ngram import NGRAM, NGram
from sequoia.models.rounded_copy import ROUNDED
from sequoia.text_files import load_json
from sequoia.validate_input import shown

_LONGEST = 500
# Blanks, quotes and the like that are copied together with a name.
_AROUND = " \t\r\n\u00a0\u200b\ufeff\"'`“”<>,;"
# the address of a model on the hub, with its id
_HUB = re.compile(
    r"(?:https?://)?(?:www\.)?(?:huggingface\.co|hf\.co)/([^/?#]+(?:/[^/?#]+)?)(?:/tree/main)?/?"
)


def checked_name(ref: Any) -> str:
    """The folder or hub id that `ref` means. The folder exists; whether the hub has the id is not
    looked up. Raises BadModel if it means neither."""
    written = os.fspath(ref) if isinstance(ref, os.PathLike) else ref
    if not isinstance(written, str) or not written.strip(_AROUND) or len(written) > _LONGEST:
        raise BadModel(
            f"a model is named by a folder or a Hugging Face id (1 to {_LONGEST} characters), not "
            f"{shown(ref)}"
        )
    name = os.path.expanduser(written.strip(_AROUND))  # noqa: PTH111  a user may not exist
    for folder in (written, name):
        if os.path.isdir(folder):  # noqa: PTH112  whatever characters it has
            return folder
    if found := _HUB.fullmatch(name):
        name = found[1]
    if name.lower().endswith(".gguf"):
        raise BadModel(
            f"{shown(name)} is a GGUF file, which cannot be loaded here; give the model that it "
            "was made from (a folder or an id with safetensors weights)"
        )
    if not is_hub_id(name):
        raise BadModel(
            f"{shown(name)} is neither a folder nor a Hugging Face id (usually owner/name)"
        )
    return name


FILE = ASSETS / "pair_catalog.json"
BUNDLED_NAME = "bundled"


@dataclass(frozen=True)
class Model:
    """Published facts about a model.

    id: its id on the Hugging Face hub, or its folder in the project if it comes with the program
    (`bundled`). bytes: total size of its weight files. licence: the
    licence's name. gated: the licence must be accepted on the model's page before a download. chat:
    the tokenizer has a chat template. source: where the figure in `bytes` comes from. pickle: the
    model is published only as a pickle file, which is refused. revision: the commit on the hub that
    is used; "" for the newest one.
    """

    id: str
    parameters: int
    bytes: int
    licence: str
    gated: bool
    chat: bool
    source: str
    pickle: bool = False
    bundled: bool = False
    revision: str = ""

    @property
    def is_pinned(self) -> bool:
        """Whether its files are always the same."""
        return self.bundled or bool(self.revision)

    @property
    def ref(self) -> str:
        """What names it for loading: its id or its folder."""
        return str(ASSETS.parent / self.id) if self.bundled else self.id


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
    """All named pairs except the bundled one."""
    data = load_json(FILE)
    models = {name: Model(name, **fields) for name, fields in data["models"].items()}
    return tuple(
        Preset(**{**row, **{role: models[row[role]] for role in ("target", "draft")}})
        for row in data["pairs"]
    )


def pinned_revision(model: str) -> str:
    """The commit of the hub's `model` that is used; "" for the newest one."""
    every = (one for pair in presets() for one in pair.models)
    return next((one.revision for one in every if one.id == model), "")


def pinned_pairs() -> list[str]:
    """The names of the pairs whose files are always the same."""
    pinned = [pair.name for pair in presets() if all(one.is_pinned for one in pair.models)]
    return [BUNDLED_NAME, *pinned]


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


LOOKUPS: dict[str, type[NGram]] = {NGRAM: NGram}  # drafts without a model
DERIVED = (*ROUNDED, *LOOKUPS)  # drafts without files of their own


@dataclass(frozen=True)
class PairRequest:
    """A named pair, or two models given as local folders or Hugging Face ids.

    draft: "int8" and "int4" stand for a copy of the target with its weights rounded, "ngram" for a
    lookup in the text, without a model. With one of these, the target may also be that of the pair
    called `name`. Raises BadPair if only one model is given, or if two models are given with a name
    other than the default. Raises BadModel if the target would be both spread and streamed.

    device: "auto" (GPUs if there are any, as few as have room for the pair), "spread" (the target
    over all GPUs), "cpu", "cuda", "cuda:1" and so on. dtype: a key of DTYPES
    (this_machine/dtypes.py) or "auto", the usual one of the device. offload: with True, target
    layers that do not fit on the device stay in host memory and are streamed (see offload.py). A
    number sets how many layers stay on the device.
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
        if self.device == "spread" and self.streamed is not False:
            raise BadModel(
                "device 'spread' uses several GPUs, but offload, which some named pairs need, "
                "streams the target to one; choose another device, or leave out offload"
            )

    @property
    def has_bundled_target(self) -> bool:
        """Whether the target is the one that comes with the program."""
        return self.target is None and self.name == BUNDLED_NAME

    @property
    def is_pinned(self) -> bool:
        """Whether it names a pair whose files are always the same, so that it may be served to
        strangers."""
        return self.target is None and not self.derived and self.name in pinned_pairs()

    @property
    def derived(self) -> str:
        """The draft if it is in DERIVED, otherwise ""."""
        return self.draft if self.draft in DERIVED else ""

    @property
    def models(self) -> tuple[str, ...]:
        """Folders or hub ids of the target and the draft; only of the target if the draft is
        `derived`. Raises BadModel if no pair has this name, or if a given model is neither a folder
        nor a hub id."""
        if self.target is not None:
            given = (self.target, self.draft)
        elif self.has_bundled_target:
            given = (BUNDLED_PAIR / "target", BUNDLED_PAIR / "draft")
        else:
            given = tuple(one.ref for one in preset(self.name).models)
        return tuple(map(checked_name, given[: 1 if self.derived else 2]))

    @property
    def streamed(self) -> bool | int:
        """`offload`. If that is False, whether the catalog says that this pair needs offloading."""
        named = find(self.name)
        return bool(named and named.offload) if self.offload is False else self.offload

    @property
    def title(self) -> str:
        """The pair's name in messages."""
        target = self.target or self.name
        if self.derived:
            is_lookup = self.derived in LOOKUPS
            copy = f"an {LOOKUPS[self.derived].name}" if is_lookup else f"a copy in {self.derived}"
            return f"{target} with {copy}"
        return f"{target} with {self.draft}" if self.target else self.name

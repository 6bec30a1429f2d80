"""Finds out how the prompts of a loaded pair are encoded, where its texts end, and which settings
of its generation_config this program does not use."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from sequoia.loading.find_pair import OnProgress
from sequoia.loading.model_checks import PassedCheck
from sequoia.models.chat_format import ChatFormat, TextEnds, text_ends, tried_format
from sequoia.models.pair import Pair
from sequoia.validate_input import MAX_SHOWN, and_list, shown


def with_prompts(pair: Pair, on_progress: OnProgress) -> Pair:
    """`pair` with all fields that depend on its tokenizer and on the target's generation config.
    What was found is reported to `on_progress` and kept in the field `notes`."""
    tokenizer = pair.tokenizer
    config = pair.target.hf.generation_config
    stop = stop_tokens(config, tokenizer)
    ends = text_ends(tokenizer)
    chat = tried_format(tokenizer, stop)
    unused = unused_settings(config)
    notes = {
        "chat template": _chat_words(chat, tokenizer),
        "left out of prompts": "; ".join(_left_out(ends, chat, tokenizer)),
        "settings not used": f"{and_list(unused)} in generation_config" if unused else "",
    }
    notes = {what: words for what, words in notes.items() if words}
    for what, words in notes.items():
        on_progress(PassedCheck(what, words))
    return replace(
        pair,
        begin=ends.begin,
        stop=stop,
        template=chat if isinstance(chat, ChatFormat) else None,
        notes=notes,
    )


def stop_tokens(config: Any, tokenizer: Any) -> frozenset[int]:
    """End-of-text token ids from the generation config and the tokenizer. If there are none, runs
    end only at the token limit or at the end of the context."""
    ids = config.eos_token_id if isinstance(config.eos_token_id, list) else [config.eos_token_id]
    return frozenset({*ids, tokenizer.eos_token_id} - {None})


def _chat_words(chat: ChatFormat | str, tokenizer: Any) -> str:
    if isinstance(chat, str):
        return f"{chat}: prompts are used verbatim"
    end = f"; an answer also ends at {_names(chat.stop, tokenizer)}" if chat.stop else ""
    return f"works: prompts can be chat messages{end}"


def _left_out(ends: TextEnds, chat: ChatFormat | str, tokenizer: Any) -> Iterator[str]:
    """The tokens that are left out of prompts, and which program part adds them."""
    for maker, one in (("tokenizer", ends), ("chat template", chat)):
        if not isinstance(one, str) and one.stops:
            yield f"{_names(one.stops, tokenizer)} that the {maker} puts at the end"


def _names(ids: Iterable[int], tokenizer: Any) -> str:
    return and_list([tokenizer.convert_ids_to_tokens(token)[:MAX_SHOWN] for token in ids])


# Fields that are used, that the person who runs the model chooses instead, or that leave the text
# of `generate` as it is.
_NOT_NAMED = re.compile(
    r"(bos|eos|pad|decoder_start)_token_id|do_sample|temperature|top_p|max_(length|new_tokens)"
    r"|num_return_sequences|transformers_version|_.*|.*(cache|output|return|assist|compile).*"
)
_NONE_AT_1 = re.compile(r".*(penalty|scale)|num_beam(s|_groups)|typical_p")


def unused_settings(config: Any) -> list[str]:
    """The settings in a generation config that are not used here and may change the text of
    `generate`, such as "repetition_penalty = 1.1". Those that are 0, empty, or 1 and of a kind that
    multiplies or counts beams have no effect."""
    return [
        f"{name} = {shown(value)}"
        for name, value in config.to_diff_dict().items()
        if not _NOT_NAMED.fullmatch(name)
        and value not in (None, 0, [], {})
        and not (value == 1 and _NONE_AT_1.fullmatch(name))
    ]

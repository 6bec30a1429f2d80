"""Finds out how the prompts of a loaded pair are encoded, where its texts end, and which settings
of its generation_config this program does not use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from sequoia.errors import BadModel
from sequoia.loading.find_pair import OnProgress
from sequoia.loading.model_checks import PassedCheck
from sequoia.models.chat.chat_format import ChatFormat, TextEnds, text_ends, tried_format
from sequoia.models.pair import Pair
from sequoia.validate_input import MAX_SHOWN, and_list, shown, whole


def with_prompts(pair: Pair, on_progress: OnProgress) -> Pair:
    """`pair` with all fields that depend on its tokenizer and on the target's generation config.
    What was found is reported to `on_progress` and kept in the field `notes`."""
    tokenizer = pair.tokenizer
    config = pair.target.hf.generation_config
    stop = stop_tokens(config, tokenizer)
    ends = text_ends(tokenizer, stop)
    chat = tried_format(tokenizer, stop)
    unused = unused_settings(config)
    notes = {
        "chat template": _chat_words(chat, tokenizer),
        "left out of prompts": "; ".join(_left_out(ends, chat, tokenizer)),
        "settings not used": _unused_words(unused) if unused else "",
    }
    notes = {what: words for what, words in notes.items() if words}
    for what, words in notes.items():
        on_progress(PassedCheck(what, words))
    return replace(
        pair,
        begin=ends.begin,
        end=ends.end,
        stop=stop,
        template=chat if isinstance(chat, ChatFormat) else None,
        notes=notes,
    )


def stop_tokens(config: Any, tokenizer: Any) -> frozenset[int]:
    """End-of-text token ids from the generation config and the tokenizer. If there are none, runs
    end only at the token limit or at the end of the context. Raises BadModel if an id is not a
    whole number from -1 to 2**31."""
    configured = getattr(config, "eos_token_id", None)
    ids = configured if isinstance(configured, list) else [configured]
    what = "an end-of-text id (eos_token_id) of the target"
    return frozenset(
        whole(token, what, -1, 2**31, BadModel)
        for token in (*ids, tokenizer.eos_token_id)
        if token is not None
    )


def _chat_words(chat: ChatFormat | str, tokenizer: Any) -> str:
    if isinstance(chat, str):
        return f"{chat}: prompts are used verbatim"
    end = f"; an answer also ends at {_names(chat.stop, tokenizer)}" if chat.stop else ""
    return f"works: prompts can be chat messages{end}"


def _left_out(ends: TextEnds, chat: ChatFormat | str, tokenizer: Any) -> Iterator[str]:
    """The tokens that are left out of prompts, and which program part adds them."""
    if isinstance(chat, ChatFormat) and ends.begin[:1] == chat.first != ():
        first = _names(chat.first, tokenizer)
        yield f"in chats, {first} from the tokenizer, because the chat template writes it"
    for maker, one in (("tokenizer", ends), ("chat template", chat)):
        if isinstance(one, str):
            continue
        if one.doubled:
            yield f"a second {_names(one.doubled, tokenizer)} that the {maker} puts at the start"
        if one.stops:
            yield f"{_names(one.stops, tokenizer)} that the {maker} puts at the end"


def _names(ids: Iterable[int], tokenizer: Any) -> str:
    return and_list([tokenizer.convert_ids_to_tokens(token)[:MAX_SHOWN] for token in ids])


def _unused_words(unused: list[str]) -> str:
    return f"{and_list(unused)} in generation_config, which would change the text of generate()"


# Fields that can change the text of `generate`, with the values that have no effect, as read by
# transformers 5.23. None, [] and {} never have one. Temperature, top-p and the number of new tokens
# are not here, because the person who runs the model chooses them. Neither are fields that matter
# only together with one of these.
NO_EFFECT = {
    "repetition_penalty": 1,
    "encoder_repetition_penalty": 1,
    "no_repeat_ngram_size": 0,
    "encoder_no_repeat_ngram_size": 0,
    "bad_words_ids": None,
    "sequence_bias": None,
    "suppress_tokens": None,
    "begin_suppress_tokens": None,
    "forced_bos_token_id": None,
    "forced_eos_token_id": None,
    "min_length": 0,
    "min_new_tokens": 0,
    "exponential_decay_length_penalty": None,
    "guidance_scale": 1,
    "watermarking_config": None,
    "top_k": 0,
    "top_h": None,
    "min_p": 0,
    "typical_p": 1,
    "epsilon_cutoff": 0,
    "eta_cutoff": 0,
    "num_beams": 1,
    "penalty_alpha": 0,
    "dola_layers": None,
    "constraints": None,
    "force_words_ids": None,
    "token_healing": False,
    "stop_strings": None,
    "max_time": None,
}


def unused_settings(config: Any) -> list[str]:
    """The settings in a generation config that would change the text of `generate` but are not used
    here, such as "repetition_penalty = 1.1"."""
    values = {name: getattr(config, name, None) for name in NO_EFFECT}
    return [
        f"{name} = {shown(value)}"
        for name, value in values.items()
        if value not in (None, [], {}, NO_EFFECT[name])
    ]

"""What loading finds out about prompts and the end of texts: a template that drops the message is
not used, special tokens that should not be in a prompt are left out, an answer ends at the token
that the template writes after it, and settings that are not used are named."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from fake_tokenizers import byte_fallback, byte_level, word_pieces
from fakes import tiny_pair
from tokenizers import AddedToken, processors
from transformers import GenerationConfig

from sequoia import Pair
from sequoia.loading.find_pair import LoadNews
from sequoia.loading.model_checks import PassedCheck
from sequoia.loading.prompt_setup import unused_settings, with_prompts

WORD = "hello"
EACH = "{% for m in messages %}{{ m.role }}: {{ m.content }}{{ eos_token }}\n{% endfor %}"
CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
# Templates that cannot be used, and part of the reason.
UNUSABLE = {
    "message ignored": ("You help. A:", "does not contain the message"),
    "system message needed": (
        "{% if messages[0].role != 'system' %}{{ raise_exception('no system message') }}{% endif %}"
        "{{ messages[1].content }}",
        "no system message",
    ),
}


def loaded(tokenizer: Any, **settings: Any) -> tuple[Pair, dict[str, str]]:
    """A pair with `tokenizer` and a target with these generation settings, set up as after loading.
    Also the words of the passed checks."""
    pair = tiny_pair()
    pair.target.hf.generation_config = GenerationConfig(**settings)
    reported = list[LoadNews]()
    found = with_prompts(replace(pair, tokenizer=tokenizer), reported.append)
    words = {news.what: news.words for news in reported if isinstance(news, PassedCheck)}
    assert words == found.notes
    return found, words


def chatting(template: Any, *special: str, made: Any = None) -> Any:
    """A tokenizer with `template` and these special tokens."""
    tokenizer = made or byte_level()
    tokenizer.add_tokens([AddedToken(one, special=True, normalized=False) for one in special])
    tokenizer.chat_template = template
    return tokenizer


def text_of(pair: Pair, prompt: str, chat: bool = True) -> str:
    return pair.tokenizer.decode(pair.encode(prompt, chat=chat))


# -- which templates are used ----------------------------------------------------------------------


@pytest.mark.parametrize("name", UNUSABLE)
def test_a_template_that_drops_the_message_is_not_used(name: str) -> None:
    template, reason = UNUSABLE[name]
    pair, words = loaded(chatting(template))
    assert pair.template is None
    assert "not used" in words["chat template"]
    assert reason in words["chat template"]


def test_of_named_templates_the_default_is_used_and_judged() -> None:
    pair, _ = loaded(chatting({"default": EACH, "tool_use": "T"}))
    assert WORD in text_of(pair, WORD)
    dropping, _ = loaded(chatting({"default": "T", "tool_use": EACH}))
    assert dropping.template is None


# -- tokens left out of prompts --------------------------------------------------------------------


def adding(*names: str, made: Any = None) -> Any:
    """A tokenizer that puts these tokens around a text, written "A"."""
    tokenizer = made or byte_fallback()
    ids = {name: tokenizer.convert_tokens_to_ids(name) for name in names if name != "A"}
    tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single=" ".join("$A" if name == "A" else name for name in names),
        special_tokens=[*ids.items()],
    )
    return tokenizer


def like_bert() -> Any:
    return adding("A", "[SEP]", made=word_pieces())


ADDING = {
    "end": (lambda: adding("A", "</s>"), [], ["</s>"]),
    "both": (lambda: adding("<s>", "A", "</s>"), ["<s>"], ["</s>"]),
    "separator": (like_bert, [], ["[SEP]"]),
}


@pytest.mark.parametrize("name", ADDING)
def test_what_a_tokenizer_should_not_add_is_left_out_and_named(name: str) -> None:
    make, begin, named = ADDING[name]
    pair, words = loaded(make())
    ids = pair.encode(WORD)
    text = pair._ids(WORD, add_special_tokens=False)
    assert pair.begin == tuple(pair.tokenizer.convert_tokens_to_ids(begin))
    assert ids == pair.begin + text
    assert all(one in words["left out of prompts"] for one in named)


def test_special_tokens_that_the_visitor_typed_stay() -> None:
    pair, _ = loaded(adding("<s>", "A", "</s>"))
    for typed in ("hello</s>", "hello</s></s>", "a</s>b"):
        assert pair.encode(typed) == pair.begin + pair._ids(typed, add_special_tokens=False)


# Templates, and what stays of what they write. Of the last two, all of it.
WRITING = {
    "end": ("{{ messages[0].content }}{{ eos_token }}", WORD),
    "end inside": ("{{ bos_token }}[{{ messages[0].content }}</s>]", f"<s>[{WORD}</s>]"),
    "end of an answer": (
        "{% for m in messages %}{{ m.content }}<|call|>{% endfor %}",
        f"{WORD}<|call|>",
    ),
}


@pytest.mark.parametrize("name", WRITING)
def test_what_a_template_should_not_write_is_left_out_and_named(name: str) -> None:
    template, expected = WRITING[name]
    pair, words = loaded(chatting(template, made=byte_fallback(strip=False)))
    assert text_of(pair, WORD) == expected
    assert text_of(pair, f"{WORD}</s>") == expected.replace(WORD, f"{WORD}</s>")
    assert ("left out of prompts" in words) is (name not in ("end inside", "end of an answer"))


def test_a_chat_begins_once_if_both_template_and_tokenizer_write_the_beginning() -> None:
    tokenizer = chatting("{{ bos_token }}[{{ messages[0].content }}]", made=adding("<s>", "A"))
    pair, _ = loaded(tokenizer)
    ids = pair.encode(WORD, chat=True)
    assert ids.count(pair.tokenizer.bos_token_id) == 1


# -- where answers end -----------------------------------------------------------------------------

# Templates, and the token that they write after an answer.
ANSWERS = {
    "chatml": (CHATML, "<|im_end|>"),
    "llama 3": (
        "{% for m in messages %}<|im_start|>{{ m.role }}<|x|>\n\n{{ m.content | trim }}<|eot_id|>"
        "{% endfor %}",
        "<|eot_id|>",
    ),
    "only before another message": (
        "{% for m in messages %}{{ m.content }}{% if not loop.last %}<|im_end|>{% endif %}"
        "{% endfor %}",
        "<|im_end|>",
    ),
    "the next message's token after a cue": (
        "{% for m in messages %}<|{{ m.role }}|>\n{{ m.content }}{% endfor %}<|assistant|>",
        "<|user|>",
    ),
}
NO_TOKEN = {
    "new line": "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}",
    "answers are refused": (
        "{% for m in messages %}{% if m.role != 'user' %}{{ raise_exception('users only') }}"
        "{% endif %}{{ m.content }}<|im_end|>x{% endfor %}"
    ),
    "the token ends every text": EACH,
}
SPECIAL = ("<|im_start|>", "<|im_end|>", "<|eot_id|>", "<end_of_turn>", "<|user|>", "<|assistant|>")


def talking(template: str) -> Any:
    tokenizer = chatting(template, *SPECIAL)
    tokenizer.add_tokens([AddedToken("<|plain|>", special=False, normalized=False)])
    return tokenizer


@pytest.mark.parametrize("name", ANSWERS)
def test_a_chat_also_ends_where_the_template_ends_an_answer(name: str) -> None:
    template, end = ANSWERS[name]
    pair, words = loaded(talking(template))
    token = pair.tokenizer.convert_tokens_to_ids(end)
    assert pair.as_chat().stop == pair.stop | {token}
    assert token not in pair.stop
    assert end in words["chat template"]


@pytest.mark.parametrize("name", NO_TOKEN)
def test_a_chat_ends_nowhere_else_if_the_template_writes_no_token_there(name: str) -> None:
    pair, _ = loaded(talking(NO_TOKEN[name]))
    assert pair.template
    assert pair.as_chat().stop == pair.stop


# -- settings that are not used --------------------------------------------------------------------

SET = {
    "repetition_penalty": 1.1,
    "top_k": 1,  # the most probable token only
}


@pytest.mark.parametrize("name", SET)
def test_a_setting_that_is_not_used_is_named(name: str) -> None:
    pair, words = loaded(byte_level(), **{name: SET[name]})
    assert f"{name} = " in words["settings not used"]
    assert pair.notes["settings not used"] == words["settings not used"]


def test_settings_without_effect_are_not_named() -> None:
    _, words = loaded(byte_level(), do_sample=True, temperature=0.6, top_p=0.9, max_length=99)
    assert "settings not used" not in words
    neutral = {"repetition_penalty": 1.0, "num_beams": 1, "min_p": 0, "suppress_tokens": []}
    assert unused_settings(GenerationConfig(**neutral, pad_token_id=5, use_cache=False)) == []

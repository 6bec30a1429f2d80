"""Prompts as chat messages: a template gives the same text as in `transformers`, and a template
that fails raises BadPrompt."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from fakes import pair_of, tiny_model, tiny_tokenizer

from sequoia import Acceptance, Pair
from sequoia.errors import BadPrompt
from sequoia.measuring.hardware import measure_profile
from sequoia.models.chat_template import chat_template
from sequoia.models.pair import CHAT, PairCache, RecordedAcceptance

CHATML = (
    "{%- for message in messages %}{{ '<|begin|>' + message['role'] + '\\n' + message['content'] "
    "+ '<|endoftext|>\\n' }}{%- endfor %}{%- if add_generation_prompt %}{{ "
    "'<|begin|>assistant\\n' }}{%- endif %}"
)
GOOD = {
    "chatml": CHATML,
    "system": (
        "{% set system = 'You help.' %}{{ bos_token }}{{ system }}\n{% for m in messages %}[{{ "
        "m.role }}] {{ m.content | trim }}\n{% endfor %}[assistant]"
    ),
}
FAILING = {
    "escape": ("{{ ''.__class__.__mro__[1].__subclasses__() }}", "unsafe"),
    "import": ("{% import 'os' as os %}{{ os.getcwd() }}", "no loader"),
    "raises": ("{{ raise_exception('only tools') }}", "only tools"),
}


def tokenizer(template: Any) -> Any:
    made = tiny_tokenizer()
    made.chat_template = template
    return made


@pytest.fixture(scope="module")
def pair() -> Pair:
    target = tiny_model()
    return pair_of(target, target, tokenizer(CHATML))


# -- good templates --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", GOOD)
def test_a_template_renders_the_same_text_as_in_transformers(name: str) -> None:
    ours = tokenizer(GOOD[name])
    for text in ("Hello", "{{ 7 * 7 }} ${x} <b>", 'ü 你好 🙂\n\t"quoted" \\'):
        expected = ours.apply_chat_template(
            [{"role": "user", "content": text}], add_generation_prompt=True, tokenize=False
        )
        assert rendered(ours, text) == expected


def rendered(ours: Any, text: str) -> str:
    found = chat_template(ours)
    assert found
    return found(text)


def test_a_message_is_encoded_with_the_special_tokens_that_its_template_writes(pair: Pair) -> None:
    ids = pair.encode("hello", chat=True)
    assert pair.tokenizer.decode(ids) == "<|begin|>user\nhello<|endoftext|>\n<|begin|>assistant\n"
    assert ids[0] == pair.tokenizer.convert_tokens_to_ids("<|begin|>")
    assert pair.as_chat().encode("hello") == ids
    assert pair.as_chat().encode("hello", chat=False) == pair.encode("hello") != ids


def test_trees_for_chats_are_planned_from_acceptance_that_was_recorded_on_chats(
    pair: Pair,
) -> None:
    code, chat = (
        RecordedAcceptance(0.6, Acceptance((rate,)), kind)
        for kind, rate in (("code", 0.8), (CHAT, 0.4))
    )
    assert replace(pair, known=(code, chat)).as_chat().known == (chat,)
    assert replace(pair, known=(code,)).as_chat().known == (code,)


def test_chats_share_the_machine_profile_but_not_the_acceptance(pair: Pair) -> None:
    distribution = (0.0, 1.0, "sequoia")
    text = Acceptance((0.8,))
    chat = Acceptance((0.4,))
    pair.measured.profile = measure_profile(pair, sizes=(1,), widths=(1,), rounds=1)
    pair.measured.acceptances[distribution] = text
    chats = pair.as_chat()
    assert chats.measured == PairCache(profile=pair.measured.profile)
    chats.measured.acceptances[distribution] = chat
    assert pair.as_chat().measured.acceptances == {distribution: chat}
    assert pair.measured.acceptances == {distribution: text}
    assert chats.as_chat() is chats


# -- templates and prompts that fail ---------------------------------------------------------------


@pytest.mark.parametrize("name", FAILING)
def test_a_template_that_fails_says_why(name: str) -> None:
    text, says = FAILING[name]
    with pytest.raises(
        BadPrompt, match=f"the model's chat template fails on this prompt: .*{says}"
    ):
        rendered(tokenizer(text), "hello")


def test_prompts_are_checked_before_they_are_rendered(pair: Pair) -> None:
    for prompt in ("", "x" * 20_001, "\ud800", None):
        with pytest.raises(BadPrompt, match="the prompt"):
            pair.encode(prompt, chat=True)

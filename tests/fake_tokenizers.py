"""Small real tokenizers of each kind that language models have. None of them needs a file.

KINDS[kind]()   a new tokenizer of that kind
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from fakes import tiny_tokenizer
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers
from transformers import PreTrainedTokenizerFast

BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
LETTERS = "abcdefghijklmnopqrstuvwxyzABC0123.,!?'-_()ü"
MERGES = [("t", "h"), ("h", "e"), ("▁", "a"), ("▁", "t"), ("▁", "th"), ("i", "n"), ("e", "r")]
SPECIAL = AddedToken("<|call|>", special=True, normalized=False)
ADDED = AddedToken("<｜two▁words x｜>", normalized=False)


def _numbered(*names: str) -> dict[str, int]:
    return {name: i for i, name in enumerate(dict.fromkeys(names))}


def _fast(
    core: Tokenizer, added: Iterable[AddedToken] = (), **options: object
) -> PreTrainedTokenizerFast:
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, **options)
    tokenizer.add_tokens([*added])
    return tokenizer


def byte_level() -> PreTrainedTokenizerFast:
    """Like those of GPT-2, Llama 3 and Qwen: a token is a sequence of bytes."""
    tokenizer = tiny_tokenizer()
    tokenizer.add_tokens([SPECIAL, ADDED])
    return tokenizer


def byte_level_in_a_sequence() -> PreTrainedTokenizerFast:
    """The same tokens, but with the decoder inside a sequence."""
    tokenizer = byte_level()
    tokenizer.backend_tokenizer.decoder = decoders.Sequence([decoders.ByteLevel()])
    return tokenizer


def byte_fallback(strip: bool = True) -> PreTrainedTokenizerFast:
    """Like Llama 2's, or like Gemma's if `strip` is false. A character without a token is encoded
    as bytes. strip: whether encoding puts a space before the text and decoding removes it."""
    merged = map("".join, MERGES)
    vocab = _numbered("<unk>", "<s>", "</s>", *BYTES, "▁", *LETTERS, "\ufffd", "好", *merged)
    core = Tokenizer(models.BPE(vocab, MERGES, byte_fallback=True, unk_token="<unk>"))
    spaces = normalizers.Replace(" ", "▁")
    prepended = normalizers.Sequence([normalizers.Prepend("▁"), spaces])
    core.normalizer = prepended if strip else spaces
    parts = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    core.decoder = decoders.Sequence([*parts, *([decoders.Strip(" ", 1, 0)] if strip else [])])
    return _fast(core, [SPECIAL, ADDED], unk_token="<unk>", bos_token="<s>", eos_token="</s>")


def unigram_fallback() -> PreTrainedTokenizerFast:
    """Like T5's and other SentencePiece tokenizers, but with a token for each byte."""
    names = dict.fromkeys(("<unk>", "▁", *LETTERS, "▁a", "th", *BYTES))
    core = Tokenizer(models.Unigram([(name, -i / 50) for i, name in enumerate(names)], 0, True))
    core.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    spaces = decoders.Metaspace(prepend_scheme="first")
    core.decoder = decoders.Sequence([decoders.ByteFallback(), spaces])
    return _fast(core, [SPECIAL, ADDED], unk_token="<unk>")


def metaspace() -> PreTrainedTokenizerFast:
    """A space is part of the word after it, and characters without a token become <unk>."""
    names = dict.fromkeys(("<unk>", "▁", *LETTERS, "▁a", "th"))
    core = Tokenizer(models.Unigram([(name, -float(i)) for i, name in enumerate(names)], 0, False))
    core.pre_tokenizer = pre_tokenizers.Metaspace()
    core.decoder = decoders.Metaspace()
    return _fast(core, [SPECIAL], unk_token="<unk>")


def word_pieces(cleanup: bool = True) -> PreTrainedTokenizerFast:
    """Like BERT's. Decoding puts a space before each token after the first, except before tokens
    that begin with ##. cleanup: whether the decoder then removes some of the spaces."""
    words = ("the", "##ing", "don", "##n't", "n't", "'s", "好")
    vocab = _numbered("[UNK]", "[SEP]", *LETTERS, *("##" + letter for letter in LETTERS), *words)
    core = Tokenizer(models.WordPiece(vocab, unk_token="[UNK]"))
    core.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    core.decoder = decoders.WordPiece("##", cleanup)
    return _fast(core, unk_token="[UNK]", sep_token="[SEP]")


def word_ends() -> PreTrainedTokenizerFast:
    """Like the first GPT's. The last token of a word ends with </w>. Decoding writes the space
    after a word only if another token follows."""
    vocab = _numbered("<unk>", *LETTERS, *(letter + "</w>" for letter in LETTERS))
    core = Tokenizer(models.BPE(vocab, [], unk_token="<unk>", end_of_word_suffix="</w>"))
    core.pre_tokenizer = pre_tokenizers.Whitespace()
    core.decoder = decoders.BPEDecoder("</w>")
    return _fast(core, unk_token="<unk>")


KINDS: dict[str, Callable[[], PreTrainedTokenizerFast]] = {
    "byte-level": byte_level,
    "byte-level in a sequence": byte_level_in_a_sequence,
    "byte fallback, Llama": byte_fallback,
    "byte fallback, Gemma": lambda: byte_fallback(strip=False),
    "byte fallback, unigram": unigram_fallback,
    "metaspace": metaspace,
    "word pieces": word_pieces,
    "word pieces, not cleaned": lambda: word_pieces(cleanup=False),
    "word ends": word_ends,
}
FALLBACK = tuple(kind for kind in KINDS if kind.startswith("byte fallback"))

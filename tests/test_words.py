"""The files in TEXTS must not use the words listed in WORDS. Each word is listed with the plain
English to say instead. ALLOWED lists the exceptions. This file itself is not searched."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TEXTS = (
    "README.md",
    "app.py",
    "assets/lessons/tour.json",
    "assets/paper.json",
    "assets/tooltips.json",
    "assets/theme/*",
    "sequoia/**/*.py",
    "tests/**/*.html",
    "tests/**/*.js",
    "tests/**/*.py",
    "ui/**/*.css",
    "ui/**/*.html",
    "ui/**/*.js",
    "ui/**/*.py",
)


@dataclass(frozen=True)
class Word:
    """wrong: a pattern. say: what to write instead. only: search only files whose path begins with
    this.

    Before the search, the text is put in lower case and its names are split into words, so that
    `law check` also finds law_check and LawCheck. A space in the pattern also matches a hyphen, the
    end of a line and the comment sign after it. code: search the text without these changes, with
    the pattern as it is."""

    wrong: str
    say: str
    code: bool = False
    only: str = ""


@dataclass(frozen=True)
class Allowed:
    """text: a pattern for text that is allowed in files whose path begins with `only`."""

    text: str
    reason: str
    only: str = ""


WORDS = (
    # words and phrases that are always wrong, in all files or in one folder
    Word(r"laws?", "distribution"),
    Word(r"told", "given, reported, shown; for “told apart”: distinguished"),
    Word(r"whoever", "the caller, the visitor"),
    Word(r"lend|lends|lent|lending", "acquire, pass"),
    Word(r"rehears\w*", "capture"),
    Word(r"quicken\w*", "speed up"),
    Word(r"cooled", "with temperature"),
    Word(r"sprouts?|sprout\w+", "dynamic tree"),
    Word(r"knows (no|nothing)", "independent of", only="sequoia/"),
    Word(r"knows (no|nothing)", "independent of", only="ui/"),
    Word(r"raises? \w+ where", "raises ... if"),
    Word(r"number types?", "dtype; on the page: precision"),
    Word(r"(growing|context dependent) trees?", "dynamic tree"),
    Word(r"(take|takes|taken|took|taking) back", "undo, release, restore"),
    Word(r"(let|lets|letting) go", "release, free"),
    Word(r"(gives|given|gave|giving) up", "stops, is abandoned"),
    Word(r"made up", "synthetic"),
    Word(r"shared (1st|2nd|3rd|\dth|first|second|third)", "tied for 1st"),
    Word(r"(shares?|differences?|least|smallest)( \w+)? in sight", "detectable"),
    Word(r"sights?", "smallest detectable difference", only="sequoia/"),
    Word(r"atlas(es)?", "acceptance by rank and level"),
    Word(r"waterfall", "where the time went"),
    Word(r"doctor", "what to try"),
    # ordinary words in a wrong sense
    Word(r"polic(y|ies)", "sampling parameters"),
    Word(r"announc\w*( \w+)?( \w+)? (pass|passes|sizes?|forwards?)", "capture"),
    Word(r"(pass|passes|sizes?|forwards?)( \w+)?( \w+)? announc\w*", "captured before"),
    Word(r"(recorded|recordable) (forward|pass)(es|s)?", "captured forward"),
    Word(r"record(s|ing)? (a|an|the|each|one|every) (forward|pass|graph)", "capture"),
    Word(r"(forward|pass|graph)(es|s)? (that )?(is|are|was|were|be) recorded", "captured"),
    Word(r"(read|reads|run|runs) of (a|an|the|both|each|one|its) (model|target|draft)s?", "pass"),
    Word(r"(store|stores|place|places) of (a|an|the|its) cache", "cache slots"),
    Word(r"stores?", "buffer, tensor, cache slots", only="sequoia/models/"),
    Word(r"ranges? of (a|an|the|this|its) (run|rate|figure|gain|speed up|speedup)s?", "interval"),
    Word(r"(with|beyond|of) (its|their) ranges?|range (is|of) about", "95% confidence interval"),
    Word(r"\d %(?![ \w(]*\d| \()|\}\) %", "56%, without a space", code=True, only="ui/"),
    Word(
        r"\bgone(=|\(|\.set\(|\.is_set\(|: (Callable|threading\.Event))",
        "is_cancelled, should_stop",
        code=True,
    ),
    Word(r"(?<!\bfile\.)\btell\s*[=(]|\btell: Callable", "on_progress, show", code=True),
    Word(r"\b(leave|left|part): Callable\b", "cancel, should_stop", code=True),
)
ALLOWED = (
    Allowed(
        r"""(['"`])(law|doctor|waterfall|atlas|policy|sight)\1""",
        "keys and values of saved runs and races, messages to the browser and names of tooltips",
    ),
    Allowed(r"\.(doctor|waterfall|atlas|policy)\b", "the same keys in JavaScript", only="ui/"),
    Allowed(r"\.doctor\b", "the same key in JavaScript", only="tests/browser/test_race_page.py"),
    Allowed(r"\b(doctor|waterfall|atlas|policy)(?=\s?[,:}])", "the same keys", only="ui/"),
    Allowed(r"\* @property {.*} atlas\b", "the same key in JavaScript", only="ui/"),
    Allowed(r"^  law(?=: )", "the same value", only="ui/race/web/lane.js"),
    Allowed(r"\bmeta\.policy\b|{ ?policy: ", "the same keys", only="tests/"),
    Allowed(
        r"\b(waterfall|doctor|policy)(?=: )",
        "the same keys",
        only="tests/browser/pages/canned_race.js",
    ),
    Allowed(
        r"{waterfall: {bars|^ *doctor: {speedup|of freedom. sight:",
        "the same keys",
        only="sequoia/saved_files/race_file.py",
    ),
    Allowed(r"(?i)power[ _-]laws?|\bpowerlaw", "the name of a kind of curve"),
    Allowed(r"Moore's law|Zipf(['’]s)? law", "names"),
    Allowed(r"law of the iterated logarithm|law of large numbers", "theorems"),
    Allowed(r"\b(Bad)?Policy\b", "old names of public classes, kept for scripts"),
    Allowed(r"\bpolicy=|def policy\b|policy is the old name", "the old keyword, kept for scripts"),
    Allowed(
        r"(?i)(?<![a-z])on[-_ ]policy\b",
        "the usual term for counts on text that the model itself generated",
    ),
    Allowed(r"\btell=", "the old keyword, kept for scripts", only="sequoia/loading/load.py"),
    Allowed(r"\btell=|POLICY|_policy_", "old names, kept", only="tests/test_contract.py"),
    Allowed(r"\btell=", "the old keyword", only="tests/test_renamed_keywords.py"),
    Allowed(
        r"the law of the large model|of the law and|of its law,",
        "the text that canned.json was made from; with other words, its runs would be different",
        only="tests/browser/make_canned.py",
    ),
    Allowed(r"races/law\.json", "a saved race of that name", only="tests/test_saved_files.py"),
)


def findings(path: str, text: str) -> Iterator[str]:
    """A line for each wrong word in `text`, the content of the file `path`."""
    for allowed in ALLOWED:
        if path.startswith(allowed.only):
            text = re.sub(allowed.text, "", text, flags=re.MULTILINE)
    words = re.sub(r"_|(?<=[a-z])(?=[A-Z])", " ", text).lower()
    for word in WORDS:
        if not path.startswith(word.only):
            continue
        pattern = word.wrong if word.code else rf"\b({word.wrong})\b".replace(" ", r"[\s#*/-]+")
        for found in re.finditer(pattern, text if word.code else words):
            line = (text if word.code else words).count("\n", 0, found.start()) + 1
            wrong = " ".join(found[0].split())
            yield f'{path}:{line}: "{wrong}" (pattern {word.wrong}); say: {word.say}'


def checked_files() -> Iterator[tuple[str, Path]]:
    for pattern in TEXTS:
        for path in sorted(ROOT.glob(pattern)):
            name = path.relative_to(ROOT).as_posix()
            if path != Path(__file__).resolve():
                yield name, path


def test_all_texts_are_in_plain_words() -> None:
    found = [
        line
        for name, path in checked_files()
        for line in findings(name, path.read_text(encoding="utf-8"))
    ]
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("# the target's law", "law"),
        ("x = law_of_both(y)", "law"),
        ("class ToldLane:", "told"),
        ("# they are given\n    # up", "given # up"),
        ("def run(gone: Callable[[], bool]) -> None:", "gone: Callable"),
        ('label="made-up"', "made-up"),
        ("from the policy's seed", "policy"),
        ("One read of the model.", "read of the model"),
        ("a recorded forward", "recorded forward"),
        ("the range of the speed-up", "range of the speed-up"),
        ("hw-atlas-box", "atlas"),
    ],
)
def test_a_wrong_word_is_found(line: str, wrong: str) -> None:
    found = list(findings("sequoia/x.py", f"first = 1\n{line}\n"))
    assert len(found) == 1
    assert found[0].startswith(f'sequoia/x.py:2: "{wrong}" (pattern ')


@pytest.mark.parametrize(
    "line",
    [
        "the target's distribution, a power law, Zipf's law",
        "Acceptance.power_law(exponent=1.0)",
        'kind = found["law"]',
        "the visitor is gone",
        "the recorded runs; all in the range from 0 to 1; for i in range(3)",
        "Policy = SamplingParams  # on-policy, speculate(policy=params)",
        "a run of the benchmark reads the file",
        "store.save(run)",
    ],
)
def test_a_right_word_is_allowed(line: str) -> None:
    assert list(findings("sequoia/x.py", line)) == []


def test_a_word_of_one_folder_is_wrong_there_only() -> None:
    assert len(list(findings("sequoia/models/x.py", "the stores"))) == 1
    assert list(findings("ui/x.js", "the stores")) == []

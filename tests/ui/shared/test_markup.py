"""Elements that Python writes: their texts are shown literally, whatever they hold."""

from __future__ import annotations

from ui.shared.markup import element


def test_texts_and_attributes_are_shown_literally() -> None:
    made = element("p", '<b>&"', element("i", "${x}"), data_about='"{{`', class_="a", hidden=True)
    assert made == (
        '<p data-about="&quot;&#123;&#123;&#96;" class="a" hidden>'
        "&lt;b&gt;&amp;&quot;<i>&#36;&#123;x&#125;</i></p>"
    )


def test_what_is_missing_is_left_out() -> None:
    assert element("td", None, "", title=None, hidden=False, rowspan=2) == '<td rowspan="2"></td>'

"""Renders chat templates in a separate process. chat_template.py runs this file as a script.

Templates are programs written by strangers. `transformers` renders them in Jinja's sandbox, which
keeps them from accessing anything outside the template, but does not limit their time or memory. A
process can be limited and ended.

Every line read or written is a JSON object. The script first writes {"ready": true}. It then reads
objects with the arguments of `rendered` as fields, and answers each with {"text": ...} or
{"error": ...}.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from transformers.utils.chat_template_utils import render_jinja_template


def rendered(template: str, contents: list[str], variables: dict[str, Any], most: int) -> str:
    """The text of a chat whose messages have these `contents`. The first message is the user's, the
    next one the assistant's, and so on. If the last one is the user's, the text ends where the
    answer begins.

    Raises ValueError if the text has more than `most` characters; a template can raise any other
    exception."""
    chat = [
        {"role": ("user", "assistant")[i % 2], "content": content}
        for i, content in enumerate(contents)
    ]
    text = render_jinja_template(
        [chat], chat_template=template, add_generation_prompt=len(chat) % 2 == 1, **variables
    )[0][0]
    if len(text) > most:
        raise ValueError(f"it renders {len(text)} characters; the limit is {most}")
    return text


def answer(line: str) -> dict[str, str]:
    """The answer to one line of input."""
    try:
        return {"text": rendered(**json.loads(line))}
    except MemoryError:
        return {"error": "it takes too much memory"}
    except Exception as problem:
        return {"error": " ".join(str(problem).split())[:200] or type(problem).__name__}


if __name__ == "__main__":
    print(json.dumps({"ready": True}), flush=True)
    for asked in sys.stdin:
        print(json.dumps(answer(asked)), flush=True)

#!/usr/bin/env python3
"""Writes tests/golden/chat_templates/*.json: what jinja2, as transformers sets it up for chat templates, makes of templates.

usage: chat_templates.py OUTPUT_DIRECTORY

expressions.json, statements.json, errors.json: {"variables", "cases": [{"template", "text"} or {"template", "line", "error"}]}; families.json:
{"templates", "conversations", "tokens", "cases": [{"template", "conversation", "text" | "line", "error"}]}. An error that is Python's own and not
Jinja's has no "error": its words are not compared. "lines", where there are such, are those of the tag around the line. The clock stands at 2024-07-26 13:05:09.
"""
import datetime
import json
import pathlib
import re
import sys

import jinja2
from transformers.utils import chat_template_utils
from transformers.utils.chat_template_utils import _compile_jinja_template, _normalize_chat_messages, render_jinja_template

from chat_template_parts import expressions, families, more_families, statements

NOW = datetime.datetime(2024, 7, 26, 13, 5, 9)
# Objects of Jinja's own modules are called by the name that Attune gives them.
TYPES = {"transformers.utils.chat_template_utils.TemplateNamespace": "namespace", "jinja2.runtime.": "", "jinja2.utils.": ""}


class Clock(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return NOW


def lines_of_tag(template, line):
    """First and last line of the tag that stands on a line: in one of several lines, Jinja names where a statement's part begins, Attune where
    the operation does."""
    for tag in re.finditer(r"\{[{%].*?[%}]\}", template, re.DOTALL):
        first = template.count("\n", 0, tag.start()) + 1
        last = first + tag.group().count("\n")
        if first <= line <= last and first < last:
            return [first, last]
    return [line, line]


def failure(error, template):
    if isinstance(error, jinja2.TemplateSyntaxError):
        line, own = error.lineno, True
    else:
        line, own = None, isinstance(error, jinja2.TemplateError)
        trace = error.__traceback__
        while trace:
            if trace.tb_frame.f_code.co_filename == "<template>":
                line = trace.tb_lineno
            trace = trace.tb_next
    result = {"line": line}
    if lines_of_tag(template, line) != [line, line] and not isinstance(error, jinja2.TemplateSyntaxError):
        result["lines"] = lines_of_tag(template, line)
    if own:
        message = error.message if isinstance(error, jinja2.TemplateSyntaxError) else str(error)
        for name, ours in TYPES.items():
            message = message.replace(name, ours)
        result["error"] = message
    return result


def attempt(template, render):
    try:
        return {"text": render()}
    except Exception as error:
        return failure(error, template)


def small(templates, wrap=False):
    cases = []
    for template in templates:
        source = "{{ " + template + " }}" if wrap else template
        cases.append({"template": source, **attempt(source, lambda: _compile_jinja_template(source).render(**expressions.VARIABLES))})
    return cases


def conversation(template, given):
    def render():
        messages = _normalize_chat_messages(given["messages"])
        return render_jinja_template([messages], tools=given.get("tools"), documents=given.get("documents"), chat_template=template,
                                     add_generation_prompt=given["add_generation_prompt"], **more_families.TOKENS, **given.get("variables", {}))[0][0]
    return attempt(template, render)


def main():
    output = pathlib.Path(sys.argv[1])
    output.mkdir(parents=True, exist_ok=True)
    chat_template_utils.datetime = Clock

    def write(name, golden):
        (output / (name + ".json")).write_text(json.dumps(golden, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")

    lines = [line for line in expressions.EXPRESSIONS.split("\n") if line]
    write("expressions", {"variables": expressions.VARIABLES, "cases": small(lines, wrap=True)})
    write("statements", {"variables": expressions.VARIABLES, "cases": small(statements.TEMPLATES)})
    write("errors", {"variables": expressions.VARIABLES, "cases": small(statements.ERRORS)})
    templates = {**families.TEMPLATES, **more_families.TEMPLATES}
    cases = [{"template": name, "conversation": key, **conversation(text, given)}
             for name, text in templates.items() for key, given in more_families.CONVERSATIONS.items()]
    write("families", {"templates": templates, "conversations": more_families.CONVERSATIONS, "tokens": more_families.TOKENS, "cases": cases})


if __name__ == "__main__":
    main()

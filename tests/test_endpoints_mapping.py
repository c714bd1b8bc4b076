"""Mappings of replies: what paths and templates find, and that a reply is only ever data to them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET

from rightcall.agents import gathering, mapping, templates
from rightcall.agents.exchange import Reply
from rightcall.agents.proposing import proposal
from rightcall.core import jsontext
from rightcall.errors import EndpointError, TestSetError
from support.json_values import json_values

CALL = {"name": "lookup_order", "arguments": {"order_id": 42}}
OTHER = {"name": "issue_refund", "arguments": {}}
TOOL = {"name": "delete", "description": "Deletes.", "parameters": {"type": "object", "properties": {}}}


def mapped(reply: Any, **response: Any) -> Reply:
    """The reply that a mapping makes of one."""
    ready = mapping.compiled(mapping.Response(**response))
    return gathering.reply([ready.mapped(reply, {"input": "hi"})])


def names(reply: Reply) -> Any:
    """The names of the calls: `None` if none are recorded, `UNSET` if nothing is said of them."""
    found = reply.tool_calls if reply.trajectory is None else reply.trajectory.tool_calls
    return [call.name for call in found] if isinstance(found, tuple) else found


@pytest.mark.parametrize(
    ("path", "reply", "expected"),
    [
        ("$.calls", {"calls": [CALL]}, ["lookup_order"]),
        ("$.calls", {"calls": CALL}, ["lookup_order"]),
        ("$.calls", {"calls": []}, []),
        ("$.calls", {"calls": None}, None),
        ("$.calls", {}, UNSET),
        ("$", [CALL, OTHER], ["lookup_order", "issue_refund"]),
        ("$", [], []),
        ("$.calls[0]", {"calls": [CALL, OTHER]}, ["lookup_order"]),
        ("$.calls[*]", {"calls": [CALL, OTHER]}, ["lookup_order", "issue_refund"]),
        ("$.calls[*]", {"calls": []}, []),
        ("$.calls[*]", {"calls": None}, None),
        ("$.calls[*]", {}, UNSET),
        (
            "$.steps[*].calls",
            {"steps": [{"calls": [CALL]}, {"calls": None}, {}, {"calls": [OTHER]}]},
            ["lookup_order", "issue_refund"],
        ),
        ("$.steps[*].calls[*]", {"steps": [{"calls": [CALL]}, {"calls": [OTHER]}]}, ["lookup_order", "issue_refund"]),
        ("$.steps[*].calls", {"steps": [{"calls": None}, {"calls": None}]}, None),
        ("$.steps[*].calls", {"steps": [{}, {}]}, []),
        ("$..call", {"a": {"call": CALL}, "b": [{"call": OTHER}]}, ["lookup_order", "issue_refund"]),
        (
            "$.parts[?@.type == 'tool'].call",
            {"parts": [{"type": "tool", "call": CALL}, {"type": "text"}]},
            ["lookup_order"],
        ),
        ("$['odd key'].calls", {"odd key": {"calls": [CALL]}}, ["lookup_order"]),
        ("$.calls", "a text that is no object", UNSET),
        ("$", '[{"name": "not JSON"}]', ["not JSON"]),
        ("{{ reply.calls }}", {"calls": [CALL]}, ["lookup_order"]),
        ("{{ reply.calls | default(none) }}", {}, None),
        ("{{ reply.names | map('upper') | list | length }}", {"names": []}, "error"),
        ("{% for one in reply.made %}{{ one }}{% endfor %}", {"made": [[CALL]]}, ["lookup_order"]),
    ],
)
def test_one_rule_says_what_a_path_finds(path: str, reply: Any, expected: Any) -> None:
    """One value, all values, an empty list, `null`, or nothing: these stay different for calls (G3)."""
    if expected == "error":
        with pytest.raises(EndpointError, match="expected tool calls such as"):
            mapped(reply, tool_calls=path)
        return
    assert names(mapped(reply, tool_calls=path)) == expected


def test_texts_of_several_places_are_joined_and_structure_is_kept() -> None:
    """An output of one value is that value, whatever it is."""
    reply = {"parts": [{"text": "Re"}, {"text": "fund"}, {"image": 1}], "state": {"done": True}, "id": 7, "n": "42"}
    assert mapped(reply, output="$.parts[*].text").output == "Refund"
    assert mapped(reply, output="$.state").output == {"done": True}
    assert mapped(reply, output="{{ reply.state }}").output == {"done": True}
    assert mapped(reply, output="{{ reply.n }}").output == "42"
    assert mapped(reply, output="{{ reply.state }} of {{ input }}").output == '{"done":true} of hi'
    assert mapped(reply, output="$.nothing").output is None
    found = mapped(reply, conversation_id="$.id", context="$.state", metadata={"n": "$.n", "no": "$.no"})
    assert (found.conversation_id, found.context, found.metadata) == (7, {"done": True}, {"n": "42"})
    assert mapped({"usage": {"tokens": 3}}, metadata="$.usage").metadata == {"tokens": 3}


def test_what_looks_like_calls_and_is_not_mapped_is_said() -> None:
    """If the mapping finds no call at all it is a gap, so that no ban passes by a wrong path (G12)."""
    reply = {"calls": [], "steps": [{"call": CALL}], "tools": [TOOL]}
    found = mapped(reply, tool_calls="$.calls")
    assert found.trajectory is not None
    assert found.trajectory.gaps == (
        "the mapping finds no calls, but what looks like calls stands at `$.steps[0].call`",
    )
    assert mapped({"calls": [], "tools": [TOOL]}, tool_calls="$.calls").trajectory is None
    note = "what looks like calls at `$.steps[0].call` is not read: no mapping of `tool_calls` leads there"
    assert mapped(reply, output="$.calls").warnings == (note,)
    assert mapped({**reply, "calls": [OTHER]}, tool_calls="$.calls").warnings == (note,)
    assert mapped({**reply, "calls": [CALL]}, tool_calls="$.calls").warnings == ()
    messages = [{"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}]}]
    assert mapped({"messages": messages}, tool_calls="$.messages").warnings == ()


def streamed(*messages: Any, **response: Any) -> Reply:
    """The reply that a mapping makes of several messages."""
    ready = mapping.compiled(mapping.Response(**response))
    return gathering.reply([ready.mapped(message, {}) for message in messages])


def test_a_call_that_a_later_message_tells_again_counts_once() -> None:
    """By id, name and arguments, as it is told last; within one message, and without an id, each counts."""
    known = {"id": "c1", **CALL}
    done = {**known, "status": "ok", "result": "late"}
    again = streamed({"calls": [known]}, {"calls": [done, {"id": "c2", **CALL}]}, tool_calls="$.calls")
    assert isinstance(again.tool_calls, tuple)
    assert [(call.id, call.status) for call in again.tool_calls] == [("c1", "ok"), ("c2", "requested")]
    for messages in (
        [{"calls": [known, known]}],
        [{"calls": [CALL]}, {"calls": [CALL]}],
        [{"calls": [known]}, {"calls": [{**known, "arguments": {"order_id": 43}}]}],
        [{"calls": [known]}, {"calls": [{**known, "name": "issue_refund"}]}],
    ):
        assert len(names(streamed(*messages, tool_calls="$.calls"))) == 2


def test_messages_that_hold_calls_are_kept_with_them() -> None:
    """So that a conversation that is told from its start can be told apart into turns."""
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "tool_calls": [{"id": "c", **CALL}]}]
    found = mapped({"state": {"messages": messages}, "text": "x"}, output="$.text", tool_calls="$.state.messages")
    assert found.trajectory is not None
    assert (names(found), found.trajectory.messages, found.output) == (["lookup_order"], messages, "x")


@pytest.mark.parametrize(
    "path",
    ["$.tools", "$.tools[*]", "$.tools[0]", "{{ reply.tools }}", "$.wrapped", "$.gemini", "$.anthropic", "$.described"],
)
def test_the_tools_there_are_are_never_the_calls_that_were_made(path: str) -> None:
    """However definitions are written."""
    reply = {
        "tools": [TOOL],
        "wrapped": [{"type": "function", "function": TOOL}],
        "gemini": [{"functionDeclarations": [TOOL]}],
        "anthropic": [{"name": "delete", "input_schema": {"type": "object"}}],
        "described": [{"name": "delete", "description": "Deletes."}],
    }
    with pytest.raises(EndpointError, match="this defines a tool that could be called, and is no call"):
        mapped(reply, tool_calls=path)


def test_a_call_may_have_schemas_and_descriptions_for_arguments() -> None:
    """What has arguments is a call."""
    call = {"name": "create_tool", "arguments": {"parameters": {"type": "object"}, "description": "x"}}
    assert names(mapped({"calls": [call]}, tool_calls="$.calls")) == ["create_tool"]


ESCAPES = [
    "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "{{ reply.__class__ }}",
    "{{ reply['__class__'] }}",
    "{{ reply.items.__globals__ }}",
    "{{ reply.hostile.__init__ }}",
    "{{ reply.list.append(1) }}",
    "{{ reply.list.__len__() }}",
    "{{ reply.clear() }}",
    "{{ reply.update({'a': 1}) }}",
    "{{ (1).bit_length() }}",
    "{{ reply | attr('__class__') }}",
    "{{ lipsum.__globals__ }}",
    "{{ cycler.__init__.__globals__ }}",
    "{{ self.__init__ }}",
    "{{ '%s' % reply.list }}",
    "{{ 'x' * 1000000000 }}",
    "{{ [0] * reply.number }}",
    "{{ 9 ** reply.number }}",
    "{{ range(reply.number) }}",
    "{{ 'x'.center(reply.number) }}",
    "{{ '{:>1000000000}'.format(1) }}",
    "{% for i in range(100000) %}{% for j in range(100000) %}{{ reply.long }}{% endfor %}{% endfor %}",
    "{{ '{0.__class__}'.format(reply.list) }}",
    "{{ reply.items }}",
    "{% include 'file' %}",
    "{% import 'os' as os %}",
    "{{ secret }}",
    "{{ environment }}",
]


@pytest.mark.parametrize("template", ESCAPES)
def test_a_template_reaches_nothing_but_the_reply(template: str) -> None:
    """No attribute, no method that changes anything, nothing large, no file: an error with the template."""
    reply = {"list": [1], "number": 10**9, "hostile": "{{ 7 * 7 }}", "long": "x" * 1_000_000}
    before = jsontext.encode(reply)
    with pytest.raises(EndpointError, match="the template"):
        mapped(reply, output=template)
    assert jsontext.encode(reply) == before


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{{ reply.items }}", 1),
        ("{{ reply.keys() | list }}", ["items", "text"]),
        ("{{ reply['text'] | upper }}", "{{ REPLY.ITEMS }} ${HOME}"),
        ("{{ reply.text }}", "{{ reply.items }} ${HOME}"),
        ("<{{ reply.text }}>", "<{{ reply.items }} ${HOME}>"),
        ("{{ reply.text.split()[0] }}", "{{"),
        ("{{ [reply.items, none, true, 1.5] }}", [1, None, True, 1.5]),
        ("{{ reply.items }}{{ reply.items }}", "11"),
        ("{{- reply.items -}}", 1),
        ("{{ {'a': reply.items} }}", {"a": 1}),
    ],
)
def test_a_template_gives_what_is_there_as_it_is(template: str, expected: Any) -> None:
    """Keys come before methods of the same name; text that looks like a template, a number or a secret stays text."""
    assert mapped({"items": 1, "text": "{{ reply.items }} ${HOME}"}, output=template).output == expected


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("answer", "perhaps `$.answer`"),
        ("", "expected a JSONPath that begins with `$`, or a template"),
        ("$.a[", "this is no JSONPath"),
        ("$.a | $.b", "this is no JSONPath"),
        ("$.a b", "this is no JSONPath"),
        ("$ ", "this is no JSONPath"),
        ("{{ reply.", "this is no template of Jinja"),
        ("{{ reply | nothing }}", "this is no template of Jinja"),
        ("{% nothing %}", "this is no template of Jinja"),
        ("{{ 'x' | center(reply.number) }}", "No filter named 'center'"),
        ("{{ 'x' | indent(reply.number, true) }}", "No filter named 'indent'"),
        ("{{ '%1000000000d' | format(1) }}", "No filter named 'format'"),
    ],
)
def test_an_expression_that_is_none_is_refused_before_anything_is_sent(source: str, message: str) -> None:
    """With its place in the mapping."""
    with pytest.raises(TestSetError) as raised:
        mapping.compiled(mapping.Response(tool_calls=source))
    assert message in str(raised.value)
    assert raised.value.where.path == "response.tool_calls"


@given(json_values())
@settings(max_examples=60)
def test_any_reply_is_mapped_or_refused(reply: Any) -> None:
    """Whatever comes: a reply or an `EndpointError`, never anything else; the reply is as it was."""
    before = jsontext.encode(reply)
    for path in ("$", "$..*", "$.*", "{{ reply }}", "$..name"):
        try:
            mapped(reply, output=path, tool_calls=path, error=path)
        except EndpointError:
            continue
    assert jsontext.encode(reply) == before
    proposal([reply])


@given(json_values())
@settings(max_examples=100)
def test_a_value_goes_through_a_template_as_it_is(value: Any) -> None:
    """Into a request and out of a reply: no type is changed, however it looks."""
    assert templates.compiled("{{ input }}")({"input": value}, str) == value
    assert templates.structure({"a": ["{{ input }}"]})({"input": value}, str) == {"a": [value]}
    assert mapped(value, output="{{ reply }}").output == value


@given(st.text(), st.text(min_size=1))
@settings(max_examples=100)
def test_neither_data_nor_secrets_are_read_as_templates(said: str, secret: str) -> None:
    """Each is put in once, and never looked into."""
    render = templates.compiled("${ONE}{{ input }}-${TWO}$${THREE}")
    assert render({"input": f"{said}${{ONE}}"}, lambda name: f"{name}{secret}{{{{ input }}}}") == (
        f"ONE{secret}{{{{ input }}}}{said}${{ONE}}-TWO{secret}{{{{ input }}}}${{THREE}}"
    )


def test_a_mapping_is_proposed_by_what_stands_in_a_reply() -> None:
    """Calls by where they stand, text by its name, nearest first; definitions of tools are told apart."""
    found = proposal(
        [
            {
                "data": {"finalOutput": "Done.", "sessionId": "s", "log": {"text": "…"}},
                "tools": [TOOL],
                "steps": [{"call": CALL}, {"note": "x"}, {"call": OTHER}],
                "again": [CALL],
            }
        ]
    )
    assert found.response == {
        "output": "$.data.finalOutput",
        "tool_calls": "$.steps[*].call",
        "conversation_id": "$.data.sessionId",
    }
    assert found.notes == (
        "`$.tools` defines tools that could be called; these are no calls that were made",
        "what looks like calls stands in other places too: `$.again`; choose those that the agent made itself",
    )


def test_nothing_is_proposed_where_nothing_looks_like_calls() -> None:
    """The tools there are do not."""
    found = proposal([{"reply": "Done.", "tools": [{"type": "function", "function": TOOL}]}])
    assert found.response == {"output": "$.reply"}
    assert found.notes[0] == "`$.tools` defines tools that could be called; these are no calls that were made"
    assert found.notes[1].startswith("nothing in the reply looks like tool calls; ")


@given(json_values())
@settings(max_examples=60)
def test_what_is_proposed_can_be_used(reply: Any) -> None:
    """Every proposed path is a mapping, and finds calls where it says that there are some."""
    for message in (reply, {"a": [{"b": CALL}, reply]}, {"odd key": [CALL], "x": reply}):
        found = proposal([message]).response
        made = mapping.compiled(mapping.Response(**found)).mapped(message, {})
        assert all(made.value(name) is not UNSET for name in found)
    assert "tool_calls" in proposal([{"odd key": [CALL], "x": reply}]).response

"""The Responses API: a request as a dict in, a response as a dict or as the official sequence of events out.

`ask` reads the request and says what a model is asked; `complete` and `stream` turn the model's reply into what the
service would send. Nothing is remembered before a reply is whole, so a request that is repeated after a failure
counts once.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from ..models.prompt import Item, Message, Prompt, Reply
from . import items, response_events, response_fields, response_object, tools
from .api_error import ApiError
from .ids import Ids
from .items import Record
from .store import Conversation, Kept, Store
from .usage import count_prompt, within

_FAILURES = ("server_error", "rate_limit_exceeded", "invalid_prompt")  # what a failed response may give as its code


@dataclass(frozen=True, slots=True)
class Ask:
    """A request that was found in order."""

    prompt: Prompt
    stream: bool
    body: dict[str, Any]
    past: tuple[Record, ...]
    """The items that the service had already."""
    new: tuple[Record, ...]
    """The items that this request brings."""
    conversation: Conversation | None
    store: Store


def ask(body: Any, store: Store, recent: Mapping[str, Kept] = MappingProxyType({})) -> Ask:
    """Read the JSON body of `POST /v1/responses`.

    Args:
        body: The body, whatever it is.
        store: What the service remembers; it is read here and written when the reply is whole.
        recent: Responses by their ids that can be gone on from besides those in the store.

    Raises:
        ApiError: What the service would answer to a request that is not in order, or one that asks for what cannot
            be simulated (tools that OpenAI runs, background jobs), or one in a conversation that is being answered.
    """
    response_fields.check(body)
    past, conversation = _past(body, store, recent)
    if not (body["input"] or past or conversation):
        names = "\"input\" or \"previous_response_id\" or 'prompt' or 'conversation'"
        raise ApiError(f"One of {names} must be provided.", code="missing_required_parameter")
    new = tuple(_resolved(item, store) for item in items.fresh(body["input"]))
    items.check_new(past, new)
    items.check_pairs((*past, *new))
    store.links.check(past, new)
    prompt = _prompt(body, (*past, *new))
    return Ask(prompt, bool(body.get("stream")), body, past, new, conversation, store)


def complete(asked: Ask, reply: Reply, ids: Ids, now: float) -> Record:
    """Return the whole response.

    Args:
        asked: The request.
        reply: What the model answered.
        ids: Where ids come from.
        now: Seconds since 1970.
    """
    return Run(asked, ids, now).complete(reply)


def stream(asked: Ask, reply: Reply, ids: Ids, now: float) -> Iterator[Record]:
    """Yield the events of a streamed response, `response.created` first; arguments as in `complete`."""
    run = Run(asked, ids, now)
    yield from run.opening()
    yield from run.answer(reply)


def fail(asked: Ask, error: ApiError, ids: Ids, now: float) -> Iterator[Record]:
    """Yield the events of a streamed response whose model failed; the last one is `response.failed`."""
    run = Run(asked, ids, now)
    yield from run.opening()
    yield from run.failure(error)


def count_input(body: Any, store: Store) -> Record:
    """Return what `POST /v1/responses/input_tokens` answers: an estimate of the tokens that a model would read."""
    return {"object": "response.input_tokens", "input_tokens": count_prompt(ask(body, store).prompt)}


class Run:
    """One response on its way, in steps: for a server that sends `opening` before its model has answered."""

    def __init__(self, asked: Ask, ids: Ids, now: float) -> None:
        self._asked, self._ids, self._now = asked, ids.beside(items.ids_in((*asked.past, *asked.new))), int(now)
        self._number = 0
        self.kept: Kept | None = None
        """The response and what the model was given for it, once it is whole."""
        conversation_id = asked.conversation.id if asked.conversation else None
        self.response = response_object.begun(asked.body, ids.new("resp", 40), self._now, conversation_id)

    def opening(self) -> Iterator[Record]:
        """Yield `response.created` and `response.in_progress`."""
        yield self._numbered({"type": "response.created", "response": dict(self.response)})
        yield self._numbered({"type": "response.in_progress", "response": dict(self.response)})

    def answer(self, reply: Reply) -> Iterator[Record]:
        """Yield the events of each item, then `response.completed`, or `response.incomplete` where tokens ran out."""
        response = self.complete(reply, remember=False)
        options = self._asked.body.get("stream_options") or {}
        for index, item in enumerate(response["output"]):
            for event in response_events.of_item(index, item, padded=options.get("include_obfuscation", True)):
                yield self._numbered(event)
        self._remember(response)
        yield self._numbered({"type": f"response.{response['status']}", "response": response})

    def failure(self, error: ApiError) -> Iterator[Record]:
        """Yield `response.failed`, with the service's nearest code and the error's own words."""
        code = error.code if error.code in _FAILURES else "rate_limit_exceeded" if error.status == 429 else _FAILURES[0]
        ended = {"status": "failed", "error": {"code": code, "message": error.message}}
        yield self._numbered({"type": "response.failed", "response": {**self.response, **ended}})

    def silence(self) -> Iterator[Record]:
        """Yield `response.completed` of a response without output, which can be gone on from (`generate: false`)."""
        response = self._ended([], True, Reply())
        self._remember(response)
        yield self._numbered({"type": "response.completed", "response": response})

    def complete(self, reply: Reply, *, remember: bool = True) -> Record:
        """Return the response with the model's reply in it."""
        calls = reply.calls[:1] if self._asked.body.get("parallel_tool_calls") is False else reply.calls
        written, whole = within(replace(reply, calls=calls), self._asked.body.get("max_output_tokens"))
        response = self._ended(response_object.output(written, self._ids, whole, self._shown), whole, written)
        if remember:
            self._remember(response)
        return response

    def _ended(self, output: list[Record], whole: bool, written: Reply) -> Record:
        return {
            **self.response,
            "status": "completed" if whole else "incomplete",
            "completed_at": self._now if whole else None,
            "incomplete_details": None if whole else {"reason": "max_output_tokens"},
            "output": output,
            "service_tier": response_object.tier(self._asked.body.get("service_tier")),
            "usage": response_object.usage(count_prompt(self._asked.prompt), written),
        }

    @property
    def _shown(self) -> bool:
        """Whether the client has asked for a summary of the model's reasoning."""
        return bool((self._asked.body.get("reasoning") or {}).get("summary"))

    def _remember(self, response: Record) -> None:
        asked = self._asked
        new = [items.kept(item, self._ids) for item in asked.new]
        self.kept = Kept(response, (*asked.past, *new))
        asked.store.links.add(response["output"], stored=response["store"] or asked.conversation is not None)
        if response["store"]:
            asked.store.keep(self.kept)
        if asked.conversation:
            asked.conversation.add([*new, *response["output"]])

    def _numbered(self, event: Record) -> Record:
        self._number += 1
        return {**event, "sequence_number": self._number - 1}


def _past(
    body: dict[str, Any], store: Store, recent: Mapping[str, Kept]
) -> tuple[tuple[Record, ...], Conversation | None]:
    previous, conversation = body.get("previous_response_id"), body.get("conversation")
    if previous and conversation:
        message = "Ensure you are only providing one of: 'previous_response_id' or 'conversation'."
        raise ApiError(f"Mutually exclusive parameters: ''. {message}", code="mutually_exclusive_parameters")
    if conversation:
        found = store.conversation(conversation["id"] if isinstance(conversation, dict) else conversation)
        found.check_free()
        return tuple(found.items.values()), found
    if not previous:
        return (), None
    kept = recent.get(previous) or store.responses.get(previous)
    if kept is None:
        message = f"Previous response with id '{previous}' not found."
        raise ApiError(message, code="previous_response_not_found", param="previous_response_id")
    return kept.context, None


def _resolved(item: Record, store: Store) -> Record:
    return store.item(item["id"]) if items.type_of(item) == "item_reference" else item


def _prompt(body: dict[str, Any], context: tuple[Record, ...]) -> Prompt:
    given = [*(body.get("tools") or []), *items.added_tools(context)]
    choice, allowed = tools.choose(body.get("tool_choice"), tuple(tools.read_tool(tool) for tool in given))
    form = (body.get("text") or {}).get("format") or {}
    history = items.read(context)
    if form.get("type") == "json_object" and not _mentions_json(history):
        message = "must contain the word 'json' in some form to use 'text.format' of type 'json_object'."
        raise ApiError(f"Response input messages {message}", param="text.format")
    return Prompt(
        model=body["model"],
        instructions=body.get("instructions") or "",
        history=history,
        tools=allowed,
        tool_choice=choice,
        output_schema=form.get("schema"),
        json_object=form.get("type") == "json_object",
    )


def _mentions_json(history: tuple[Item, ...]) -> bool:
    return any(isinstance(item, Message) and "json" in item.text.lower() for item in history)

"""pydantic-ai messages as input items of the Responses API, as openai-agents takes them."""

from collections.abc import Sequence
from itertools import groupby

from pydantic_ai.messages import ModelMessage, SpeechPart, ToolReturnPart, UserPromptPart

from .call_ids import RESPONSES, with_call_ids
from .files import Record, written
from .losses import Converted, Losses
from .notes import note_return, note_speech
from .steps import Step, steps
from .words import INAUDIBLE
from .write_answers import Answers


def to_items(messages: Sequence[ModelMessage]) -> Converted[Record]:
    """Return *messages* as input items, for `Runner.run(agent, items)` or a session's `add_items(items)`.

    The same repairs are made as in `handoffkit.history.messages`: a call without a result gets one that says so, since
    the API refuses calls and results that are alone. Hand `instructions` to the agent, not to the conversation.
    """
    losses = Losses()
    instructions, found = steps(messages, losses)
    items: list[Record] = []
    answers = Answers(losses)
    for answer, group in groupby(with_call_ids(found, RESPONSES, losses), key=lambda step: step.answer):
        same = list(group)
        items += answers.items(same) if answer else [item for step in same if (item := _asked(step, losses))]
    return Converted(items, instructions, losses.all())


def _asked(step: Step, losses: Losses) -> Record | None:
    part, where = step.part, step.where
    if isinstance(part, ToolReturnPart):
        return _output(part, where, losses)
    if isinstance(part, SpeechPart):
        return {"role": "user", "content": _spoken(part, where, losses)}
    prompt: UserPromptPart = part
    if isinstance(prompt.content, str):
        return {"role": "user", "content": prompt.content}
    content = written(prompt.content, where, losses)
    return {"role": "user", "content": content} if content else None


def _spoken(part: SpeechPart, where: str, losses: Losses) -> str:
    note_speech(part, where, losses)
    losses.add("speech", where, "that the words were spoken is not kept")
    return part.transcript or INAUDIBLE


def _output(part: ToolReturnPart, where: str, losses: Losses) -> Record:
    note_return(part, where, losses)
    item: Record = {"type": "function_call_output", "call_id": part.tool_call_id}
    if part.outcome == "interrupted":
        item["status"] = "incomplete"
    if not part.files:
        return {**item, "output": part.model_response_str()}
    content = written(part.content_items(mode="str"), where, losses)
    return {**item, "output": content or part.model_response_str()}

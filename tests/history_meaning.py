"""What a history means, read from each of its forms by itself, and whether a conversion kept it or named what it lost.

Nothing here uses the code under test, but the words of two of its constants. A meaning is a list of things that were
said and done, in order, each with what is known of it; a conversion is held to it thing by thing.
"""

import base64
import hashlib
import io
import json
import re
import wave
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic_ai.messages import (
    INTERRUPTED_TOOL_RETURN_CONTENT,
    BinaryContent,
    CachePoint,
    CompactionPart,
    FilePart,
    FileUrl,
    ImageUrl,
    InstructionDeltaPart,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    NativeToolCallPart,
    RetryFeedbackPart,
    SpeechPart,
    SystemPromptPart,
    TextContent,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UploadedFile,
    UserPromptPart,
)

from handoffkit.history import INAUDIBLE, Converted

MARK = re.compile(r"(?:^|\n)\[Interrupted(?: after (\d+) ms)?\]$")

MAY_MISS = {
    "file": {"file"},
    "made": {"file"},
    "cache": {"cache"},
    "thought": {"thought"},
    "hosted": {"hosted"},
    "sealed": {"summary"},
    "result": {"result"},
    "retry": {"retry"},
    "change": {"change"},
    "summary": {"summary"},
    "reference": {"reference"},
    "unknown": {"unknown"},
}
"""What may be missing from the other side, if a loss of this kind names the place where it stood."""
MAY_DIFFER = {
    "spoken": {"speech"},
    "sound": {"sound"},
    "times": {"times"},
    "heard": {"heard"},
    "refused": {"refusal"},
    "detail": {"file"},
    "vendor": {"file"},
    "download": {"file"},
    "data": {"data"},
    "sources": {"source"},
    "outcome": {"outcome"},
    "files": {"file"},
    "id": {"record"},
    "phase": {"record"},
    "space": {"record"},
    "record": {"record"},
    "custom": {"custom"},
    "field": {"unknown"},
}
"""What of a thing may be lost, if a loss of this kind names the place, or the whole history."""


@dataclass
class Thing:
    """One thing that was said or done."""

    kind: str
    core: Any
    where: str
    about: dict[str, Any] = field(default_factory=dict)
    cut: bool = False


@dataclass
class Meaning:
    """What a history means."""

    things: list[Thing] = field(default_factory=list)
    operator: list[tuple[str, str, bool]] = field(default_factory=list)
    """Text, place, and whether it stood between what was said."""
    superseded: list[tuple[str, str]] = field(default_factory=list)
    record: bool = False
    endings: set[str] = field(default_factory=set)
    """Places where why a reply ended is known."""

    def add(self, kind: str, core: Any, where: str, *, cut: bool = False, **about: Any) -> None:
        core = "" if kind == "agent" and core == INAUDIBLE else core
        self.things.append(
            Thing(kind, core, where, {k: v for k, v in about.items() if v not in (None, False, [])}, cut)
        )

    def operate(self, text: str, where: str) -> None:
        if text:
            self.operator.append(
                (text, where, any(thing.kind not in ("retry", "change", "summary") for thing in self.things))
            )


def of_messages(messages: Sequence[ModelMessage]) -> Meaning:
    """Read pydantic-ai messages."""
    meaning = Meaning()
    requests = [number for number, each in enumerate(messages, 1) if isinstance(each, ModelRequest)]
    instructions: list[tuple[str, str]] = []
    changed: dict[object, tuple[str, str]] = {}
    for number, message in enumerate(messages, 1):
        where = f"message {number}"
        if isinstance(message, ModelResponse):
            _response(message, where, meaning)
            continue
        if message.instructions:
            instructions.append((message.instructions, where))
        for part in message.parts:
            if isinstance(part, SystemPromptPart):
                if part.scope == "request" and number != requests[-1]:
                    meaning.superseded.append((part.content, where))
                else:
                    meaning.operate(part.content, where)
            elif isinstance(part, InstructionDeltaPart) and part.id is not None:
                if part.id in changed and changed[part.id][0] != part.content:
                    meaning.superseded.append(changed[part.id])
                changed[part.id] = (part.content or "", where)
            else:
                _asked(part, where, meaning)
    for text, where in changed.values():
        before = any(_number(thing.where) < _number(where) for thing in meaning.things if thing.kind in _SAID)
        meaning.operator += [(text, where, before)] if text else []
    if instructions:
        meaning.operator.append((*instructions[-1], False))
        meaning.superseded += [each for each in instructions if each[0] != instructions[-1][0]]
    return meaning


_SAID = ("user", "agent", "call", "result", "file")


def _number(where: str) -> int:
    return int(where.split()[1])


def _asked(part: Any, where: str, meaning: Meaning) -> None:
    match part:
        case UserPromptPart(content=content):
            for each in [content] if isinstance(content, str) else content:
                _prompt(each, where, meaning)
        case SpeechPart():
            words, sound = part.transcript or INAUDIBLE, _sound(part.audio)
            meaning.add("user", words, where, spoken=True, sound=sound, times=bool(part.timestamps))
        case ToolReturnPart():
            outcome = {"success": None, "interrupted": None}.get(part.outcome, part.outcome)
            files = [_file(each)[0] for each in part.files]
            texts = [each for each in part.content_items(mode="str") if isinstance(each, str)]
            core = "\n".join(texts) if files else part.model_response_str()
            meaning.add("result", core, where, call=part.tool_call_id, outcome=outcome, files=files)
        case RetryFeedbackPart():
            meaning.add("retry", None, where)
        case CompactionPart(content=str(content)):
            meaning.operator.append((content, where, False))
            meaning.add("summary", None, where)
        case _:
            meaning.add("change", None, where)


def _squeezed(words: str) -> str:
    """Return what a tool's result says, however its texts stand beside its files."""
    return re.sub(r'[\s"\\\[\],]', "", json.dumps(words).replace("\\n", ""))


def _prompt(each: Any, where: str, meaning: Meaning) -> None:
    if isinstance(each, str):
        if each:
            meaning.add("user", each, where)
    elif isinstance(each, TextContent):
        if each.content:
            meaning.add("user", each.content, where, data=each.metadata is not None)
    elif isinstance(each, CachePoint):
        meaning.add("cache", None, where)
    else:
        core, about = _file(each)
        meaning.add("file", core, where, **about)


def _file(each: Any) -> tuple[Any, dict[str, Any]]:
    told = dict(each.vendor_metadata or {})
    image = isinstance(each, ImageUrl) or (
        isinstance(each, BinaryContent | UploadedFile) and each.media_type.startswith("image/")
    )
    detail = told.pop("detail", None) if image else None
    about = {"detail": detail if detail != "auto" else None, "vendor": told or None}
    match each:
        case FileUrl(url=url):
            return ("image" if image else "file", url), {**about, "download": bool(each.force_download)}
        case BinaryContent(data=data):
            return ("image" if image else "file", data), about
        case UploadedFile(file_id=id):
            return ("image" if image else "file", id), about
    raise TypeError(each)


def _sound(audio: BinaryContent | None) -> Any:
    if audio is None:
        return None
    try:
        with wave.open(io.BytesIO(audio.data)) as file:
            if (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (24000, 1, 2):
                return ("pcm", hashlib.sha1(file.readframes(file.getnframes())).hexdigest())
    except (wave.Error, EOFError):
        pass
    return ("file", hashlib.sha1(audio.data).hexdigest())


def _response(message: ModelResponse, where: str, meaning: Meaning) -> None:
    refusal = (message.provider_details or {}).get("refusal")
    ended = message.finish_reason in ("length", "error", "content_filter") and refusal is None
    cut = message.state != "complete" or ended
    if cut and (ended or refusal is not None or not message.parts):
        meaning.endings.add(where)
    if message.usage.input_tokens or message.model_name or message.provider_response_id:
        meaning.record = True
    for part in message.parts:
        match part:
            case TextPart(content=words) if words:
                details = part.provider_details or {}
                sources = details.get("annotations") or (True if part.citations else None)
                known = {"id": part.id, "sources": sources, "phase": details.get("phase")}
                meaning.add("agent", words, where, cut=cut, **known)
            case SpeechPart():
                last = [each for each in message.parts if isinstance(each, SpeechPart)][-1]
                stopped = (cut and refusal is None and part is last) or part.interrupted_at_ms is not None
                if part.transcript or part.audio or stopped:
                    words = part.transcript or ("" if stopped else INAUDIBLE)
                    about = {"spoken": True, "heard": part.interrupted_at_ms, "times": bool(part.timestamps)}
                    meaning.add("agent", words, where, cut=stopped, sound=_sound(part.audio), **about)
            case ToolCallPart():
                details = part.provider_details or {}
                space = details.get("namespace")
                core = (part.tool_name, _args(part.args))
                meaning.add("call", core, where, cut=cut, call=part.tool_call_id, id=part.id, space=space)
            case ThinkingPart():
                raw = tuple((part.provider_details or {}).get("raw_content") or ())
                if part.content or part.signature or raw:
                    meaning.add("thought", (part.id, part.content, part.signature, raw), where)
            case NativeToolCallPart():
                meaning.add("hosted", part.tool_call_id, where)
            case FilePart():
                meaning.add("made", part.content.data, where)
            case CompactionPart(content=None):
                meaning.add("sealed", (part.provider_details or {}).get("encrypted_content"), where)
            case CompactionPart(content=str(content)):
                meaning.operator.append((content, where, False))
                meaning.add("summary", None, where)
    if refusal is not None:
        meaning.add("agent", refusal, where, cut=cut, refused=True)


def _args(args: Any) -> Any:
    if isinstance(args, str) and args:
        try:
            return repr(json.loads(args))
        except ValueError:
            return args
    return repr(json.loads(json.dumps(args or {})))


def of_items(items: Sequence[dict[str, Any]]) -> Meaning:
    """Read input items of the Responses API, or those of a seed."""
    meaning = Meaning()
    for number, item in enumerate(items, 1):
        _item({k: v for k, v in item.items() if v is not None}, f"item {number}", meaning)
    return meaning


HOSTED = {
    *("web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "mcp_call"),
    *("mcp_list_tools", "computer_call", "computer_call_output", "local_shell_call", "shell_call"),
    *("mcp_approval_request", "mcp_approval_response"),
}


def _item(item: dict[str, Any], where: str, meaning: Meaning) -> None:
    kind = item.get("type") or ("message" if "role" in item else "item_reference")
    cut = item.get("status") in ("incomplete", "in_progress")
    id = item.get("id") if item.get("id") != "__fake_id__" else None
    extra = "extra" in item or None
    match kind:
        case "message":
            content = item["content"]
            parts = [{"type": "input_text", "text": content}] if isinstance(content, str) else content
            if item["role"] in ("system", "developer"):
                meaning.operate("\n".join(part["text"] for part in parts), where)
            elif item["role"] == "assistant":
                for part in parts:
                    last = part is parts[-1]
                    _said(part, where, meaning, last=last, cut=cut, id=id, phase=item.get("phase"), field=extra)
            else:
                for part in parts:
                    _given(part, where, meaning, field=extra)
        case "function_call":
            core = (item["name"], _args(item["arguments"]))
            space = item.get("namespace")
            meaning.add("call", core, where, cut=cut, call=item["call_id"], id=id, space=space, field=extra)
        case "custom_tool_call":
            core = (item["name"], repr({"input": item["input"]}))
            meaning.add("call", core, where, call=item["call_id"], custom=True)
        case "function_call_output" | "custom_tool_call_output":
            output = item["output"]
            parts = [{"type": "input_text", "text": output}] if isinstance(output, str) else output
            words = "\n".join(part["text"] for part in parts if part["type"] == "input_text")
            files = [_given_file(part)[0] for part in parts if part["type"] != "input_text"]
            meaning.add("result", words, where, call=item["call_id"], files=files, field=extra)
        case "reasoning":
            texts = [each["text"] for each in item["summary"]] or [""]
            raw = tuple(each["text"] for each in item.get("content", []))
            for place, text in enumerate(texts):
                sealed = (item.get("encrypted_content"), raw) if place == 0 else (None, ())
                if text or any(sealed):
                    meaning.add("thought", (item["id"], text, *sealed), where)
            if not (any(texts) or item.get("encrypted_content") or raw):
                meaning.add("thought", (item["id"],), where)
        case "compaction":
            meaning.add("sealed", item["encrypted_content"], where)
        case "item_reference":
            meaning.add("reference", item["id"], where)
        case "additional_tools":
            meaning.add("change", None, where)
        case _:
            meaning.add("hosted" if kind in HOSTED else "unknown", item.get("id"), where)
            if item.get("result"):
                meaning.add("made", base64.b64decode(item["result"]), where)


def _said(part: dict[str, Any], where: str, meaning: Meaning, *, last: bool, cut: bool, **about: Any) -> None:
    if part["type"] == "refusal":
        meaning.add("agent", part["refusal"], where, cut=cut, **{**about, "id": None}, refused=True)
        return
    words = part["text"]
    if cut and last and (mark := MARK.search(words)):
        heard = int(mark[1]) if mark[1] else None
        meaning.add("agent", words[: mark.start()], where, cut=True, spoken=True, heard=heard, **about)
    elif words:
        meaning.add("agent", words, where, cut=cut, sources=part.get("annotations"), **about)


def _given(part: dict[str, Any], where: str, meaning: Meaning, **about: Any) -> None:
    match part["type"]:
        case "input_text":
            if part["text"]:
                meaning.add("user", part["text"], where, **about)
        case "input_audio":
            sound = None
            if "audio" in part:
                sound = ("pcm", hashlib.sha1(base64.b64decode(part["audio"])).hexdigest())
            elif "input_audio" in part:
                sound = _sound(BinaryContent(base64.b64decode(part["input_audio"]["data"]), media_type="audio/wav"))
            meaning.add("user", part.get("transcript") or INAUDIBLE, where, spoken=True, sound=sound, **about)
        case _:
            core, detail = _given_file(part)
            meaning.add("file", core, where, detail=detail, **about)
    if "prompt_cache_breakpoint" in part:
        meaning.add("cache", None, where)


def _given_file(part: dict[str, Any]) -> tuple[Any, Any]:
    image = part["type"] == "input_image"
    source = part.get("image_url") or part.get("file_url") or part.get("file_id") or part.get("file_data")
    if isinstance(source, str) and source.startswith("data:"):
        source = base64.b64decode(source.partition(",")[2])
    detail = part.get("detail") if part.get("detail") != "auto" else None
    return ("image" if image else "file", source), detail


def of_session(history: Sequence[dict[str, Any]]) -> Meaning:
    """Read the history of a `RealtimeSession`."""
    meaning = Meaning()
    for number, item in enumerate(history, 1):
        where = f"item {number}"
        cut = item.get("status") in ("incomplete", "in_progress")
        if item["type"] == "function_call":
            core = (item["name"], _args(item["arguments"]))
            meaning.add("call", core, where, call=item["call_id"])
            if item.get("output") is not None:
                meaning.add("result", item["output"], where, call=item["call_id"])
        elif item["role"] == "system":
            meaning.operate("\n".join(part["text"] for part in item["content"]), where)
        elif item["role"] == "user":
            for part in item["content"]:
                _given({k: v for k, v in part.items() if v is not None}, where, meaning)
        else:
            parts = [part for part in item["content"] if part["type"] == "audio" or part["text"]]
            for part in parts:
                if not cut or part is parts[-1] or part.get("transcript") or part.get("audio") or part.get("text"):
                    _replied(part, where, meaning, cut=cut)
    return meaning


def _replied(part: dict[str, Any], where: str, meaning: Meaning, *, cut: bool) -> None:
    if part["type"] == "text":
        if part["text"]:
            meaning.add("agent", part["text"], where, cut=cut)
        return
    sound = ("pcm", hashlib.sha1(base64.b64decode(part["audio"])).hexdigest()) if part.get("audio") else None
    words = part.get("transcript") or ("" if cut else INAUDIBLE)
    meaning.add("agent", words, where, cut=cut, spoken=True, sound=sound)


def kept_or_named(before: Meaning, after: Meaning, converted: Converted[Any]) -> None:
    """Hold a conversion to what it must keep: everything of *before* is in *after*, or a loss names it."""
    named: dict[str, set[str]] = defaultdict(set)
    for loss in converted.losses:
        assert str(loss).endswith(".")
        named[loss.where].add(loss.kind)

    def lost(where: str, kinds: set[str]) -> bool:
        return bool(kinds & (named[where] | named["the history"]))

    pairs = _aligned(
        [t for t in before.things if t.kind != "result"], [t for t in after.things if t.kind != "result"], lost
    )
    for one, other in pairs:
        _same(one, other, lost)
    _cuts(before, pairs, lost)
    _results(before, after, pairs, lost)
    _operator(before, converted, lost)
    assert not before.record or lost("the history", {"record"})


def _aligned(before: list[Thing], after: list[Thing], lost: Any) -> list[tuple[Thing, Thing]]:
    """Pair what is on both sides, in order; what is missing is named, and nothing was invented."""
    pairs, place = [], 0
    for one in before:
        other = after[place] if place < len(after) else None
        if other is not None and (one.kind, one.core) == (other.kind, other.core):
            pairs.append((one, other))
            place += 1
        else:
            assert lost(one.where, MAY_MISS.get(one.kind, set())), f"missing: {one}, found: {other}"
    assert place == len(after), f"invented: {after[place]}"
    return pairs


def _same(one: Thing, other: Thing, lost: Any) -> None:
    for name, value in one.about.items():
        if name in ("call", "files") or other.about.get(name) == value:
            continue
        assert lost(one.where, MAY_DIFFER.get(name, set())), f"{name} of {one} became {other}"


def _cuts(before: Meaning, pairs: list[tuple[Thing, Thing]], lost: Any) -> None:
    """Hold what was cut off, on the level of a whole response or of one item, whichever is coarser."""
    for where in {one.where for one, _ in pairs if one.cut}:
        shown = any(other.cut for one, other in pairs if one.where == where)
        assert shown or lost(where, {"ending"}), f"the cut of {where} is lost"
    for where in {other.where for _, other in pairs if other.cut}:
        assert any(one.cut for one, other in pairs if other.where == where), f"a cut of {where} is invented"
    for where in before.endings:
        assert lost(where, {"ending"}), f"why {where} ended is lost"


def _results(before: Meaning, after: Meaning, pairs: list[tuple[Thing, Thing]], lost: Any) -> None:
    """Hold each result to its call, by the order of the calls of one id."""
    calls = {id(one): other for one, other in pairs if one.kind == "call"}
    given = _by_call(after)
    for call, result, behind in _called(before):
        if call is None:
            assert result is not None
            assert lost(result.where, {"result"}), f"{result} has no call, and nobody says so"
            continue
        returned, shown_behind = given[id(calls[id(call)])]
        if result is None:
            assert returned is None or lost(call.where, {"call"}), f"{returned} is invented"
            continue
        if returned is None and result.core == INTERRUPTED_TOOL_RETURN_CONTENT:
            continue
        assert returned is not None, f"{result} is lost"
        if "files" in result.about and returned.about.get("files") != result.about["files"]:
            assert lost(result.where, {"file"}), f"a file of {result} is lost"
        packed = "files" in result.about and _squeezed(returned.core) == _squeezed(result.core)
        assert packed or returned.core == result.core, f"{result} became {returned}"
        _same(result, returned, lost)
        assert behind == shown_behind or lost(result.where, {"place"}), f"{result} has moved"


def _called(meaning: Meaning) -> list[tuple[Thing | None, Thing | None, int]]:
    """Return calls with their results, and how many things were said between them."""
    waiting: dict[str, list[tuple[Thing, int]]] = defaultdict(list)
    found: list[tuple[Thing | None, Thing | None, int]] = []
    talked = 0
    for thing in meaning.things:
        talked += thing.kind in ("user", "agent")
        if thing.kind == "call":
            waiting[thing.about["call"]].append((thing, talked))
        elif thing.kind == "result":
            if waiting[thing.about["call"]]:
                call, since = waiting[thing.about["call"]].pop(0)
                found.append((call, thing, talked - since))
            else:
                found.append((None, thing, 0))
    return [*found, *((call, None, 0) for calls in waiting.values() for call, _ in calls)]


def _by_call(meaning: Meaning) -> dict[int, tuple[Thing | None, int]]:
    found = {}
    for call, result, behind in _called(meaning):
        assert call is not None, f"{result} has no call"
        found[id(call)] = (result, behind)
    return found


def _operator(before: Meaning, converted: Converted[Any], lost: Any) -> None:
    for text, where, between in before.operator:
        assert text in converted.instructions, f"{text!r} of {where} is lost"
        assert not between or lost(where, {"place"}), f"the place of {text!r} in {where} is lost"
    places: dict[str, set[str]] = defaultdict(set)
    for text, where in before.superseded:
        places[text].add(where)
    for text, there in places.items():
        named = any(lost(where, {"superseded"}) for where in there)
        assert text in converted.instructions or named, f"{text!r} of {there} is lost"

"""The default model: it answers by keywords, the same words with the same answer, and knows nothing else."""

from typing import Any

from .prompt import Prompt, Reply


class KeywordModel:
    """A deterministic model of plain words, for learning and testing without a language model.

    In a call it greets if it speaks first, says what it heard, and asks one question at a time, never the same twice.
    It calls a tool, or transfers, when the caller's words fit its name or description and its required arguments were
    said; it asks for one that is missing. Asked for structured output it fills the schema from the caller's words
    (`schema_fill`). Asked for plain text about a call it sums the call up in the caller's words.

    It follows no instructions, but for the greeting that `Call(agent, greetings=…)` puts there, and understands no
    sentence: it looks up words in `lexicon.toml`, which knows English only. It keeps no state, and uses no clock and no
    chance, so the same conversation always gets the same answer.
    """

    def __repr__(self) -> str:
        return "KeywordModel()"

    def describe(self) -> dict[str, Any]:
        """Return the JSON from which the endpoint process builds this model again."""
        return {"kind": "keyword"}

    def reply(self, prompt: Prompt) -> Reply:
        """Answer *prompt*.

        Raises:
            ApiError: The schema of the output, or of a tool that must be called, cannot be filled (status 400, code
                `unfillable_schema`; the message names the field).
        """
        from .keywords.keyword_answer import (
            answer,  # the kernel only describes the model, and need not load what answers
        )

        return answer(prompt)

"""The default model."""

from typing import Any

from .prompt import Prompt, Reply


class KeywordModel:
    """A model that answers by keywords."""

    def reply(self, prompt: Prompt) -> Reply:
        """Answer."""
        return Reply("Thank you. Could you tell me a little more about it?")

    def describe(self) -> dict[str, Any]:
        """Describe."""
        return {"kind": "keyword"}

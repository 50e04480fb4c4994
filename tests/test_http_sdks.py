"""Both SDKs, unmodified, against the protocol modules for HTTP."""

from collections.abc import Callable
from typing import Any

import agents
import pytest
from http_service import FRANCE, Service
from openai import BadRequestError, NotFoundError
from openai.types.responses import EasyInputMessageParam
from pydantic import BaseModel
from pydantic_ai import Agent, NativeOutput, PromptedOutput, ToolOutput
from pydantic_ai.capabilities import Caching
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.models import Model
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel, OpenAIResponsesModelSettings
from pydantic_ai.providers.openai import OpenAIProvider

from handoffkit.endpoint.models.prompt import Item, Message, Reply, ToolCall, ToolResult
from handoffkit.endpoint.protocol.api_error import ApiError


class Capital(BaseModel):
    city: str
    country: str


PARIS = '{"city": "Paris", "country": "France"}'


def called_back(history: tuple[Item, ...]) -> str:
    """Return the output that ends *history*, of the call that stands right before it."""
    call, result = history[-2:]
    assert isinstance(call, ToolCall)
    assert isinstance(result, ToolResult)
    assert call.call_id == result.call_id
    return result.output


def model_of(service: Service) -> OpenAIResponsesModel:
    return OpenAIResponsesModel("gpt-5.2", provider=OpenAIProvider(openai_client=service.client()))


async def test_the_official_client_reads_a_response_and_a_stream() -> None:
    service = Service(Reply("Paris."), Reply("Rome."))
    client = service.client()
    response = await client.responses.create(model="gpt-5.2", input="Capital of France?")
    assert response.output_text == "Paris."
    assert await client.responses.retrieve(response.id) == response
    async with client.responses.stream(model="gpt-5.2", input="Italy?", previous_response_id=response.id) as stream:
        final = await stream.get_final_response()
    assert final.output_text == "Rome."
    assert service.prompts[1].history[0] == Message("user", "Capital of France?")


async def test_the_official_client_raises_our_errors_as_its_own() -> None:
    client = Service().client()
    with pytest.raises(BadRequestError) as caught:
        await client.responses.create(model="gpt-5.2", input="x", previous_response_id="resp_x")
    assert caught.value.code == "previous_response_not_found"
    with pytest.raises(NotFoundError):
        await client.responses.retrieve("resp_x")


@pytest.mark.parametrize("output_type", [Capital, ToolOutput(Capital), NativeOutput(Capital), PromptedOutput(Capital)])
async def test_pydantic_ai_gets_its_output(output_type: Any) -> None:
    native = isinstance(output_type, NativeOutput | PromptedOutput)
    service = Service(Reply(PARIS) if native else Reply("", (ToolCall("final_result", PARIS),)))
    result = await Agent(model_of(service), output_type=output_type).run("Capital of France?")
    assert result.output == Capital(city="Paris", country="France")
    assert result.usage.output_tokens > 0
    found = service.prompts[0]
    match output_type:
        case NativeOutput():
            assert found.output_schema is not None
            assert set(found.output_schema["properties"]) == {"city", "country"}
        case PromptedOutput():
            assert found.json_object
        case _:
            assert (found.tool_choice, [tool.name for tool in found.tools]) == ("required", ["final_result"])


async def test_pydantic_ai_retries_with_the_error_in_the_conversation() -> None:
    service = Service(Reply("", (ToolCall("final_result", "{}"),)), Reply("", (ToolCall("final_result", PARIS),)))
    result = await Agent(model_of(service), output_type=Capital).run("Capital of France?")
    assert result.output == Capital(city="Paris", country="France")
    outputs = [item.output for item in service.prompts[1].history if isinstance(item, ToolResult)]
    assert "Field required" in outputs[0]


def capital_agent(service: Service, model: Model | None = None) -> Agent[None, str]:
    agent = Agent(model or model_of(service), instructions="Be brief.", capabilities=[Caching()])

    @agent.tool_plain
    def get_capital(country: str) -> str:
        return {"France": "Paris"}[country]

    return agent


@pytest.mark.parametrize("settings", [{}, {"openai_previous_response_id": "auto"}, {"openai_conversation_id": "auto"}])
async def test_pydantic_ai_calls_tools(settings: OpenAIResponsesModelSettings) -> None:
    service = Service(Reply("", (FRANCE,)), Reply("It is Paris."), Reply("Yes."))
    agent = capital_agent(service)
    result = await agent.run("Capital of France?", model_settings=settings)
    assert result.output == "It is Paris."
    assert called_back(service.prompts[1].history) == "Paris"
    again = await agent.run("Sure?", message_history=result.all_messages(), model_settings=settings)
    assert again.output == "Yes."
    texts = [item.text for item in service.prompts[2].history if isinstance(item, Message)]
    assert texts == ["Capital of France?", "It is Paris.", "Sure?"]


async def test_pydantic_ai_streams_words_and_calls() -> None:
    service = Service(Reply("", (FRANCE,)), Reply("It is Paris, of course."))
    heard = []
    async with capital_agent(service).run_stream("Capital of France?") as result:
        async for delta in result.stream_text(delta=True, debounce_by=None):
            heard.append(delta)
    assert "".join(heard) == "It is Paris, of course."
    assert len(heard) > 3
    assert result.usage.requests == 2
    assert result.usage.output_tokens > 0


async def test_pydantic_ai_keeps_a_conversation_on_the_service() -> None:
    service = Service(Reply("", (FRANCE,)), Reply("It is Paris."), Reply("Yes."))
    conversation = await service.client().conversations.create()
    settings = OpenAIResponsesModelSettings(openai_conversation_id=conversation.id)
    agent = capital_agent(service)
    await agent.run("Capital of France?", model_settings=settings)
    await agent.run("Sure?", model_settings=settings)
    kept = service.store.conversations[conversation.id].items.values()
    assert [item["type"] for item in kept] == [
        "message", "function_call", "function_call_output", "message", "message", "message",
    ]  # fmt: skip
    assert len(service.prompts[2].history) == 5


async def test_pydantic_ai_says_what_a_failing_model_said() -> None:
    service = Service(ApiError("The script has no more lines.", status=400, code="script_over"))
    with pytest.raises(ModelHTTPError, match="The script has no more lines"):
        await Agent(model_of(service)).run("Hello")


async def test_the_official_client_counts_tokens() -> None:
    client = Service(Reply("x")).client()
    counted = await client.responses.input_tokens.count(model="gpt-5.2", input="Hello there")
    response = await client.responses.create(model="gpt-5.2", input="Hello there")
    assert response.usage is not None
    assert counted.input_tokens == response.usage.input_tokens


def agents_model(service: Service) -> agents.OpenAIResponsesModel:
    return agents.OpenAIResponsesModel("gpt-5.2", service.client())


@agents.function_tool
def get_capital(country: str) -> str:
    """Find a capital."""
    return {"France": "Paris"}[country]


def brief_agent(service: Service, output_type: Any = str, model: agents.Model | None = None) -> agents.Agent[None]:
    model = model or agents_model(service)
    return agents.Agent("a", instructions="Be brief.", model=model, tools=[get_capital], output_type=output_type)


UNTRACED = agents.RunConfig(tracing_disabled=True)


@pytest.mark.parametrize("options", [{}, {"auto_previous_response_id": True}])
async def test_openai_agents_calls_tools_and_gets_its_output(options: dict[str, Any]) -> None:
    service = Service(Reply("", (FRANCE,)), Reply(PARIS))
    agent = agents.Agent(
        "a", instructions="Be brief.", model=agents_model(service), tools=[get_capital], output_type=Capital
    )
    result = await agents.Runner.run(agent, "Capital of France?", run_config=UNTRACED, **options)
    assert result.final_output == Capital(city="Paris", country="France")
    assert result.context_wrapper.usage.total_tokens > 0
    assert service.prompts[1].output_schema is not None
    assert service.prompts[1].history[0] == Message("user", "Capital of France?")
    assert called_back(service.prompts[1].history) == "Paris"


async def test_openai_agents_streams_and_hands_off() -> None:
    service = Service(Reply("", (ToolCall("transfer_to_billing", ""),)), Reply("Billing speaking."))
    billing = agents.Agent("billing", instructions="You do bills.", model=agents_model(service))
    first = agents.Agent("first", instructions="You triage.", model=agents_model(service), handoffs=[billing])
    result = agents.Runner.run_streamed(first, "My bill is wrong.", run_config=UNTRACED)
    deltas = [
        event.data.delta
        async for event in result.stream_events()
        if event.type == "raw_response_event" and event.data.type == "response.output_text.delta"
    ]
    assert "".join(deltas) == result.final_output == "Billing speaking."
    assert service.prompts[1].instructions == "You do bills."


@pytest.mark.parametrize("make", [agents.SQLiteSession, None], ids=["on the client", "on the service"])
async def test_openai_agents_sessions_count_items_once(make: Callable[..., Any] | None) -> None:
    service = Service(Reply("", (FRANCE,)), Reply("It is Paris."), Reply("Yes."))
    session = make("s") if make else agents.OpenAIConversationsSession(openai_client=service.client())
    agent = brief_agent(service)
    for words in ("Capital of France?", "Sure?"):
        await agents.Runner.run(agent, words, session=session, run_config=UNTRACED)
    assert [type(item) for item in service.prompts[2].history] == [Message, ToolCall, ToolResult, Message, Message]
    assert len(await session.get_items()) == 6
    popped: Any = await session.pop_item()
    assert popped["role"] == "assistant"
    assert len(await session.get_items(limit=2)) == 2
    await session.clear_session()


async def test_openai_agents_keeps_a_conversation_on_the_service() -> None:
    service = Service(Reply("", (FRANCE,)), Reply("It is Paris."))
    said: EasyInputMessageParam = {"role": "user", "content": "I am in France."}
    conversation = await service.client().conversations.create(items=[said])
    agent = brief_agent(service)
    await agents.Runner.run(agent, "Capital?", conversation_id=conversation.id, run_config=UNTRACED)
    assert len(service.prompts[1].history) == 4
    assert len(service.store.conversations[conversation.id].items) == 5


def chat_model_of(service: Service) -> OpenAIChatModel:
    return OpenAIChatModel("gpt-5.2", provider=OpenAIProvider(openai_client=service.client()))


@pytest.mark.parametrize("output_type", [Capital, NativeOutput(Capital), PromptedOutput(Capital)])
async def test_pydantic_ai_gets_its_output_from_a_chat_model(output_type: Any) -> None:
    native = isinstance(output_type, NativeOutput | PromptedOutput)
    service = Service(Reply(PARIS) if native else Reply("", (ToolCall("final_result", PARIS),)))
    result = await Agent(chat_model_of(service), output_type=output_type).run("Capital of France?")
    assert result.output == Capital(city="Paris", country="France")
    assert result.usage.output_tokens > 0


async def test_pydantic_ai_streams_from_a_chat_model_and_calls_tools() -> None:
    service = Service(Reply("", (FRANCE,)), Reply("It is Paris, of course."))
    agent = capital_agent(service, chat_model_of(service))
    async with agent.run_stream("Capital of France?") as result:
        heard = [delta async for delta in result.stream_text(delta=True, debounce_by=None)]
    assert "".join(heard) == "It is Paris, of course."
    assert len(heard) > 3
    assert result.usage.output_tokens > 0
    assert called_back(service.prompts[1].history) == "Paris"


async def test_openai_agents_uses_a_chat_model() -> None:
    service = Service(Reply("", (FRANCE,)), Reply(PARIS), Reply("", (FRANCE,)), Reply(PARIS))
    model = agents.OpenAIChatCompletionsModel("gpt-5.2", service.client())
    agent = brief_agent(service, Capital, model)
    result = await agents.Runner.run(agent, "Capital of France?", run_config=UNTRACED)
    assert result.final_output == Capital(city="Paris", country="France")
    agent.model_settings = agents.ModelSettings(include_usage=True)  # it asks OpenAI alone for usage by itself
    streamed = agents.Runner.run_streamed(agent, "Capital of France?", run_config=UNTRACED)
    async for _ in streamed.stream_events():
        pass
    assert streamed.final_output == result.final_output
    assert streamed.context_wrapper.usage.total_tokens == result.context_wrapper.usage.total_tokens > 0

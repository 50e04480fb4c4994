"""A script that waits for its agent: `run_sync` starts an event loop of its own."""

from agents import Agent, Runner

agent = Agent(name="Support", instructions="You are a friendly support agent.", model="gpt-5.2")
first = Runner.run_sync(agent, "My laptop does not charge.")
assert first.final_output
assert len(first.raw_responses) == 1

more = [*first.to_input_list(), {"role": "user", "content": "Another outlet changed nothing."}]
second = Runner.run_sync(agent, more)
assert second.final_output
assert second.final_output != first.final_output
assert len(second.to_input_list()) == 4

"""A pydantic-ai agent on a scripted model, as an AG-UI endpoint. The address is written to standard output."""

import json
import socket
import sys
import threading
from collections.abc import AsyncIterator

import uvicorn
from pydantic_ai import Agent, DeferredToolRequests
from pydantic_ai.messages import ModelMessage, ModelRequest, ToolReturnPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, DeltaThinkingPart, DeltaToolCall, FunctionModel
from pydantic_ai.ui.ag_ui import AGUIAdapter
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Route


def parts(messages: list[ModelMessage], kind: type):
    return [p for m in messages if isinstance(m, ModelRequest) for p in m.parts if isinstance(p, kind)]


async def play(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator:
    """Says what the last prompt asks for: with no result of a tool yet, and with some."""
    prompts = [str(p.content) for p in parts(messages, UserPromptPart)]
    last = max(i for i, m in enumerate(messages) if any(isinstance(p, UserPromptPart) for p in m.parts))
    done = parts(messages[last + 1 :], ToolReturnPart)
    prompt = prompts[-1]
    if done:
        yield "The tool: " + json.dumps(done[-1].content)
    elif prompt == "fail":
        yield "I start, but "
        raise RuntimeError("the model exploded")
    elif prompt == "think":
        for word in ("I should ", "think."):
            yield {0: DeltaThinkingPart(content=word)}
        yield {0: DeltaThinkingPart(signature="c2ln")}
        yield "So I answer."
    elif prompt in ("weather", "mail", "pick"):
        yield "Let me see. "
        yield {1: DeltaToolCall(name=prompt, tool_call_id="call_" + str(len(messages)))}
        for piece in ('{"city":', '"Paris"}'):
            yield {1: DeltaToolCall(json_args=piece)}
    elif prompt == "both":
        for n in (1, 2):
            yield {n: DeltaToolCall(name="mail", json_args=json.dumps({"city": f"city {n}"}), tool_call_id=f"both_{n}")}
    else:
        yield "You said: " + " / ".join(prompts)


agent = Agent(FunctionModel(stream_function=play), output_type=[str, DeferredToolRequests])


@agent.tool_plain
async def weather(city: str) -> dict:
    """The weather."""
    return {"city": city, "degrees": 21}


@agent.tool_plain(requires_approval=True)
async def mail(city: str) -> str:
    """Sends a mail."""
    return "sent to " + city


async def run(request: Request):
    return await AGUIAdapter.dispatch_request(request, agent=agent)


if __name__ == "__main__":
    listener = socket.create_server(("127.0.0.1", 0))
    print(json.dumps({"pydantic": f"http://127.0.0.1:{listener.getsockname()[1]}/"}), flush=True)
    server = uvicorn.Server(uvicorn.Config(Starlette(routes=[Route("/", run, methods=["POST"])]), log_level="error"))

    def end():
        sys.stdin.read()
        server.should_exit = True

    threading.Thread(target=end, daemon=True).start()
    server.run(sockets=[listener])

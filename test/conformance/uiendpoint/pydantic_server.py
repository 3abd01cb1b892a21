"""An endpoint of pydantic-ai on a model of functions, for the tests of adapter/uiendpoint.

The release of the AI SDK that it speaks to is the first segment of the path. The first line
of output is the port; the server ends with its standard input.
"""

import asyncio
import json
import sys

import uvicorn
from pydantic_ai import Agent, DeferredToolRequests
from pydantic_ai.messages import ModelMessagesTypeAdapter, ToolReturnPart, UserPromptPart
from pydantic_ai.models.function import DeltaThinkingPart, DeltaToolCall, FunctionModel
from pydantic_ai.ui.vercel_ai import VercelAIAdapter
from starlette.applications import Starlette
from starlette.routing import Route


async def answer(messages, info):
    parts = messages[-1].parts
    results = [p for p in parts if isinstance(p, ToolReturnPart)]
    if results:
        yield f'The tools say {[p.content for p in results]}.'
        return
    text = next((p.content for p in reversed(parts) if isinstance(p, UserPromptPart)), '')
    text = text if isinstance(text, str) else ' '.join(c if isinstance(c, str) else getattr(c, 'content', '') for c in text)
    if text == 'weather':
        yield {0: DeltaToolCall(name='weather', json_args='{"city":', tool_call_id='w1')}
        yield {0: DeltaToolCall(json_args='"Paris"}')}
    elif text.startswith('pay'):
        yield {0: DeltaToolCall(name='pay', json_args='{"amount":5}', tool_call_id='p-' + text)}
    elif text == 'think':
        yield {0: DeltaThinkingPart(content='Hm. ', signature='sealed')}
        yield 'Thought.'
    elif text == 'recall':
        yield json.dumps(json.loads(ModelMessagesTypeAdapter.dump_json(messages)))
    else:
        for word in ('You ', 'said: ', text):
            yield word


agent = Agent(FunctionModel(stream_function=answer), output_type=[str, DeferredToolRequests])


@agent.tool_plain
def weather(city: str) -> dict:
    return {'city': city, 'sun': 1.5}


@agent.tool_plain(requires_approval=True)
def pay(amount: int) -> str:
    return f'paid {amount}'


async def chat(request):
    return await VercelAIAdapter.dispatch_request(request, agent=agent, sdk_version=int(request.path_params['major']))


async def main():
    app = Starlette(routes=[Route('/{major}/api/chat', chat, methods=['POST'])])
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level='error'))
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    print(server.servers[0].sockets[0].getsockname()[1], flush=True)
    await asyncio.to_thread(sys.stdin.read)
    server.should_exit = True
    await serving


asyncio.run(main())

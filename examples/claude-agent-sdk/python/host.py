"""The host's half of Claude Code's protocol: JSON lines on standard input and output."""

import asyncio
import json
import sys
import uuid
from dataclasses import replace

from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, PermissionResultAllow, PermissionResultDeny, Transport
from claude_agent_sdk._internal.transport.subprocess_cli import SubprocessCLITransport
from claude_agent_sdk.types import PermissionUpdate


def write(line):
    """Writes one line to the gateway."""
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def flags(args=None):
    """The flags that the gateway starts the program with; flags without a value are True."""
    args = sys.argv[1:] if args is None else args
    found = {}
    for i, arg in enumerate(args):
        if arg.startswith("--"):
            bare = i + 1 == len(args) or args[i + 1].startswith("--")
            found[arg[2:]] = True if bare else args[i + 1]
    return found


class Tee(Transport):
    """Claude Code's own transport, which also passes each message on to the gateway as it came."""

    def __init__(self, options):
        asking = replace(options, permission_prompt_tool_name="stdio")  # Claude Code asks over standard input and output
        self._inner = SubprocessCLITransport(prompt=_nothing(), options=asking)

    async def connect(self):
        await self._inner.connect()

    async def write(self, data):
        await self._inner.write(data)

    async def read_messages(self):
        async for message in self._inner.read_messages():
            if not str(message.get("type")).startswith("control_"):
                write(message)
            yield message

    async def close(self):
        await self._inner.close()

    def is_ready(self):
        return self._inner.is_ready()

    async def end_input(self):
        await self._inner.end_input()


async def _nothing():
    return
    yield


class Host:
    """Reads the gateway's lines: prompts, answers to permission requests, and control requests."""

    def __init__(self):
        self._waiting = {}

    async def can_use_tool(self, tool, tool_input, context):
        """Asks the gateway. Its policy decides, or a person."""
        request_id, answer = str(uuid.uuid4()), asyncio.get_running_loop().create_future()
        self._waiting[request_id] = answer
        suggestions = [s.to_dict() for s in context.suggestions or []]
        write({"type": "control_request", "request_id": request_id, "request": {
            "subtype": "can_use_tool", "tool_name": tool, "input": tool_input,
            "tool_use_id": context.tool_use_id, "permission_suggestions": suggestions,
        }})
        try:
            response = await answer
        except asyncio.CancelledError:
            write({"type": "control_cancel_request", "request_id": request_id})
            raise
        finally:
            self._waiting.pop(request_id, None)
        if response.get("behavior") != "allow":
            return PermissionResultDeny(message=response.get("message", ""), interrupt=response.get("interrupt", False))
        updates = response.get("updatedPermissions")
        return PermissionResultAllow(
            updated_input=response.get("updatedInput"),
            updated_permissions=[PermissionUpdate.from_dict(u) for u in updates] if updates else None,
        )

    async def serve(self, options: ClaudeAgentOptions):
        """Serves the gateway until it closes standard input."""
        async with ClaudeSDKClient(options, transport=Tee(options)) as client:
            reading = asyncio.create_task(_drain(client))
            controls = set()
            loop = asyncio.get_running_loop()
            while text := await loop.run_in_executor(None, sys.stdin.readline):
                line = json.loads(text)
                if line["type"] == "user":
                    await client.query(_once(line))
                elif line["type"] == "control_response":
                    self._answered(line["response"])
                elif line["type"] == "control_request":
                    task = asyncio.create_task(_control(client, line["request_id"], line["request"]))
                    controls.add(task)
                    task.add_done_callback(controls.discard)
            reading.cancel()

    def _answered(self, response):
        answer = self._waiting.get(response.get("request_id"))
        if answer and not answer.done():
            ok = response.get("subtype") == "success"
            answer.set_result(response["response"] if ok else {"behavior": "deny", "message": str(response.get("error"))})


async def _drain(client):
    async for _ in client.receive_messages():
        pass  # Tee has passed the message on


async def _once(message):
    yield message


async def _control(client, request_id, request):
    try:
        subtype, result = request["subtype"], None
        if subtype == "initialize":
            result = await client.get_server_info()
        elif subtype == "interrupt":
            await client.interrupt()
        elif subtype == "set_model":
            await client.set_model(request.get("model"))
        elif subtype == "set_permission_mode":
            await client.set_permission_mode(request["mode"])
        else:
            raise ValueError(f"{subtype} is not supported by this agent")
        write({"type": "control_response", "response": {"subtype": "success", "request_id": request_id, "response": result or {}}})
    except Exception as error:  # the gateway learns of each failure
        write({"type": "control_response", "response": {"subtype": "error", "request_id": request_id, "error": str(error)}})

"""An agent of your own on the Claude Agent SDK, with a tool and a hook. The gateway runs it as if it were Claude Code."""

import asyncio
import os
import re

from claude_agent_sdk import ClaudeAgentOptions, HookMatcher, create_sdk_mcp_server, tool

from host import Host, flags


@tool("word_count", "Counts the words of a text", {"text": str})
async def word_count(args):
    return {"content": [{"type": "text", "text": str(len(args["text"].split()))}]}


async def no_sudo(hook_input, _tool_use_id, _context):
    command = str(hook_input.get("tool_input", {}).get("command", ""))
    if not re.search(r"\bsudo\b", command):
        return {}
    return {"hookSpecificOutput": {
        "hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "This agent never runs sudo.",
    }}


host, given = Host(), flags()
if given.get("version"):
    print("1.0.0 (house agent)")
    raise SystemExit
resume_at = given.get("resume-session-at")
options = ClaudeAgentOptions(
    include_partial_messages=True,
    setting_sources=[],
    resume=given.get("resume"),
    extra_args={"replay-user-messages": None} | ({"resume-session-at": resume_at} if resume_at else {}),
    model=given.get("model"),
    cli_path=os.environ.get("CLAUDE_CODE_PATH"),
    mcp_servers={"house": create_sdk_mcp_server("house", "1.0.0", [word_count])},
    allowed_tools=["mcp__house__word_count"],  # this program's own tool asks nobody
    can_use_tool=host.can_use_tool,
    hooks={"PreToolUse": [HookMatcher(matcher="Bash", hooks=[no_sudo])]},
)
asyncio.run(host.serve(options))

/** An agent of your own on the Claude Agent SDK, with a tool and a hook. The gateway runs it as if it were Claude Code. */
import { createSdkMcpServer, query, tool } from '@anthropic-ai/claude-agent-sdk';
import { z } from 'zod';
import { flags, Host, write } from './host.ts';

const wordCount = tool('word_count', 'Counts the words of a text', { text: z.string() }, async ({ text }) => ({
  content: [{ type: 'text', text: String(text.split(/\s+/).filter(Boolean).length) }],
}));

const host = new Host();
const given = flags();
if (given.version) {
  console.log('1.0.0 (house agent)');
  process.exit();
}
const value = (name: string) => (typeof given[name] === 'string' ? given[name] : undefined);
const agent = query({
  prompt: host.messages(),
  options: {
    includePartialMessages: true,
    extraArgs: { 'replay-user-messages': null },
    settingSources: [],
    resume: value('resume'),
    resumeSessionAt: value('resume-session-at'),
    model: value('model'),
    pathToClaudeCodeExecutable: process.env.CLAUDE_CODE_PATH,
    mcpServers: { house: createSdkMcpServer({ name: 'house', version: '1.0.0', tools: [wordCount] }) },
    allowedTools: ['mcp__house__word_count'], // this program's own tool asks nobody
    canUseTool: host.canUseTool,
    hooks: {
      PreToolUse: [{ matcher: 'Bash', hooks: [async input => {
        const command = String((input as { tool_input?: { command?: unknown } }).tool_input?.command ?? '');
        if (!/\bsudo\b/.test(command)) return {};
        return { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason: 'This agent never runs sudo.' } };
      }] }],
    },
  },
});

void host.serve(agent);
for await (const message of agent) write(message);

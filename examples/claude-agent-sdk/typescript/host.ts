/** The host's half of Claude Code's protocol: JSON lines on standard input and output. */
import { createInterface } from 'node:readline';
import { randomUUID } from 'node:crypto';
import type { CanUseTool, PermissionMode, PermissionResult, SDKUserMessage } from '@anthropic-ai/claude-agent-sdk';

// biome-ignore lint/suspicious/noExplicitAny: a line of JSON, whose fields the code below checks by name
type Line = Record<string, any>;

/** Writes one line to the gateway. */
export const write = (line: unknown) => { process.stdout.write(`${JSON.stringify(line)}\n`); };

/** The flags that the gateway starts the program with; flags without a value are true. */
export function flags(args = process.argv.slice(2)): Record<string, string | true> {
  const found: Record<string, string | true> = {};
  args.forEach((arg, i) => {
    if (arg.startsWith('--')) found[arg.slice(2)] = args[i + 1]?.startsWith('--') === false ? args[i + 1] : true;
  });
  return found;
}

/** What the gateway may ask of the running agent. */
export interface Controls {
  interrupt(): Promise<unknown>;
  setModel(model?: string): Promise<unknown>;
  setPermissionMode(mode: PermissionMode): Promise<unknown>;
  initializationResult(): Promise<unknown>;
}

/** Reads the gateway's lines: prompts, answers to permission requests, and control requests. */
export class Host {
  private readonly prompts: SDKUserMessage[] = [];
  private readonly waiting = new Map<string, (answer: PermissionResult) => void>();
  private wake = () => {};
  private ended = false;

  /** Serves the gateway until it closes standard input. */
  async serve(controls: Controls) {
    for await (const text of createInterface({ input: process.stdin })) {
      if (!text.trim()) continue;
      const line = JSON.parse(text) as Line;
      if (line.type === 'user') this.prompts.push(line as SDKUserMessage);
      if (line.type === 'control_response') this.answered(line.response);
      if (line.type === 'control_request') void this.control(line.request_id, line.request, controls);
      this.wake();
    }
    this.ended = true;
    this.wake();
  }

  /** The user's messages, for query(). */
  async *messages(): AsyncGenerator<SDKUserMessage> {
    for (;;) {
      const next = this.prompts.shift();
      if (next) yield next;
      else if (this.ended) return;
      else await new Promise<void>(resolve => { this.wake = resolve; });
    }
  }

  /** Asks the gateway. Its policy decides, or a person. */
  readonly canUseTool: CanUseTool = (tool, input, options) => new Promise(resolve => {
    const id = randomUUID();
    this.waiting.set(id, resolve);
    write({ type: 'control_request', request_id: id, request: {
      subtype: 'can_use_tool', tool_name: tool, input, tool_use_id: options.toolUseID, permission_suggestions: options.suggestions ?? [],
    } });
    options.signal.addEventListener('abort', () => {
      if (!this.waiting.delete(id)) return;
      write({ type: 'control_cancel_request', request_id: id });
      resolve({ behavior: 'deny', message: 'The request was withdrawn.' });
    });
  });

  private answered(response: Line) {
    const resolve = this.waiting.get(response.request_id);
    this.waiting.delete(response.request_id);
    resolve?.(response.subtype === 'success' ? response.response : { behavior: 'deny', message: String(response.error) });
  }

  private async control(id: string, request: Line, controls: Controls) {
    const known: Record<string, () => Promise<unknown>> = {
      initialize: () => controls.initializationResult(),
      interrupt: () => controls.interrupt(),
      set_model: () => controls.setModel(request.model),
      set_permission_mode: () => controls.setPermissionMode(request.mode),
    };
    try {
      const run = known[request.subtype];
      if (!run) throw new Error(`${request.subtype} is not supported by this agent`);
      write({ type: 'control_response', response: { subtype: 'success', request_id: id, response: (await run()) ?? {} } });
    } catch (error) {
      write({ type: 'control_response', response: { subtype: 'error', request_id: id, error: (error as Error).message } });
    }
  }
}

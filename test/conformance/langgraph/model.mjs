// A chat model that follows a script. LangGraph handles its stream like a provider's.
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessageChunk } from '@langchain/core/messages';
import { ChatGenerationChunk } from '@langchain/core/outputs';
import { setTimeout as pause } from 'node:timers/promises';

export const say = (text, name) => text.match(/\S+\s*/g).map(content => ({ content, name }));
export const think = text => [
  { content: [{ type: 'thinking', thinking: text, index: 0 }] },
  { content: [{ type: 'thinking', thinking: '', signature: 'c2ln', index: 0 }] },
];
export const standard = text => [{ content: [{ type: 'reasoning', reasoning: text, index: 0 }] }];
export const deepseek = text => [{ content: '', additional_kwargs: { reasoning_content: text } }];
export const openai = text => [{ content: '', additional_kwargs: { reasoning: { summary: [{ type: 'summary_text', text, index: 0 }] } } }];
export const cite = (text, url) => [
  { content: [{ type: 'text', text, index: 1, annotations: [{ type: 'citation', url, title: 'A page' }] }] },
];
export const picture = data => [{ content: [{ type: 'image', mimeType: 'image/png', data, index: 2 }] }];
export const fail = text => [{ fail: text }];

// call writes the input of several calls in turn, a few characters at a time.
export function call(...calls) {
  const all = calls.map(([id, name], index) => ({
    content: '',
    tool_call_chunks: [{ type: 'tool_call_chunk', index, id, name, args: '' }],
  }));
  const texts = calls.map(([, , args]) => (typeof args === 'string' ? args : JSON.stringify(args)));
  for (let at = 0; at < Math.max(...texts.map(t => t.length)); at += 7) {
    texts.forEach((t, index) => {
      if (at < t.length) all.push({ content: '', tool_call_chunks: [{ type: 'tool_call_chunk', index, args: t.slice(at, at + 7) }] });
    });
  }
  return all;
}

export class Scripted extends BaseChatModel {
  constructor(script, { delay = 1 } = {}) {
    super({});
    this.script = script;
    this.delay = delay;
  }

  _llmType() {
    return 'scripted';
  }

  async _generate() {
    throw new Error('this model streams');
  }

  async *_streamResponseChunks(messages, options, manager) {
    const chunks = typeof this.script === 'function' ? this.script(messages) : this.script;
    let called = false;
    const emit = async fields => {
      const message = new AIMessageChunk(fields);
      const text = typeof fields.content === 'string' ? fields.content : '';
      const chunk = new ChatGenerationChunk({ message, text });
      await manager?.handleLLMNewToken(text, undefined, undefined, undefined, undefined, { chunk });
      return chunk;
    };
    for (const fields of chunks) {
      await pause(this.delay, undefined, { signal: options.signal });
      if (fields.fail) throw new Error(fields.fail);
      called ||= Boolean(fields.tool_call_chunks);
      yield await emit(fields);
    }
    yield await emit({
      content: '',
      response_metadata: { finish_reason: called ? 'tool_calls' : 'stop', model_name: 'scripted-1' },
      usage_metadata: { input_tokens: 10, output_tokens: chunks.length, total_tokens: 10 + chunks.length },
    });
  }
}

// The graphs of the tests of adapter/langgraph. The last word of the prompt chooses what the agent does.
import { AIMessage, ToolMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { Annotation, Command, END, interrupt, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { ToolNode } from '@langchain/langgraph/prebuilt';
import { z } from 'zod';
import { call, cite, deepseek, fail, openai, picture, say, Scripted, standard, think } from './model.mjs';

const any = z.object({}).passthrough();
const getWeather = tool(async ({ city }) => JSON.stringify({ city, degrees: 21 }), {
  name: 'get_weather',
  description: 'the weather',
  schema: z.object({ city: z.string() }),
});
const waitABit = tool(async ({ ms }) => new Promise(done => setTimeout(() => done(`waited ${ms}`), ms)), {
  name: 'wait_a_bit',
  description: 'waits',
  schema: z.object({ ms: z.number() }),
});
const explode = tool(
  async () => {
    throw new Error('the tool exploded');
  },
  { name: 'explode', description: 'fails', schema: any },
);
const sendMail = tool(async ({ to }) => `sent to ${to}`, { name: 'send_mail', description: 'sends', schema: z.object({ to: z.string() }) });
const askFirst = tool(
  async ({ to }) => {
    const answer = interrupt({ question: `Send to ${to}?`, options: ['yes', 'no'] });
    return answer === 'yes' ? `sent to ${to}` : `not sent: ${JSON.stringify(answer)}`;
  },
  { name: 'ask_first', description: 'asks', schema: z.object({ to: z.string() }) },
);
const tools = [getWeather, waitABit, explode, sendMail, askFirst];

const wordOf = messages =>
  String(messages.findLast(m => m.getType() === 'human')?.text ?? '')
    .trim()
    .split(/\s+/)
    .at(-1);
const answers = messages => messages.slice(messages.findLastIndex(m => m.getType() === 'human') + 1).filter(m => m.getType() === 'tool');
const saidBefore = messages =>
  messages
    .filter(m => m.getType() === 'human')
    .map(m => m.text)
    .join(' / ');

// scripts say what the model of the agent does: with no answer of a tool yet, and with some.
const scripts = {
  weather: (n, a) =>
    n === 0
      ? [...say('Let me look. '), ...call(['call_w', 'get_weather', { city: 'Paris' }])]
      : say(`It is ${JSON.parse(a[0].content).degrees} degrees.`),
  parallel: n =>
    n === 0 ? call(['call_1', 'get_weather', { city: 'Paris' }], ['call_2', 'wait_a_bit', { ms: 30 }]) : say('Both are done.'),
  broken: n => (n === 0 ? call(['call_b', 'explode', { why: 'test' }]) : say('The tool failed.')),
  cut: n => (n === 0 ? call(['call_c', 'get_weather', '{"city":"Par']) : say('It was cut.')),
  fail: () => [...say('I start, but '), ...fail('the model exploded')],
  think: () => [...think('I should think. '), ...say('So I answer.')],
  reason: () => [...standard('I reason. '), ...say('So I answer.')],
  deepseek: () => [...deepseek('Deep. '), ...say('So I answer.')],
  openai: () => [...openai('Short. '), ...say('So I answer.')],
  cite: () => [...cite('As they say. ', 'https://example.test/page'), ...picture('iVBORw0KGgo=')],
  mail: n => (n === 0 ? [...say('I will write. '), ...call(['call_m', 'send_mail', { to: 'ann@example.test' }])] : say('That was it.')),
  mails: n =>
    n === 0
      ? call(['call_m1', 'send_mail', { to: 'ann@example.test' }], ['call_m2', 'send_mail', { to: 'bob@example.test' }])
      : say('That was it.'),
  ask: (n, a) => (n === 0 ? call(['call_a', 'ask_first', { to: 'ann@example.test' }]) : say(`The tool: ${a[0].content}`)),
  big: () => [{ content: 'data: x\n\nevent: fake\n\u2028 日本語 😀 ' }, { content: 'x'.repeat(250_000) }],
  slow: () => say(Array.from({ length: 40 }, (_, i) => `w${i}`).join(' ')),
};
const model = new Scripted(messages => {
  const done = answers(messages);
  return scripts[wordOf(messages)]?.(done.length, done) ?? say(`You said: ${saidBefore(messages)}`);
});
const slowly = new Scripted(messages => scripts.slow(messages), { delay: 60 });
const think1 = async (state, config) => ({
  messages: [await (wordOf(state.messages) === 'slow' ? slowly : model).invoke(state.messages, config)],
});
const more = next => state => (state.messages.at(-1).tool_calls?.length ? next : END);

const builder = () =>
  new StateGraph(MessagesAnnotation)
    .addNode('model', think1)
    .addNode('tools', new ToolNode(tools))
    .addEdge(START, 'model')
    .addConditionalEdges('model', more('tools'), ['tools', END])
    .addEdge('tools', 'model');
export const agent = builder().compile();
export const paused = builder().compile({ interruptBefore: ['tools'] });

// Two speakers, in turn and at once.
const speaker = (name, lines, delay) => async (state, config) => ({
  messages: [
    await new Scripted(say(lines[Math.floor((state.turns ?? 0) / 2) % lines.length], name), { delay }).invoke(state.messages, {
      ...config,
      metadata: { ...config.metadata, participant: name },
    }),
  ],
  turns: 1,
});
const Talk = Annotation.Root({ ...MessagesAnnotation.spec, turns: Annotation({ reducer: (a, b) => (a ?? 0) + b, default: () => 0 }) });
const alice = speaker('alice', ['Shall we plan the trip?', 'I book the train.']);
const bob = speaker('bob', ['Paris it is.', 'I book the hotel.']);
export const duo = new StateGraph(Talk)
  .addNode('alice', alice)
  .addNode('bob', bob)
  .addEdge(START, 'alice')
  .addEdge('alice', 'bob')
  .addConditionalEdges('bob', s => (s.turns >= 4 ? END : 'alice'), ['alice', END])
  .compile();
export const atonce = new StateGraph(Talk)
  .addNode('alice', speaker('alice', ['I talk while you talk too.'], 5))
  .addNode('bob', speaker('bob', ['And I do not wait for you.'], 5))
  .addEdge(START, 'alice')
  .addEdge(START, 'bob')
  .compile();

// A graph within a graph.
const writer = async (state, config) => ({ messages: [await new Scripted(say('Here is the report.')).invoke(state.messages, config)] });
export const nested = new StateGraph(MessagesAnnotation)
  .addNode('team', builder().compile({ name: 'team' }))
  .addNode('writer', writer)
  .addEdge(START, 'team')
  .addEdge('team', 'writer')
  .compile();

// Approval as LangChain's middleware asks for it.
function review(state) {
  const ai = state.messages.at(-1);
  const { decisions } = interrupt({
    action_requests: ai.tool_calls.map(({ name, args }) => ({ name, args, description: `Run ${name}?` })),
    review_configs: ai.tool_calls.map(({ name }) => ({ action_name: name, allowed_decisions: ['approve', 'edit', 'reject'] })),
  });
  const refused = [];
  const kept = ai.tool_calls.flatMap((c, i) => {
    const d = decisions[i];
    if (d.type === 'reject') refused.push(new ToolMessage({ tool_call_id: c.id, name: c.name, status: 'error', content: d.message }));
    return d.type === 'edit' ? [{ ...c, name: d.edited_action.name, args: d.edited_action.args }] : [c];
  });
  const again = new AIMessage({ id: ai.id, content: ai.content, tool_calls: kept });
  return new Command({ goto: refused.length ? 'model' : 'tools', update: { messages: [again, ...refused] } });
}
export const approval = new StateGraph(MessagesAnnotation)
  .addNode('model', think1)
  .addNode('review', review, { ends: ['model', 'tools'] })
  .addNode('tools', new ToolNode(tools))
  .addEdge(START, 'model')
  .addConditionalEdges('model', more('review'), ['review', END])
  .addEdge('tools', 'model')
  .compile();

// Two questions at once, and what a graph says beside its messages.
export const two = new StateGraph(Annotation.Root({ messages: MessagesAnnotation.spec.messages, left: Annotation(), right: Annotation() }))
  .addNode('ask_left', () => ({ left: interrupt({ ask: 'left?' }) }))
  .addNode('ask_right', () => ({ right: interrupt('right?') }))
  .addNode('sum', s => ({ messages: [new AIMessage(`left ${JSON.stringify(s.left)}, right ${JSON.stringify(s.right)}`)] }))
  .addEdge(START, 'ask_left')
  .addEdge(START, 'ask_right')
  .addEdge('ask_left', 'sum')
  .addEdge('ask_right', 'sum')
  .compile();
export const custom = new StateGraph(MessagesAnnotation)
  .addNode('work', async (_, config) => {
    for (const value of [{ type: 'progress', value: 1 }, { type: 'progress', id: 'p', value: 2 }, { none: true }, 'a text', [1, 2]])
      config.writer?.(value);
    return { messages: [{ role: 'assistant', content: 'A plain object.' }] };
  })
  .addEdge(START, 'work')
  .compile();

// What the demo agent says that its turn has used.
export const USAGE = {
  scope: 'turn',
  input_tokens: 1200,
  output_tokens: 340,
  cache_read_tokens: 800,
  reasoning_tokens: 40,
  cost_usd: 0.0123,
  context_used: 1540,
  context_size: 200000,
  model: 'demo',
};

export default {
  order: 15,
  about: 'a turn that reports its usage: the numbers reach the app as the agent said them',
  async run(t) {
    const chat = await t.open();
    chat.send('usage');
    await chat.settled();
    t.well(chat);
    t.equal(
      'a data part has the numbers of the turn',
      chat.last.parts.filter(p => p.type.startsWith('data-')),
      [{ type: 'data-usage', id: 'usage-turn', data: USAGE }],
    );
  },
};

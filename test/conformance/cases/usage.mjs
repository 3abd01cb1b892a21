export default {
  order: 15,
  about: 'a turn that reports its usage: a number of tokens reaches the app',
  async run(t) {
    const chat = await t.open();
    chat.send('usage');
    await chat.settled();
    t.well(chat);
    const shown = JSON.stringify([chat.last.metadata ?? null, chat.last.parts.filter(p => p.type.startsWith('data-'))]);
    t.check('metadata or a data part tells tokens', /token/i.test(shown), shown);
  },
};

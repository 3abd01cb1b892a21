// A case without a fault, beside those that have one.
export default {
  about: 'waits for its turn',
  async run(t) {
    const chat = await t.open();
    chat.send('hello');
    await chat.settled();
    t.well(chat);
  },
};

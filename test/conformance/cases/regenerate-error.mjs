export default {
  order: 24,
  about: 'regenerate() and sendMessage() after a turn that failed: the prompt runs again, and is there once',
  async run(t) {
    const chat = await t.open();
    for (const [again, how] of [
      [() => chat.send('error'), 'the first time'],
      [() => chat.regenerate(), 'regenerate()'],
      [
        () => {
          chat.set(chat.messages.slice(0, 1));
          chat.send();
        },
        'sendMessage()',
      ],
    ]) {
      again();
      await chat.settled();
      t.equal(`${how}: the client shows the error`, chat.status, 'error');
      t.equal(
        `${how}: the prompt is in history once`,
        (await t.history()).map(m => m.role),
        ['user', 'assistant'],
      );
      t.equal(`${how}: it has the id that the client gave it`, (await t.history())[0].id, chat.messages[0].id);
    }
  },
};

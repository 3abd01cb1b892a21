// A case that forgets an await: what fails there fails the run, in the name of the case.
const later = async () => {
  await new Promise(r => setTimeout(r, 20));
  throw new Error('nobody waits for this');
};

export default {
  about: 'forgets an await',
  async run(t) {
    void later();
    const chat = await t.open();
    chat.send('hello');
    await chat.settled();
  },
};

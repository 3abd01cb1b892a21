export default {
  order: 30,
  about: 'resume where nothing has ever run: 204, and the client stays ready',
  async run(t) {
    const chat = await t.open({ resume: true });
    if (t.way === 'chat') chat.resume();
    await chat.until('the request is answered', () => t.requests().some(r => r.status));
    const end = Date.now() + 2000;
    while (chat.status !== 'ready' && Date.now() < end) await new Promise(r => setTimeout(r, 5));
    t.well(chat, 'the client stays ready');
    const [get] = t.requests();
    t.equal('the answer is 204', get.status, 204);
    t.equal('nothing is on screen', chat.messages, []);
  },
};

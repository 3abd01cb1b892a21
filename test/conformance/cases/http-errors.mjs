// evidence: promise-known-chunks
export default {
  order: 21,
  about: 'refusals are one sentence that the stock client shows: no token, unknown agent',
  async run(t) {
    const refusal = async (name, id, transport, status) => {
      const chat = await t.open({ id, transport });
      chat.send('hello');
      await chat.settled();
      const [post] = t.requests(id);
      t.equal(`${name}: the client shows an error`, chat.status, 'error');
      t.check(`${name}: the status is right`, status.includes(post?.status), post?.status);
      t.check(
        `${name}: the type is text/plain`,
        post?.headers?.get('content-type')?.startsWith('text/plain'),
        post?.headers?.get('content-type'),
      );
      const sentence = chat.error?.message ?? '';
      t.check(`${name}: one sentence is shown`, /^\S[^\n{<]{7,300}$/.test(sentence.trim()), JSON.stringify(sentence));
      await chat.close();
    };
    if (t.site.token) await refusal('no token', `${t.id}-a`, t.transport({ headers: {} }), [401]);
    await refusal('unknown agent', `${t.id}-b`, t.transport({ query: { agent: 'nobody-of-this-name' } }), [400, 404, 422]);
  },
};

import { textOf } from '../lib/message.mjs';

export default {
  order: 3,
  about: 'the stock transport alone, with a query in its api, resumes in mid-turn',
  async run(t) {
    const transport = t.transport({ stock: true, query: { agent: 'demo' } });
    const before = await t.open({ transport });
    before.send('slow');
    await before.until('some text is shown', c => c.last?.role === 'assistant' && textOf(c.last).length > 40);
    t.drop();
    const page = await t.open({ transport, messages: (await t.history()).filter(m => m.role === 'user') });
    page.resume();
    const get = () => t.requests().find(r => r.method === 'GET') ?? (page.status === 'error' ? {} : undefined);
    await page.until('the resume is answered', () => get()?.status ?? page.status === 'error');
    t.equal('the turn streams again', [page.status === 'error', get().status], [false, 200]);
    await page.stop();
    await t.stop();
  },
};

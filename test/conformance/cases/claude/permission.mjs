import fs from 'node:fs';
import { restOf } from '../../lib/asking.mjs';
import { requestOf, textOf, toolsOf, waitsFor } from '../../lib/message.mjs';
import { WRITTEN, write } from '../../lib/script.mjs';

// evidence: promise-stock-answer
export default {
  order: 12,
  about: 'a file is to be written and a person is asked: allowed, it is there; denied, it is not, and the agent hears why',
  skip: ({ client, profile }) =>
    client.major === 5 && profile === 'none' ? 'major 5 has no approvals in its protocol; its apps use ?client=5' : null,
  async run(t) {
    let chat = await t.open();
    for (const approved of [true, false]) {
      const said = approved ? 'allowed' : 'denied',
        file = `${t.work}/${t.id}-${said}.txt`,
        turns = chat.messages.length;
      chat.send(write(file));
      await chat.until('a person is asked', c => c.messages.length > turns + 1 && waitsFor(c, requestOf));
      t.must(`${said}: the request arrives without an error`, !chat.error, chat.error?.message);
      const request = requestOf(chat.last);
      t.must(`${said}: the page shows the request`, typeof request === 'string', JSON.stringify(chat.last.parts));
      t.check(
        `${said}: a line of text says what is asked to clients that may have no buttons`,
        textOf(chat.last).replace('I will write a file.', '').includes(`${t.id}-${said}.txt`) === (t.profile === 5),
        textOf(chat.last),
      );
      t.check(`${said}: nothing is written before the answer`, !fs.existsSync(file));
      const path = `/api/sessions/${encodeURIComponent(t.id)}/permissions/${encodeURIComponent(request)}`;
      const answer = await t.site.post(path, { approved, ...(approved ? {} : { reason: 'not today' }) });
      t.must(`${said}: the answer is taken`, answer.status >= 200 && answer.status < 300, `${answer.status} ${answer.text}`);
      const again = await t.site.post(path, { approved: !approved });
      t.check(`${said}: a second answer is refused`, again.status === 409 || again.status === 404, `${again.status} ${again.text}`);
      chat = await restOf(t, chat);
      t.well(chat, `${said}: the rest ends without an error`);
      const tool = toolsOf(chat.last).find(p => p.toolName === 'Write');
      t.equal(`${said}: the call is shown with its input`, tool?.input, { file_path: file, content: WRITTEN });
      const rest = textOf({ parts: chat.last.parts.slice(chat.last.parts.indexOf(tool)) });
      if (approved) {
        t.check(
          'allowed: the call has its output',
          tool?.state === 'output-available' && /created/.test(JSON.stringify(tool.output)),
          JSON.stringify(tool),
        );
        t.equal('allowed: the file is written', fs.existsSync(file) && fs.readFileSync(file, 'utf8'), WRITTEN);
        t.check('allowed: text follows', /Done\. The tool said: File created/.test(rest), rest);
      } else {
        t.check('denied: the call is refused', ['output-denied', 'output-error'].includes(tool?.state), JSON.stringify(tool));
        t.check('denied: the file is not written', !fs.existsSync(file));
        t.check('denied: the agent hears the reason', /Done\. The tool said: .*not today/.test(rest), rest);
      }
      const kept = (await t.history()).at(-1);
      t.equal(
        `${said}: history shows the same`,
        kept.parts.map(p => [p.type, p.state]),
        chat.last.parts.map(p => [p.type, p.state]),
      );
    }
    t.equal(
      'two prompts, two answers in history',
      (await t.history()).map(m => m.role),
      ['user', 'assistant', 'user', 'assistant'],
    );
  },
};

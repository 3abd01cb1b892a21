// The clients of three releases against a gateway that is mounted below a prefix, for the
// tests of package mount. It prints a line for each release: what a prompt gives, what goes
// on after an approval, and what a reload resumes.
const base = `${process.argv[2]}/api/chat`;
for (const release of ['5.0.277', '6.0.323', '7.0.173']) {
  const { DefaultChatTransport, readUIMessageStream } = await import(`ai-${release}`);
  const transport = new DefaultChatTransport({ api: base, headers: { user: 'ann' } });
  const chatId = `chat-${release}`;
  const read = async (stream, message) => {
    let last = message;
    for await (const m of readUIMessageStream({ stream, message })) last = m;
    return last;
  };
  const text = m => m.parts.map(p => p.text ?? p.output ?? '').join('');
  const user = t => ({ id: `u-${release}-${t}`, role: 'user', parts: [{ type: 'text', text: t }] });
  const post = (messages, messageId) => transport.sendMessages({ chatId, trigger: 'submit-message', messages, messageId });
  const said = [user('hello')];
  said.push(await read(await post(said)));
  const line = [release, text(said[1])];
  if (release[0] !== '5') {
    said.push(user('pay'));
    const asked = await read(await post(said));
    const part = asked.parts.find(p => p.approval);
    Object.assign(part, { state: 'approval-responded', approval: { ...part.approval, approved: true } });
    line.push(text(await read(await post([...said, asked], asked.id), asked)));
  }
  const resumed = await read(await transport.reconnectToStream({ chatId }));
  line.push(text(resumed));
  console.log(line.join('|'));
}

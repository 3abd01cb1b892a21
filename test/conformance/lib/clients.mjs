// The six real clients: for each supported major its newest pinned release and its first one.
// keepsQuery: a query in the transport's api survives in the URL of the resume request.
// approves: its predicate for approvals counts the calls that the agent runs itself, so that an answer is sent by itself.
export const CLIENTS = [
  { name: '5.0.0', major: 5, react: '2.0.0', keepsQuery: false },
  { name: '5.0.277', major: 5, react: '2.0.280', keepsQuery: true },
  { name: '6.0.0', major: 6, react: '3.0.0', keepsQuery: false, approves: false },
  { name: '6.0.323', major: 6, react: '3.0.326', keepsQuery: true, approves: true },
  { name: '7.0.0', major: 7, react: '4.0.0', keepsQuery: false, approves: true },
  { name: '7.0.173', major: 7, react: '4.0.177', keepsQuery: true, approves: true },
];

const loaded = new Map();

/** The two packages of one client, imported once: {name, major, ai, react}. */
export function load(name) {
  const entry = CLIENTS.find(c => c.name === name);
  if (!entry) throw new Error(`unknown client ${name}: choose one of ${CLIENTS.map(c => c.name).join(', ')}`);
  if (!loaded.has(name)) {
    loaded.set(
      name,
      Promise.all([import(`ai-${name}`), import(`react-${entry.react}`)]).then(([ai, react]) => ({ ...entry, ai, sdk: react })),
    );
  }
  return loaded.get(name);
}

/** Only the `ai` package of one client, for readers that need no React. */
export const loadReader = async name => ({ name, ai: await import(`ai-${name}`) });

/** Names asked for by --client: a full version, or a major for both of its releases. */
export function chosen(wanted) {
  if (!wanted?.length) return CLIENTS.map(c => c.name);
  const names = CLIENTS.filter(c => wanted.some(w => w === c.name || w === String(c.major))).map(c => c.name);
  if (!names.length)
    throw new Error(`no client matches ${wanted.join(', ')}: choose one of ${CLIENTS.map(c => c.name).join(', ')}, or a major`);
  return names;
}

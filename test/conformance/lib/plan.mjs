// Which trials a run holds.

/** Every case × profile × client × way. */
export const full = (cases, clients, ways, profiles) =>
  cases.flatMap(testCase => profiles.flatMap(profile => clients.flatMap(client => ways.map(way => ({ testCase, client, way, profile })))));

/**
 * Every case × client once. Ways and profiles alternate, so that each client meets all four pairs,
 * and each case both ways and both profiles; a pair the case would skip makes room for the next.
 */
export function inTurn(cases, clients, ways, profiles) {
  const pairs = profiles.flatMap(profile => ways.map(way => ({ way, profile })));
  return cases.flatMap(testCase =>
    clients.map((client, i) => {
      const first = testCase.number + i + Math.floor(i / pairs.length);
      const mine = pairs.map((_, n) => pairs[(first + n) % pairs.length]);
      return { testCase, client, ...(mine.find(pair => !testCase.skip?.({ client, ...pair })) ?? mine[0]) };
    }),
  );
}

const key = ({ testCase, client, way, profile }) => `${testCase.name} ${client.name} ${way} ${profile}`;

/** Whether a trial gets the bytes of another one: without a name, a client counts as one of major 6. One case is about the name. */
const repeats = ({ testCase, client, profile }) => client.major === 6 && profile === 'own' && testCase.name !== 'resume-with-query';

/** What inTurn leaves out of all trials that differ. */
export function others(...of) {
  const taken = new Set(inTurn(...of).map(key));
  return full(...of).filter(trial => !taken.has(key(trial)) && !repeats(trial));
}

/**
 * Of the others one for each case × client: where there is one, that with both the other way and the other profile. After inTurn and
 * this, each case has met each client both ways and with both profiles.
 */
export function opposites(...of) {
  const id = ({ testCase, client }) => `${testCase.name} ${client.name}`,
    first = new Map(inTurn(...of).map(trial => [id(trial), trial])),
    best = new Map();
  for (const trial of others(...of)) {
    const { way, profile } = first.get(id(trial)),
      worth = t => 4 * !t.testCase.skip?.(t) + 2 * (t.way !== way) + (t.profile !== profile),
      found = best.get(id(trial));
    if (!found || worth(trial) > worth(found)) best.set(id(trial), trial);
  }
  return [...best.values()];
}

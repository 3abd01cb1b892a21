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

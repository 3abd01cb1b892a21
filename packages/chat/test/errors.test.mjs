// Errors as sentences, and which of them pass by themselves.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isNetworkError, isUnknown, LostConnection, networkError, passes, refusal, TributaryError } from '../dist/errors.js';

const refused = async (body, status = 400, headers = {}) => {
  const { message, code, retryAfter, ...rest } = await refusal(new Response(body, { status, headers }));
  return [message, rest.status, code, retryAfter];
};

test('a refusal has the sentence of the gateway, its code, and the time to wait', async () => {
  assert.deepEqual(await refused('{"error":"Too many requests.","code":"rate_limited"}', 429, { 'retry-after': '7' }), [
    'Too many requests.',
    429,
    'rate_limited',
    7,
  ]);
  assert.deepEqual(await refused('{"error":"No."}'), ['No.', 400, undefined, undefined]);
  assert.deepEqual(await refused('No session.\n', 404, { 'x-tributary-code': 'unknown_session' }), [
    'No session.',
    404,
    'unknown_session',
    undefined,
  ]);
});

test('the page of a proxy, a long text and no text at all become a sentence', async () => {
  for (const body of ['<html>Bad Gateway</html>', 'x'.repeat(400), '', ' \n']) {
    assert.equal((await refused(body, 502))[0], 'The gateway answered 502.');
  }
});

test('a lost connection has the word by which the AI SDK resumes', () => {
  const error = networkError(new Error('cause'), 'The token has expired.');
  assert.match(error.message, /network.* The token has expired\.$/);
  assert.ok(error instanceof TypeError && error.cause.message === 'cause');
});

test('which errors are a lost connection', () => {
  for (const error of [
    networkError(),
    new LostConnection('x'),
    new TypeError('Failed to fetch'),
    new TypeError('Load failed'),
    new TypeError('NetworkError when attempting to fetch resource.'),
  ])
    assert.equal(isNetworkError(error), true, error.message);
  for (const error of [new TypeError('x is not a function'), new Error('network'), new TributaryError('No.', 502), undefined, 'network'])
    assert.equal(isNetworkError(error), false, String(error));
});

test('which errors pass by themselves, and which need a person', () => {
  assert.deepEqual(
    [400, 401, 403, 404, 408, 409, 429, 499, 500, 503].filter(status => passes(new TributaryError('', status))),
    [408, 429, 500, 503],
  );
  assert.equal(passes(networkError()), true);
  assert.equal(passes(new Error('x')), false);
  assert.deepEqual(
    [401, 403].map(status => isUnknown(new TributaryError('', status))),
    [true, false],
  );
  assert.equal(isUnknown(Object.assign(new Error('x'), { status: 401 })), false);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { humanBytes, humanSeconds, signedBytes } from '../src/format';

test('a size has the unit that keeps it short', () => {
  const sizes = [0, 1023, 64 << 20, 1.5 * 2 ** 30, 1023.97 * 1024];
  assert.deepEqual(sizes.map(humanBytes), ['0 B', '1023 B', '64 MiB', '1.5 GiB', '1 MiB']);
});

test('what is unknown is never a zero', () => {
  assert.deepEqual([humanBytes(null), signedBytes(undefined), humanSeconds(null)], ['?', '?', '?']);
});

test('a change has its sign', () => {
  assert.deepEqual([5, -5, 0].map(signedBytes), ['+5 B', '−5 B', '0 B']);
});

test('a time is in seconds, and in minutes from 100 s on', () => {
  assert.deepEqual([0.4212, 12.34, 185].map(humanSeconds), ['0.42 s', '12.3 s', '3 min 5 s']);
});

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { keep, kept } from '../src/past';
import type { IKnown } from '../src/rows';
import { cell, example, found } from './examples';

class Storage {
  getItem = (key: string) => this._items.get(key) ?? null;
  setItem = (key: string, text: string) => void this._items.set(key, text);

  private readonly _items = new Map<string, string>();
}

function known(cells: number): IKnown {
  const runs = Array.from({ length: cells }, (_, at) => cell(at + 1, `cell-${at + 1}`));
  return {
    runs,
    live: null,
    running: 'b',
    findings: [found('00000000-1', 1, 1)],
    postmortems: [],
    returned: new Map([[1, 1]])
  };
}

beforeEach(() => {
  Object.assign(globalThis, { sessionStorage: new Storage() });
});

test('what crashed sessions had told is kept by their kernel', () => {
  const past = [known(2), known(1)];
  keep('one', past);
  assert.deepEqual(
    kept('one'),
    past.map(it => ({ ...it, returned: new Map() }))
  );
  assert.deepEqual(kept('other'), []);
});

test('of a long session the last cells are kept, and of many sessions the last two', () => {
  keep('one', [known(1000), known(1), known(1)]);
  const past = kept('one');
  assert.equal(past.length, 2);
  assert.equal(past[0]?.runs.length, 200);
  assert.equal(past[0].runs[199]?.index, 1000);
});

test('what is stored and is none of ours is left out', () => {
  for (const text of ['', '{}', 'null', '[null, 1, {}]', '[{"runs": [{}], "findings": []}]']) {
    sessionStorage.setItem('xleak:past:one', text);
    assert.deepEqual(kept('one'), []);
  }
});

test('where nothing may be stored nothing fails', () => {
  Reflect.deleteProperty(globalThis, 'sessionStorage');
  keep('one', [known(1)]);
  assert.deepEqual(kept('one'), []);
});

test('how a session ended, and what it ran out of, is kept with it', () => {
  const died = example('last_session');
  const postmortem = example('postmortem');
  assert.ok(died.kind === 'last_session' && postmortem.kind === 'postmortem');
  const past = { ...known(1), died, postmortems: [postmortem] };
  keep('one', [past]);
  assert.deepEqual(kept('one'), [{ ...past, returned: new Map() }]);
  sessionStorage.setItem('xleak:past:one', JSON.stringify([{ ...past, died: { cause: 'x' } }]));
  assert.deepEqual(kept('one'), []);
});

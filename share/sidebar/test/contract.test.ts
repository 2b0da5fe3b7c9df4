import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fromFrontEnd, fromKernel } from '../src/contract/guards';
import { decode } from '../src/protocol';

const EXAMPLES = path.resolve('../comm/examples/v1');
const GUARDS: Record<string, (data: unknown) => boolean> = {
  from_kernel: fromKernel,
  from_front_end: fromFrontEnd
};

for (const [side, guard] of Object.entries(GUARDS)) {
  for (const kind of ['valid', 'invalid']) {
    const folder = path.join(EXAMPLES, side, kind);
    const files = readdirSync(folder);
    assert.notEqual(files.length, 0);
    for (const file of files) {
      test(`${side}/${kind}/${file} is judged as the schema says`, () => {
        const data: unknown = JSON.parse(readFileSync(path.join(folder, file), 'utf8'));
        assert.equal(guard(data), kind === 'valid');
      });
    }
  }
}

test('a panel asks for the journal, and to take back an entry by its number', () => {
  assert.ok(fromFrontEnd({ id: 1, kind: 'journal' }));
  assert.ok(fromFrontEnd({ id: 2, kind: 'undo', number: 3 }));
});

test('a hello of another version is told apart from a broken one', () => {
  const hello = { kind: 'hello', protocol: 2, xleak: '9.0', whatever: [] };
  assert.deepEqual(decode(hello), { kind: 'unsupported', protocol: 2 });
  assert.equal(decode({ kind: 'hello' }), null);
});

test('a kind that is not known is left out', () => {
  assert.equal(decode({ kind: 'weather', sunny: true }), null);
  for (const nothing of [null, undefined, 5, 'hello', [], [{ kind: 'hello' }]]) {
    assert.equal(decode(nothing), null);
  }
});

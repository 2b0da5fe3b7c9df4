import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withEdits } from '../src/edits';

test('edits are made at bytes, whatever the script', () => {
  const source = 'größe = 1\nshow(größe)';
  const end = new TextEncoder().encode(source).length;
  assert.equal(withEdits(source, [{ start: end, stop: end, text: ';' }]), `${source};`);
});

test('several edits are made wherever they stand in the list', () => {
  const edits = [
    { start: 4, stop: 5, text: 'C' },
    { start: 0, stop: 1, text: 'A' }
  ];
  assert.equal(withEdits('a b c', edits), 'A b C');
});

test('an edit that does not fit changes nothing', () => {
  assert.equal(withEdits('abc', [{ start: 2, stop: 9, text: '' }]), null);
  assert.equal(withEdits('ö', [{ start: 1, stop: 2, text: '' }]), null);
  const overlapping = [
    { start: 0, stop: 2, text: '' },
    { start: 1, stop: 3, text: '' }
  ];
  assert.equal(withEdits('abc', overlapping), null);
});

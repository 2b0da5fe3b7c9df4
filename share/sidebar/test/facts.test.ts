import assert from 'node:assert/strict';
import { test } from 'node:test';
import { factsOf } from '../src/facts';
import type { Cell, Finding } from '../src/protocol';

const HOST = {
  resident_before_bytes: 100,
  resident_after_bytes: 164,
  resident_peak_bytes: 200
};
const CELL = {
  index: 3,
  cell_id: 'a',
  execution_count: 3,
  status: 'ok',
  seconds: 0.1,
  host: HOST,
  devices: [
    {
      device: 'cuda:0',
      allocated_kept_bytes: 7,
      allocated_peak_bytes: 9,
      reserved_bytes: 20
    }
  ]
} as unknown as Cell;

function found(code: string, cell: number, cause: number | null = null): Finding {
  return { code, cell, cause_cell: cause } as unknown as Finding;
}

test('the facts of a run are those that xleak run writes', () => {
  assert.deepEqual(factsOf(CELL, []), {
    kept_bytes: 64,
    peak_bytes: 200,
    devices: [{ device: 'cuda:0', kept_bytes: 7, peak_bytes: 9 }],
    findings: []
  });
});

test('what is unknown is null', () => {
  const cell = { ...CELL, host: { ...CELL.host, resident_before_bytes: null } };
  assert.equal(factsOf(cell, [])?.kept_bytes, null);
});

test('a finding counts at its cause, or where that is not known at its cell, and each rule once', () => {
  const findings = [found('XL401', 5, 3), found('XL401', 3), found('XL402', 3, 2)];
  assert.deepEqual(factsOf(CELL, findings)?.findings, ['XL401']);
});

test('a run that did not end by itself has no facts', () => {
  assert.equal(factsOf({ ...CELL, status: 'aborted' }, []), null);
});

test("a cell of xleak's own has no facts", () => {
  assert.equal(factsOf({ ...CELL, own: true }, []), null);
});

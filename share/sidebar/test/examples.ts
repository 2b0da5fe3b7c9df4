import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Cell, Finding, FromKernel } from '../src/protocol';
import { decode } from '../src/protocol';

export function example(name: string): FromKernel {
  const file = path.resolve('../comm/examples/v1/from_kernel/valid', `${name}.json`);
  const message = decode(JSON.parse(readFileSync(file, 'utf8')));
  assert.ok(message && message.kind !== 'unsupported');
  return message;
}

export function cell(index: number, id: string | null, kept = 0): Cell {
  const message = example('cell');
  assert.ok(message.kind === 'cell');
  const host = { ...message.cell.host, resident_before_bytes: 0, resident_after_bytes: kept };
  return { ...message.cell, index, cell_id: id, host };
}

export function found(id: string, bytes: number | null, cellIndex: number): Finding {
  const message = example('session');
  assert.ok(message.kind === 'session' && message.findings[0]);
  return { ...message.findings[0], id, bytes, cell: cellIndex, cause_cell: null };
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SessionModel, total } from '../src/model';
import type { Finding, FromKernel } from '../src/protocol';
import type { ICellRow } from '../src/rows';
import { barBytes, climbBytes, keptBytes, ownBytes, shownBytes } from '../src/rows';
import { cell, example, found } from './examples';

const MIB = 1 << 20;

function changed(added: Finding[], resolved: string[] = []): FromKernel {
  return { kind: 'findings', request: null, added, changed: [], resolved, dismissed: [] };
}

test('rows follow the notebook, and cells that it no longer has come last', () => {
  const model = new SessionModel();
  model.take({ kind: 'cell', cell: cell(1, 'c') });
  model.take({ kind: 'cell', cell: cell(2, 'gone') });
  model.take({ kind: 'cell', cell: cell(3, 'a') });
  model.take({ kind: 'cell', cell: cell(4, null) });
  assert.deepEqual(
    model.rows(['a', 'b', 'c']).map(row => row.cellId),
    ['a', 'c', null, null]
  );
});

test('a cell that ran again replaces its own bar, and the earlier run is history', () => {
  const model = new SessionModel();
  model.take({ kind: 'cell', cell: cell(1, 'a', MIB) });
  model.take({ kind: 'cell', cell: cell(2, 'a', 2 * MIB) });
  const [row, ...more] = model.rows(['a']);
  assert.equal(more.length, 0);
  assert.ok(row?.latest);
  assert.equal(keptBytes(row.latest), 2 * MIB);
  assert.deepEqual(
    row.earlier.map(run => run.index),
    [1]
  );
});

test('what a cell kept is what the allocators say, and without them what the process grew by', () => {
  const counted = cell(1, 'a', 2 * MIB);
  counted.host = { ...counted.host, kept_bytes: MIB };
  assert.equal(keptBytes(counted), MIB);
  assert.equal(keptBytes({ ...counted, host: { ...counted.host, kept_bytes: null } }), 2 * MIB);
});

test('a bar shows what the process gave back where the cell kept next to nothing', () => {
  const freed = cell(1, 'a');
  const host = { ...freed.host, resident_before_bytes: 80 * MIB, resident_after_bytes: 0 };
  assert.equal(barBytes({ ...freed, host: { ...host, kept_bytes: 512 } }), -80 * MIB);
  assert.equal(barBytes({ ...freed, host: { ...host, kept_bytes: 2 * MIB } }), 2 * MIB);
});

test('what is unknown stays unknown', () => {
  const unknown = cell(1, 'a');
  unknown.host = { ...unknown.host, resident_after_bytes: null, resident_peak_bytes: null };
  assert.equal(keptBytes(unknown), null);
  assert.equal(climbBytes(unknown), null);
});

test('findings come most bytes first, and those of unknown size last', () => {
  const model = new SessionModel();
  const news = [found('0-1', null, 1), found('0-2', MIB, 1), found('0-3', 2 * MIB, 1)];
  model.take(changed(news));
  assert.deepEqual(
    model.findings.map(it => it.id),
    ['0-3', '0-2', '0-1']
  );
});

test('a resolved finding goes, and what came back shows at the cell that kept it', () => {
  const model = new SessionModel();
  const finding = found('0-1', MIB, 1);
  model.take({ kind: 'cell', cell: cell(1, 'a', MIB) });
  model.take(changed([finding]));
  assert.equal(model.rows(['a'])[0]?.findings.length, 1);
  model.returned(finding, total({ malloc: 1000, 'cuda:0': 24 }));
  model.take(changed([], ['0-1']));
  assert.equal(model.findings.length, 0);
  assert.equal(model.rows(['a'])[0]?.returnedBytes, 1024);
});

test('the answer to findings replaces all that was known', () => {
  const model = new SessionModel();
  model.take(changed([found('0-1', MIB, 1)]));
  model.take({ ...changed([found('0-2', MIB, 1)]), request: 5 } as FromKernel);
  assert.deepEqual(
    model.findings.map(it => it.id),
    ['0-2']
  );
});

test('a running cell has a row of its own until it has ended', () => {
  const model = new SessionModel();
  const live = example('live');
  assert.ok(live.kind === 'live');
  model.take({ ...live, index: 1, cell_id: 'a' });
  assert.ok(model.rows(['a'])[0]?.live);
  model.take({ kind: 'cell', cell: cell(1, 'a') });
  assert.equal(model.rows(['a'])[0]?.live, null);
});

test('a cell that the kernel was asked to run has a row at once, of unknown size', () => {
  const model = new SessionModel();
  model.take({ kind: 'cell', cell: cell(1, 'a', MIB) });
  model.setRunning('a');
  const [row] = model.rows(['a']);
  assert.ok(row?.running && row.latest);
  assert.equal(shownBytes(row), null);
  model.setRunning('b');
  assert.deepEqual(
    model.rows(['a', 'b']).map(it => [it.cellId, it.running, shownBytes(it)]),
    [
      ['a', false, MIB],
      ['b', true, null]
    ]
  );
  model.setRunning(null);
  assert.equal(model.rows(['a', 'b']).length, 1);
});

test('a running cell of which something was told is shown with that', () => {
  const model = new SessionModel();
  const live = example('live');
  assert.ok(live.kind === 'live');
  model.setRunning('a');
  model.take({ ...live, cell_id: 'a', resident_before_bytes: 0, resident_bytes: MIB });
  const rows = model.rows(['a']);
  assert.deepEqual(rows.map(shownBytes), [MIB]);
});

test('a kernel that does not watch its cells shows none that runs', () => {
  const model = new SessionModel();
  model.take({ kind: 'policy', policy: 'off' });
  model.setRunning('a');
  assert.equal(model.rows(['a']).length, 0);
});

test('by the policy ask the largest of what was just found is asked about, once', () => {
  const model = new SessionModel();
  const asked = () => model.question?.id ?? null;
  model.take(changed([found('0-1', MIB, 1), found('0-2', 2 * MIB, 1)]));
  assert.equal(asked(), null);
  model.take({ kind: 'policy', policy: 'ask' });
  assert.equal(asked(), '0-2');
  model.answered();
  assert.equal(asked(), null);
  model.take(changed([found('0-3', MIB, 1)]));
  assert.equal(asked(), '0-3');
  model.take(changed([], ['0-3']));
  assert.equal(asked(), null);
});

test('what a rule has for itself wins over the policy of the session', () => {
  const model = new SessionModel();
  const asked = () => model.question?.code ?? null;
  const large = { ...found('0-1', 2 * MIB, 1), code: 'XL401' };
  const small = { ...found('0-2', MIB, 1), code: 'XL106' };
  model.take({ kind: 'rule_policies', policies: { XL106: 'ask' } });
  model.take(changed([large, small]));
  assert.equal(asked(), 'XL106');
  model.take({ kind: 'rule_policies', policies: { XL106: 'report' } });
  model.take({ kind: 'policy', policy: 'ask' });
  assert.equal(asked(), null);
  model.take(changed([large]));
  assert.equal(asked(), 'XL401');
});

test('a search is over with its answer', () => {
  const model = new SessionModel();
  model.take({ kind: 'progress', request: 7, share: 0.5 });
  assert.equal(model.progress?.share, 0.5);
  model.take({ kind: 'done', request: 7, freed: {}, lines: [] });
  assert.equal(model.progress, null);
});

test('a restart leaves nothing of the session', () => {
  const model = new SessionModel();
  model.take(example('session'));
  model.forget();
  assert.deepEqual([model.runs.length, model.findings.length, model.policy], [0, 0, null]);
});

test('what a crashed session had kept stays apart, whatever its successor tells', () => {
  const model = new SessionModel();
  model.take({ kind: 'cell', cell: cell(1, 'a', MIB) });
  model.forget();
  model.crashed();
  model.take({ kind: 'cell', cell: cell(1, 'b', 2 * MIB) });
  const ids = (rows: ICellRow[]) => rows.map(row => row.cellId);
  assert.deepEqual(ids(model.rows(['a', 'b'])), ['b']);
  assert.deepEqual(model.pastRows(['a', 'b']).map(ids), [['a']]);
});

test('of a session that crashed in its first cell that cell stays, as the one that ran', () => {
  const model = new SessionModel();
  model.setRunning('a');
  model.forget();
  model.crashed();
  assert.deepEqual(model.rows(['a']), []);
  assert.deepEqual(
    model.pastRows(['a']).map(rows => rows.map(row => [row.cellId, row.running])),
    [[['a', true]]]
  );
});

test('what a dead kernel did last stays, and is no longer live in any other state', () => {
  const model = new SessionModel();
  model.take(example('live'));
  model.enter({ is: 'dead' });
  assert.ok(model.live);
  model.enter({ is: 'disconnected' });
  assert.equal(model.live, null);
});

test('the session that crashed last comes first, and one without cells leaves nothing', () => {
  const model = new SessionModel();
  for (const id of ['a', null, 'b']) {
    if (id !== null) {
      model.take({ kind: 'cell', cell: cell(1, id) });
    }
    model.forget();
    model.crashed();
  }
  assert.deepEqual(
    model.pastRows(['a', 'b']).map(rows => rows[0]?.cellId),
    ['b', 'a']
  );
});

test('a page of tensors is kept until the session is another one', () => {
  const model = new SessionModel();
  model.take(example('census'));
  assert.equal(model.census?.storages.length, 2);
  model.forget();
  assert.equal(model.census, null);
});

function guard(level: 'normal' | 'warning' | 'critical', device: string): FromKernel {
  const message = example('guard');
  assert.ok(message.kind === 'guard');
  return { ...message, level, device };
}

test('a device warns until it is out of danger, and the critical ones come first', () => {
  const model = new SessionModel();
  const warned = () => model.guards.map(it => [it.device, it.level]);
  model.take(guard('warning', 'host'));
  model.take(guard('critical', 'cuda:0'));
  assert.deepEqual(warned(), [
    ['cuda:0', 'critical'],
    ['host', 'warning']
  ]);
  model.take(guard('warning', 'cuda:0'));
  model.take(guard('normal', 'host'));
  assert.deepEqual(warned(), [['cuda:0', 'warning']]);
});

test('nobody is warned by a level that nothing is told of any more', () => {
  const model = new SessionModel();
  model.take(guard('critical', 'host'));
  model.muted();
  assert.deepEqual(model.guards, []);
  model.take(guard('critical', 'host'));
  model.enter({ is: 'dead' });
  assert.deepEqual(model.guards, []);
});

test('a post-mortem is of the run that failed, and goes when the cell runs again', () => {
  const model = new SessionModel();
  const postmortem = example('postmortem');
  assert.ok(postmortem.kind === 'postmortem');
  model.take({ ...postmortem, cell: 1 });
  model.take({ kind: 'cell', cell: cell(1, 'a') });
  assert.equal(model.rows(['a'])[0]?.postmortem?.cell, 1);
  model.take({ kind: 'cell', cell: cell(2, 'a') });
  assert.equal(model.rows(['a'])[0]?.postmortem, null);
});

test('the journal grows by what is told, and an entry that changed replaces itself', () => {
  const model = new SessionModel();
  const [journal, news] = [example('journal'), example('journal_that_grows')];
  assert.ok(journal.kind === 'journal' && news.kind === 'journal' && news.entries[0]);
  model.take({ ...news, entries: [{ ...news.entries[0], number: 9 }] });
  model.take({ ...news, entries: [{ ...news.entries[0], number: 10 }] });
  model.take({ ...news, entries: [{ ...news.entries[0], number: 9, undo: false }] });
  assert.deepEqual(
    model.journal.map(it => [it.number, it.undo]),
    [
      [10, true],
      [9, false]
    ]
  );
  model.take(journal);
  assert.deepEqual(
    model.journal.map(it => it.number),
    [3, 2]
  );
  model.forget();
  assert.deepEqual(model.journal, []);
});

test('how a session ended stands with its bars, once', () => {
  const model = new SessionModel();
  const died = example('last_session');
  model.take({ kind: 'cell', cell: cell(1, 'a') });
  model.forget();
  model.crashed();
  model.take(died);
  model.take(died);
  assert.deepEqual(
    model.past.map(it => [it.runs.length, it.died?.cause]),
    [[1, 'out_of_memory']]
  );
});

test('the end of a session that this panel never saw is told without bars', () => {
  const model = new SessionModel();
  const [died, earlier] = [example('last_session'), example('last_session_that_was_idle')];
  model.take(earlier);
  model.take(died);
  assert.deepEqual(
    model.past.map(it => [it.runs.length, it.died?.cause]),
    [
      [0, 'out_of_memory'],
      [0, 'signal']
    ]
  );
});

test('the size of the process is the last one reported: after, during or between cells', () => {
  const model = new SessionModel();
  const live = example('live');
  assert.ok(live.kind === 'live');
  assert.equal(model.residentBytes, null);
  model.take({ kind: 'cell', cell: cell(1, 'a', 3 * MIB) });
  assert.equal(model.residentBytes, 3 * MIB);
  model.take({ kind: 'process', resident_bytes: MIB });
  assert.equal(model.residentBytes, MIB);
  model.take({ ...live, resident_bytes: 5 * MIB });
  assert.equal(model.residentBytes, 5 * MIB);
  model.take({ kind: 'cell', cell: cell(2, 'b', 2 * MIB) });
  assert.equal(model.residentBytes, 2 * MIB);
  model.forget();
  assert.equal(model.residentBytes, null);
});

test("a cell of xleak's own has a row that says so, unless something is wrong with it", () => {
  const model = new SessionModel();
  model.take({ kind: 'cell', cell: cell(1, 'a', MIB) });
  model.take({ kind: 'cell', cell: { ...cell(2, 'b', MIB), own: true } });
  const own = () => model.rows(['a', 'b']).map(row => row.own);
  assert.deepEqual(own(), [false, true]);
  model.setRunning('b');
  assert.deepEqual(own(), [false, false]);
  model.setRunning(null);
  model.take(changed([found('0-1', MIB, 2)]));
  assert.deepEqual(own(), [false, false]);
});

test("what xleak's own cells grew by is known, and what they gave back is not taken off", () => {
  const ownCell = (index: number, kept: number) => ({ ...cell(index, null, kept), own: true });
  assert.equal(ownBytes([cell(1, null, 7), ownCell(2, 5), ownCell(3, -4)]), 5);
});

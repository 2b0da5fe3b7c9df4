import type { LastSession, Live, Postmortem } from './contract/messages';
import type { Cell, Finding } from './protocol';

/** What a session has told of its cells. */
export interface IKnown {
  /** In the order of their execution. */
  readonly runs: readonly Cell[];
  readonly live: Live | null;
  /** The cell that the kernel was asked to run, until it has ended. */
  readonly running: string | null;
  readonly findings: readonly Finding[];
  /** Of the cells that failed for want of memory. */
  readonly postmortems: readonly Postmortem[];
  /** How it ended, as its successor tells. */
  readonly died?: LastSession;
  /** What came back of what a run kept, by the run's index. */
  readonly returned: ReadonlyMap<number, number>;
}

/** One cell of the notebook: its last run as the bar, the earlier ones as history. */
export interface ICellRow {
  readonly key: string;
  readonly cellId: string | null;
  readonly latest: Cell | null;
  readonly earlier: readonly Cell[];
  readonly running: boolean;
  /** What a running cell does; null until that was told. */
  readonly live: Live | null;
  readonly findings: readonly Finding[];
  /** Of the last run, if it failed for want of memory. */
  readonly postmortem: Postmortem | null;
  /** Nothing but magics of xleak's, without a finding or an error: shown on request. */
  readonly own: boolean;
  /** What was given back of what the last run kept. */
  readonly returnedBytes: number;
}

/** The cells in the order of the notebook, then those that it no longer has. */
export function rowsOf(known: IKnown, order: readonly string[]): ICellRow[] {
  const groups = new Map<string, Cell[]>();
  for (const cell of known.runs) {
    const key = keyOf(cell);
    groups.set(key, [...(groups.get(key) ?? []), cell]);
  }
  for (const key of runningKeys(known)) {
    groups.set(key, groups.get(key) ?? []);
  }
  const place = new Map(order.map((id, index) => [`id ${id}`, index]));
  const placeOf = (key: string) => place.get(key) ?? order.length;
  return [...groups]
    .sort(([a], [b]) => placeOf(a) - placeOf(b))
    .map(([key, runs]) => rowOf(known, key, runs, place.has(key)));
}

/** Less is hardly seen beside other bars. */
const LEAST_BYTES = 1 << 20;

/** What a cell kept by the allocators' counters; where they do not say, the growth of the process. */
export function keptBytes(cell: Cell): number | null {
  return cell.host.kept_bytes ?? grownBytes(cell);
}

/** What a bar shows: what the cell kept; where that is next to nothing, what the process gave back. */
export function barBytes(cell: Cell): number | null {
  const [kept, grown] = [keptBytes(cell), grownBytes(cell)];
  return kept !== null && kept < LEAST_BYTES && grown !== null && grown <= -LEAST_BYTES
    ? grown
    : kept;
}

/** Growth of the process over a cell. */
export function grownBytes(cell: Cell): number | null {
  const { resident_before_bytes: before, resident_after_bytes: after } = cell.host;
  return before === null || after === null ? null : after - before;
}

/** What xleak's own cells grew by; what they gave back was the user's. */
export function ownBytes(runs: readonly Cell[]): number {
  return runs
    .filter(cell => cell.own)
    .reduce((sum, cell) => sum + Math.max(0, grownBytes(cell) ?? 0), 0);
}

/** The peak above where the cell began. */
export function climbBytes(cell: Cell): number | null {
  const { resident_before_bytes: before, resident_peak_bytes: peak } = cell.host;
  return before === null || peak === null ? null : peak - before;
}

/** What its bar shows: of a running cell its growth so far, null where nothing was told of it. */
export function shownBytes({ running, live, latest }: ICellRow): number | null {
  if (live) {
    return live.resident_bytes - live.resident_before_bytes;
  }
  return running ? null : latest && barBytes(latest);
}

/** The run that a finding is to be repaired at. */
export function guiltyRun(finding: Finding): number {
  return finding.cause_cell ?? finding.cell;
}

function rowOf(known: IKnown, key: string, runs: readonly Cell[], inNotebook: boolean): ICellRow {
  const latest = runs[runs.length - 1] ?? null;
  const indices = new Set(runs.map(run => run.index));
  const running = runningKeys(known).includes(key);
  const findings = known.findings.filter(it => indices.has(guiltyRun(it)));
  const postmortem = known.postmortems.find(it => it.cell === latest?.index) ?? null;
  return {
    key,
    cellId: inNotebook ? key.slice(3) : null,
    latest,
    earlier: runs.slice(0, -1),
    running,
    live: known.live && keyOf(known.live) === key ? known.live : null,
    findings,
    postmortem,
    own: latest?.own === true && !running && findings.length === 0 && !postmortem,
    returnedBytes: latest ? (known.returned.get(latest.index) ?? 0) : 0
  };
}

/** Of the cell that another front end runs only what the kernel tells is known. */
function runningKeys({ live, running }: IKnown): string[] {
  return [...(live ? [keyOf(live)] : []), ...(running === null ? [] : [`id ${running}`])];
}

function keyOf(cell: { cell_id: string | null; index: number }): string {
  return cell.cell_id === null ? `index ${cell.index}` : `id ${cell.cell_id}`;
}

import { fromKernel } from './contract/guards';
import type { IKnown } from './rows';

/** So many crashed sessions of a kernel, and of each so many cells and findings: about 0.5 MB. */
const SESSIONS = 2;
const ENTRIES = 200;

/** Keeps what crashed sessions of a kernel had told for as long as the tab lives, over reloads. */
export function keep(kernelId: string, past: readonly IKnown[]): void {
  const last = past.slice(0, SESSIONS).map(known => ({
    ...known,
    runs: known.runs.slice(-ENTRIES),
    findings: known.findings.slice(0, ENTRIES),
    postmortems: known.postmortems.slice(0, ENTRIES)
  }));
  try {
    sessionStorage.setItem(keyOf(kernelId), JSON.stringify(last));
  } catch {
    // There is no room for it, or nothing may be stored: a reload loses it.
  }
}

/** What is kept so of a kernel. */
export function kept(kernelId: string): IKnown[] {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(keyOf(kernelId)) ?? '[]');
    const past = Array.isArray(stored) ? stored.filter(isKnown) : [];
    return past.map(known => ({ ...known, returned: new Map<number, number>() }));
  } catch {
    return [];
  }
}

function isKnown(value: unknown): value is IKnown {
  const { runs, live, running, findings, postmortems, died } = Object(value) as Partial<IKnown>;
  const session = { kind: 'session', request: 1, cells: runs, earlier_cells: 0, findings };
  return (
    fromKernel({ ...session, policy: 'report' }) &&
    Array.isArray(postmortems) &&
    postmortems.every(fromKernel) &&
    (died === undefined || fromKernel(died)) &&
    (live === null || fromKernel(live)) &&
    (running === null || typeof running === 'string')
  );
}

function keyOf(kernelId: string): string {
  return `xleak:past:${kernelId}`;
}

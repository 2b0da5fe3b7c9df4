import type { FromFrontEnd, FromKernel, VerdictFix } from './contract/messages';
import { fromKernel } from './contract/guards';

export type {
  Done,
  Finding,
  FromKernel,
  Session,
  VerdictCell as Cell,
  VerdictDevice as CellDevice,
  VerdictSeverity as Severity
} from './contract/messages';

/** Comm target and the one version of the protocol that this panel understands. */
export const COMM_TARGET = 'xleak';
export const PROTOCOL_VERSION = 1;

type Request<T> = T extends { id: number } ? Omit<T, 'id'> : never;
/** What the panel may ask; the id is given where it is sent. */
export type PanelRequest = Request<FromFrontEnd>;

/** A fix that the kernel runs. */
export type RunFix = VerdictFix & { kind: 'run'; code: string };

/** Replaces the bytes from start to stop of a cell's UTF-8 source. */
export interface IEdit {
  readonly start: number;
  readonly stop: number;
  readonly text: string;
}

/** A repair of a cell's source; `cell` counts executed cells. */
export type EditFix = VerdictFix & { kind: 'edit'; cell: number; edits: readonly IEdit[] };

export type Decoded = FromKernel | { kind: 'unsupported'; protocol: unknown };

/** Turns whatever arrived on the comm into a message; null where it is none that this panel knows. */
export function decode(data: unknown): Decoded | null {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) {
    return null;
  }
  if ('kind' in data && data.kind === 'hello' && 'protocol' in data) {
    if (data.protocol !== PROTOCOL_VERSION) {
      return { kind: 'unsupported', protocol: data.protocol };
    }
  }
  return fromKernel(data) ? data : null;
}

export function isRunFix(fix: VerdictFix): fix is RunFix {
  return fix.kind === 'run';
}

/** Whether a fix is an edit with something to insert. */
export function isEditFix(fix: VerdictFix): fix is EditFix {
  const edits: unknown = 'edits' in fix ? fix.edits : null;
  return fix.kind === 'edit' && Array.isArray(edits) && edits.length > 0 && edits.every(isEdit);
}

function isEdit(value: unknown): value is IEdit {
  const edit = value as Partial<IEdit> | null;
  return (
    typeof edit?.start === 'number' &&
    typeof edit.stop === 'number' &&
    typeof edit.text === 'string' &&
    0 <= edit.start &&
    edit.start <= edit.stop
  );
}

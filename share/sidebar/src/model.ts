import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';
import type {
  Census,
  Devices,
  Guard,
  Journal,
  LastSession,
  Live,
  Names,
  Policy,
  Postmortem,
  Progress,
  Released
} from './contract/messages';
import type { Cell, Finding, FromKernel } from './protocol';
import { isRunFix } from './protocol';
import type { ICellRow, IKnown } from './rows';
import { guiltyRun, rowsOf } from './rows';

/** Where a panel stands with the kernel of its notebook. */
export type Phase =
  | {
      is:
        | 'connecting'
        | 'ready'
        | 'restarting'
        | 'dead'
        | 'disconnected'
        | 'no_kernel'
        /** There should be a kernel, and it could not be started. */
        | 'failed';
    }
  | { is: 'foreign'; language: string | null; problem: string | null }
  | { is: 'unsupported'; protocol: string };

/** Something that was done, to be told once. */
export interface INotice {
  readonly text: string;
  readonly details: readonly string[];
  readonly failed: boolean;
}

/** Something that was released. */
export type Entry = Journal['entries'][number];

/** How much came back, by all allocators together. */
export function total(freed: Readonly<Record<string, number>>): number {
  return Object.values(freed).reduce((sum, size) => sum + size, 0);
}

/** What is known of one kernel session. It knows no kernel and no comm, so a test can fill it by hand. */
export class SessionModel {
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get phase(): Phase {
    return this._phase;
  }

  get busy(): boolean {
    return this._busy;
  }

  /** All runs of cells that are known, in the order of their execution. */
  get runs(): readonly Cell[] {
    return this._runs;
  }

  /** How many runs came before the first that is known. */
  get earlierCells(): number {
    return this._earlierCells;
  }

  /** What the process takes, as last reported; null: unknown. */
  get residentBytes(): number | null {
    return this._live?.resident_bytes ?? this._residentBytes;
  }

  get live(): Live | null {
    return this._live;
  }

  /** Most bytes first; those of unknown size come last. */
  get findings(): readonly Finding[] {
    return this._findings;
  }

  /** How many findings there are; while the panel is closed, as last reported. */
  get count(): number {
    return this._told ? this._findings.length : this._count;
  }

  /** Whether cells and findings are told, so that no finding means that there is none. */
  get told(): boolean {
    return this._told;
  }

  /** How many findings are hidden because they were dismissed. */
  get dismissed(): number {
    return this._dismissed;
  }

  get names(): Names | null {
    return this._names;
  }

  /** The page of live tensors that was asked for last. */
  get census(): Census | null {
    return this._census;
  }

  get devices(): Devices | null {
    return this._devices;
  }

  get policy(): Policy | null {
    return this._policy;
  }

  get progress(): Progress | null {
    return this._progress;
  }

  /** What the kernel gave back by itself, until something else was done. */
  get released(): Released | null {
    return this._released;
  }

  /** Of the devices that are near to their limit, the critical ones first. */
  get guards(): readonly Guard[] {
    return this._guards;
  }

  /** What was released, the latest first. */
  get journal(): readonly Entry[] {
    return this._journal;
  }

  get notice(): INotice | null {
    return this._notice;
  }

  /** By the policy ask: the finding that it is to be asked about whether to release it. */
  get question(): Finding | null {
    const found = this._findings.find(it => it.id === this._question);
    return found && this._asks(found) ? found : null;
  }

  /** Whether the kernel takes requests of a kind. */
  takes(kind: string): boolean {
    return this._capabilities.has(kind);
  }

  enter(phase: Phase): void {
    this._phase = phase;
    if (phase.is !== 'ready') {
      this._capabilities = new Set();
      // What was told last of the cell that a dead kernel ran is all that will be known.
      this._live = phase.is === 'dead' ? this._live : null;
      this._progress = null;
      this._guards = [];
      this._told = false;
      this._count = 0;
    }
    this._changed.emit();
  }

  /** The kernel is another one, or a new one of the same name. */
  forget(): void {
    this._forgotten = this.rows([]).length > 0 ? this._known : null;
    this._runs = [];
    this._earlierCells = 0;
    this._residentBytes = null;
    this._live = null;
    this._running = null;
    this._findings = [];
    this._postmortems = [];
    this._guards = [];
    this._journal = [];
    this._returned = new Map();
    this._names = null;
    this._dismissed = 0;
    this._census = null;
    this._devices = null;
    this._policy = null;
    this._rulePolicies = {};
    this._progress = null;
    this._notice = null;
    this._released = null;
    this._question = null;
    this._told = false;
    this._count = 0;
    this._changed.emit();
  }

  /** What was forgotten last had ended by a crash, so it stays to be looked at. */
  crashed(): void {
    if (this._forgotten) {
      this._past = [this._forgotten, ...this._past];
      this._forgotten = null;
      this._changed.emit();
    }
  }

  /** The kernel was asked to run a cell, which has not ended; null: none. */
  setRunning(cellId: string | null): void {
    if (cellId !== this._running) {
      this._running = cellId;
      this._changed.emit();
    }
  }

  /** The sessions that a crash ended, the latest first. */
  get past(): readonly IKnown[] {
    return this._past;
  }

  /** Those are known from before. */
  recall(past: readonly IKnown[]): void {
    this._past = past;
    this._changed.emit();
  }

  setBusy(busy: boolean): void {
    if (busy !== this._busy) {
      this._busy = busy;
      this._changed.emit();
    }
  }

  /** The question was answered, however. */
  answered(): void {
    this._question = null;
    this._changed.emit();
  }

  tell(notice: INotice | null): void {
    this._notice = notice;
    this._released = null;
    this._changed.emit();
  }

  /** What came back of a finding's bytes, for the bar of the cell that kept them. */
  returned(finding: Finding, bytes: number): void {
    const index = guiltyRun(finding);
    this._returned = new Map(this._returned).set(index, (this._returned.get(index) ?? 0) + bytes);
    this._changed.emit();
  }

  take(message: FromKernel): void {
    this._apply(message);
    this._changed.emit();
  }

  /** What is known is kept, but nothing more will be told. */
  muted(): void {
    this._told = false;
    this._count = 0;
    this._live = null;
    this._guards = [];
    this._changed.emit();
  }

  run(index: number): Cell | null {
    return this._runs.find(cell => cell.index === index) ?? null;
  }

  /** The cells in the order of the notebook, then those that it no longer has. */
  rows(order: readonly string[]): ICellRow[] {
    return rowsOf(this._known, order);
  }

  /** The same for each session that a crash ended, the latest first. */
  pastRows(order: readonly string[]): ICellRow[][] {
    return this._past.map(known => rowsOf(known, order));
  }

  private get _known(): IKnown {
    return {
      runs: this._runs,
      live: this._live,
      // The kernel tells nothing of cells that it does not watch, crashed or not.
      running: this._policy === 'off' ? null : this._running,
      findings: this._findings,
      postmortems: this._postmortems,
      returned: this._returned
    };
  }

  private _apply(message: FromKernel): void {
    const { _progress: search } = this;
    // It is over with the answer, or when a cell has interrupted it.
    if (
      search &&
      (('request' in message && message.request === search.request) || message.kind === 'cell')
    ) {
      this._progress = null;
    }
    switch (message.kind) {
      case 'hello':
        this._capabilities = new Set(message.capabilities);
        this._phase = { is: 'ready' };
        break;
      case 'session':
        this._runs = message.cells;
        this._earlierCells = message.earlier_cells;
        this._findings = sorted(message.findings);
        this._dismissed = message.dismissed_now ?? 0;
        this._policy = message.policy;
        this._rulePolicies = {};
        this._residentBytes = message.cells.at(-1)?.host.resident_after_bytes ?? null;
        this._live = null;
        this._told = true;
        break;
      case 'cell':
        this._runs = [...this._runs, message.cell];
        this._residentBytes = message.cell.host.resident_after_bytes;
        this._live = null;
        break;
      case 'process':
        this._residentBytes = message.resident_bytes;
        break;
      case 'findings': {
        const gone = new Set([...message.resolved, ...message.dismissed]);
        const news = new Map([...message.added, ...message.changed].map(it => [it.id, it]));
        const old = message.request === null ? this._findings : [];
        const stay = old.filter(it => !gone.has(it.id) && !news.has(it.id));
        this._findings = sorted([...stay, ...news.values()]);
        this._dismissed = message.dismissed_now ?? 0;
        if (message.request === null) {
          const release = sorted(message.added).filter(it => it.fixes.some(isRunFix));
          const asked = release.find(it => this._asks(it)) ?? release[0];
          this._question = asked?.id ?? this._question;
        }
        break;
      }
      case 'findings_count':
        this._count = message.count;
        break;
      case 'live':
        this._live = message;
        break;
      case 'progress':
        this._progress = message.share === 1 ? null : message;
        break;
      case 'names':
        this._names = message;
        break;
      case 'census':
        this._census = message;
        break;
      case 'devices':
        this._devices = message;
        break;
      case 'released':
        this._released = message;
        this._notice = null;
        break;
      case 'guard': {
        const others = this._guards.filter(it => it.device !== message.device);
        const all = message.level === 'normal' ? others : [...others, message];
        this._guards = all.sort((a, b) => a.level.localeCompare(b.level));
        break;
      }
      case 'postmortem':
        this._postmortems = [message, ...this._postmortems.filter(it => it.cell !== message.cell)];
        break;
      case 'journal': {
        const numbers = new Set(message.entries.map(it => it.number));
        const old = message.request === null ? this._journal : [];
        this._journal = [...old.filter(it => !numbers.has(it.number)), ...message.entries].sort(
          (a, b) => b.number - a.number
        );
        break;
      }
      case 'last_session':
        this._past = withEnd(this._past, message);
        break;
      case 'policy':
        this._policy = message.policy;
        break;
      case 'rule_policies':
        this._rulePolicies = message.policies;
        break;
      default:
        break;
    }
  }

  /** The policy of a rule wins over the session's. */
  private _asks(finding: Finding): boolean {
    return (this._rulePolicies[finding.code] ?? this._policy) === 'ask';
  }

  private readonly _changed = new Signal<this, void>(this);
  private _phase: Phase = { is: 'connecting' };
  private _busy = false;
  private _capabilities: ReadonlySet<string> = new Set();
  private _runs: readonly Cell[] = [];
  private _earlierCells = 0;
  private _residentBytes: number | null = null;
  private _live: Live | null = null;
  private _running: string | null = null;
  private _findings: readonly Finding[] = [];
  private _returned: ReadonlyMap<number, number> = new Map();
  private _forgotten: IKnown | null = null;
  private _past: readonly IKnown[] = [];
  private _told = false;
  private _count = 0;
  private _names: Names | null = null;
  private _dismissed = 0;
  private _census: Census | null = null;
  private _devices: Devices | null = null;
  private _policy: Policy | null = null;
  private _rulePolicies: Readonly<Record<string, Policy>> = {};
  private _progress: Progress | null = null;
  private _notice: INotice | null = null;
  private _released: Released | null = null;
  private _guards: readonly Guard[] = [];
  private _postmortems: readonly Postmortem[] = [];
  private _journal: readonly Entry[] = [];
  private _question: string | null = null;
}

/** The crashed sessions, with how the latest ended; this panel may not have been there. */
function withEnd(past: readonly IKnown[], died: LastSession): readonly IKnown[] {
  const [latest, ...earlier] = past;
  if (latest?.died && JSON.stringify(latest.died) === JSON.stringify(died)) {
    return past;
  }
  if (latest && !latest.died) {
    return [{ ...latest, died }, ...earlier];
  }
  const unseen = { runs: [], live: null, running: null, findings: [], postmortems: [] };
  return [{ ...unseen, returned: new Map<number, number>(), died }, ...past];
}

function sorted(findings: readonly Finding[]): readonly Finding[] {
  return [...findings].sort((a, b) => (b.bytes ?? -1) - (a.bytes ?? -1));
}

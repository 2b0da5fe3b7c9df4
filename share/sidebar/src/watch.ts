import type { ISessionContext } from '@jupyterlab/apputils';
import type { Cell } from '@jupyterlab/cells';
import type { NotebookPanel } from '@jupyterlab/notebook';
import { NotebookActions } from '@jupyterlab/notebook';
import type { IDisposable } from '@lumino/disposable';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';
import type { Postmortem } from './contract/messages';
import { withEdits } from './edits';
import { KernelLink, Refused } from './link';
import { SessionModel } from './model';
import { keep, kept } from './past';
import type { EditFix, PanelRequest } from './protocol';
import type { ICellRow, IKnown } from './rows';

/** One notebook: its model, the link to its kernel, and the cells that the model speaks of. */
export class NotebookWatch implements IDisposable {
  constructor(readonly panel: NotebookPanel) {
    const { sessionContext } = panel;
    this.model = new SessionModel();
    this.model.changed.connect(this._updated, this);
    sessionContext.kernelChanged.connect(this._kernelChanged, this);
    panel.context.ready.then(() => this._contentReady()).catch(console.error);
    NotebookActions.executionScheduled.connect(this._executed, this);
    panel.disposed.connect(this.dispose, this);
    if (sessionContext.session?.kernel) {
      this._kernelChanged(sessionContext);
    }
    sessionContext.ready
      .then(() => {
        if (!this._link && this.model.phase.is === 'connecting') {
          this.model.enter({ is: 'no_kernel' });
        }
      })
      .catch(console.error);
  }

  readonly model: SessionModel;

  /** What a view shows may be another now. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  get rows(): readonly ICellRow[] {
    this._rows ??= this.model.rows(this._order());
    return this._rows;
  }

  /** The cells that failed for want of memory and did not run again, the latest first. */
  get postmortems(): readonly Postmortem[] {
    return this.rows.flatMap(row => row.postmortem ?? []).sort((a, b) => b.cell - a.cell);
  }

  /** Those of the sessions that ended by a crash, the latest first. */
  get pastRows(): readonly (readonly ICellRow[])[] {
    this._pastRows ??= this.model.pastRows(this._order());
    return this._pastRows;
  }

  set subscribed(wanted: boolean) {
    this._subscribed = wanted;
    if (this._link) {
      this._link.subscribed = wanted;
    }
  }

  /** The answer to a request. Rejects with Refused where the kernel does not carry it out. */
  async ask(request: PanelRequest): ReturnType<KernelLink['ask']> {
    if (!this._link) {
      throw new Refused('The notebook has no kernel.');
    }
    return this._link.ask(request);
  }

  async loadExtension(): Promise<void> {
    await this._link?.loadExtension();
  }

  /** The cell of the notebook that a run belongs to, which may not have ended. */
  cellOfRun(index: number): Cell | null {
    const { live } = this.model;
    const run = live?.index === index ? live : this.model.run(index);
    const id = run?.cell_id ?? null;
    return id === null ? null : this.cell(id);
  }

  cell(id: string): Cell | null {
    return this.panel.content.widgets.find(it => it.model.id === id) ?? null;
  }

  async goTo(cell: Cell): Promise<void> {
    const notebook = this.panel.content;
    notebook.activeCellIndex = notebook.widgets.indexOf(cell);
    notebook.deselectAll();
    await notebook.scrollToCell(cell, 'auto');
    this.panel.activate();
  }

  /** Puts a new cell below the one of a run, or below the active one, for the user to run. */
  async insertBelow(index: number, source: string): Promise<void> {
    const notebook = this.panel.content;
    const cell = this.cellOfRun(index);
    if (cell) {
      notebook.activeCellIndex = notebook.widgets.indexOf(cell);
    }
    NotebookActions.insertBelow(notebook);
    const inserted = notebook.activeCell;
    if (inserted) {
      inserted.model.sharedModel.setSource(source);
      await this.goTo(inserted);
    }
  }

  /** What a cell's source becomes by a fix; null where it is not the one that ran any more. */
  edited(fix: EditFix): { cell: Cell; source: string } | null {
    const cell = this.cellOfRun(fix.cell);
    const source = cell?.model.sharedModel.getSource() ?? null;
    if (!cell || source === null || this._sources.get(cell.model.id) !== source) {
      return null;
    }
    const result = withEdits(source, fix.edits);
    return result === null ? null : { cell, source: result };
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    this._link?.dispose();
    Signal.clearData(this);
  }

  private _kernelChanged(context: ISessionContext): void {
    this._link?.dispose();
    this._link = null;
    this.model.forget();
    if (this.model.phase.is === 'dead') {
      this.model.crashed();
    }
    const kernel = context.session?.kernel;
    if (!kernel) {
      this.model.enter({ is: whyNone(context) });
      return;
    }
    this.model.enter({ is: 'connecting' });
    if (this.model.past.length === 0) {
      this._past = kept(kernel.id);
      this.model.recall(this._past);
    }
    this._link = new KernelLink(kernel, this.model);
    this._link.subscribed = this._subscribed;
  }

  private _contentReady(): void {
    this.panel.content.model?.cells.changed.connect(this._updated, this);
    this._updated();
  }

  private _executed(_: unknown, { cell }: { cell: Cell }): void {
    if (this.panel.content.widgets.includes(cell)) {
      this._sources.set(cell.model.id, cell.model.sharedModel.getSource());
    }
  }

  private _updated(): void {
    const { past } = this.model;
    const kernel = this.panel.sessionContext.session?.kernel;
    if (kernel && past.length > 0 && past !== this._past) {
      this._past = past;
      keep(kernel.id, past);
    }
    this._rows = null;
    this._pastRows = null;
    this._changed.emit();
  }

  private _order(): string[] {
    const cells = this.panel.content.model?.cells;
    return cells ? Array.from(cells, cell => cell.id) : [];
  }

  private readonly _changed = new Signal<this, void>(this);
  private _link: KernelLink | null = null;
  private _rows: readonly ICellRow[] | null = null;
  /** As it is kept. */
  private _past: readonly IKnown[] = [];
  private _pastRows: readonly (readonly ICellRow[])[] | null = null;
  private readonly _sources = new Map<string, string>();
  private _subscribed = false;
  private _isDisposed = false;
}

/** Why a notebook has no kernel any more, or not yet. */
function whyNone(context: ISessionContext): 'connecting' | 'no_kernel' | 'failed' {
  if (!context.hasNoKernel) {
    return 'connecting';
  }
  // A kernel that was shut down leaves a context that has to become ready again; one that did not start does not.
  return context.isReady ? 'failed' : 'no_kernel';
}

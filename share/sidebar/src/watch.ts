import type { ISessionContext } from '@jupyterlab/apputils';
import type { Cell } from '@jupyterlab/cells';
import type { NotebookPanel } from '@jupyterlab/notebook';
import { NotebookActions } from '@jupyterlab/notebook';
import type { IDisposable } from '@lumino/disposable';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';
import { withEdits } from './edits';
import { KernelLink, Refused } from './link';
import type { ICellRow } from './model';
import { SessionModel } from './model';
import type { Done, EditFix, PanelRequest } from './protocol';

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
    this._kernelChanged(sessionContext);
    sessionContext.ready
      .then(() => {
        if (!this._link) {
          this._kernelChanged(sessionContext);
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

  set subscribed(wanted: boolean) {
    this._subscribed = wanted;
    if (this._link) {
      this._link.subscribed = wanted;
    }
  }

  /** The answer to a request, or null where it was refused, which is told. */
  async ask(request: PanelRequest): ReturnType<KernelLink['ask']> {
    if (!this._link) {
      throw new Refused('The notebook has no kernel.');
    }
    return this._link.ask(request);
  }

  /** As ask, for what is answered by `done`. */
  async do(request: PanelRequest): Promise<Done> {
    const answer = await this.ask(request);
    if (answer.kind !== 'done') {
      throw new Refused('The kernel answered something else.');
    }
    return answer;
  }

  async loadExtension(): Promise<void> {
    await this._link?.loadExtension();
  }

  /** The cell of the notebook that a run belongs to. */
  cellOfRun(index: number): Cell | null {
    const id = this.model.run(index)?.cell_id ?? null;
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
    const kernel = context.session?.kernel;
    this.model.enter({ is: !kernel && context.isReady ? 'no_kernel' : 'connecting' });
    if (!kernel) {
      return;
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
    this._rows = null;
    this._changed.emit();
  }

  private _order(): string[] {
    const cells = this.panel.content.model?.cells;
    return cells ? Array.from(cells, cell => cell.id) : [];
  }

  private readonly _changed = new Signal<this, void>(this);
  private _link: KernelLink | null = null;
  private _rows: readonly ICellRow[] | null = null;
  private readonly _sources = new Map<string, string>();
  private _subscribed = false;
  private _isDisposed = false;
}

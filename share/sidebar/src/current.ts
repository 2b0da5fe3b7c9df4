import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';
import { NotebookWatch } from './watch';

/** Watches every open notebook, and says which one is in front. */
export class Watches {
  constructor(private readonly _tracker: INotebookTracker) {
    _tracker.widgetAdded.connect((_, panel) => this._add(panel));
    _tracker.forEach(panel => this._add(panel));
    _tracker.currentChanged.connect(this._currentChanged, this);
    this._currentChanged();
  }

  /** Another notebook is in front, or something else is known of one. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** A notebook was opened. */
  get added(): ISignal<this, NotebookWatch> {
    return this._added;
  }

  get current(): NotebookWatch | null {
    return this._current;
  }

  get all(): readonly NotebookWatch[] {
    return [...this._all.values()];
  }

  of(panel: NotebookPanel): NotebookWatch | null {
    return this._all.get(panel) ?? null;
  }

  /** The panel is open: the notebook in front is told of what happens. */
  set open(open: boolean) {
    this._open = open;
    this._subscribe();
  }

  /** Every notebook is told of what happens, with the panel closed too. */
  set always(always: boolean) {
    this._always = always;
    this._subscribe();
  }

  private _add(panel: NotebookPanel): void {
    if (this._all.has(panel)) {
      return;
    }
    const watch = new NotebookWatch(panel);
    this._all.set(panel, watch);
    panel.disposed.connect(() => this._all.delete(panel));
    watch.changed.connect(() => {
      this._changed.emit();
    });
    this._added.emit(watch);
    this._currentChanged();
  }

  private _currentChanged(): void {
    const panel = this._tracker.currentWidget;
    this._current = panel ? this.of(panel) : null;
    this._subscribe();
    this._changed.emit();
  }

  private _subscribe(): void {
    for (const watch of this._all.values()) {
      watch.subscribed = this._always || (this._open && watch === this._current);
    }
  }

  private readonly _changed = new Signal<this, void>(this);
  private readonly _added = new Signal<this, NotebookWatch>(this);
  private readonly _all = new Map<NotebookPanel, NotebookWatch>();
  private _current: NotebookWatch | null = null;
  private _open = false;
  private _always = false;
}

import { Dialog, showDialog } from '@jupyterlab/apputils';
import type { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import type { TranslationBundle } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';
import { humanBytes } from './format';
import type { Entry } from './model';
import { total } from './model';
import type { Done, EditFix, Finding, FromKernel, PanelRequest } from './protocol';
import type { NotebookWatch } from './watch';

/** What the buttons of the panel do. Each tells in the panel how it ended, and never throws. */
export class Actions {
  constructor(
    private readonly _rendermime: IRenderMimeRegistry,
    private readonly _trans: TranslationBundle
  ) {}

  async goToRun(watch: NotebookWatch, index: number): Promise<void> {
    const cell = watch.cellOfRun(index);
    if (cell) {
      await watch.goTo(cell);
    } else {
      this._failed(watch, this._trans.__('That cell is no longer in the notebook.'));
    }
  }

  async goToCell(watch: NotebookWatch, id: string): Promise<void> {
    const cell = watch.cell(id);
    if (cell) {
      await watch.goTo(cell);
    }
  }

  async release(watch: NotebookWatch, finding: Finding, fix: number): Promise<void> {
    const done = await this._do(watch, { kind: 'run_fix', finding: finding.id, fix });
    if (done) {
      watch.model.returned(finding, total(done.freed));
      this._tellFreed(watch, finding.holders[0] ?? finding.code, done);
    }
  }

  async dismiss(watch: NotebookWatch, finding: Finding): Promise<void> {
    await this._do(watch, { kind: 'dismiss', finding: finding.id });
  }

  /** Has dismissed findings reported again. */
  async showDismissed(watch: NotebookWatch): Promise<void> {
    await this._do(watch, { kind: 'show_dismissed' });
  }

  async releaseCache(watch: NotebookWatch): Promise<void> {
    const done = await this._do(watch, { kind: 'release_cache', dry_run: false });
    if (done) {
      this._tellFreed(watch, this._trans.__('Caches'), done);
    }
  }

  /** Takes back what an entry of the journal released. */
  async undo(watch: NotebookWatch, { number, what }: Entry): Promise<void> {
    const done = await this._do(watch, { kind: 'undo', number });
    if (done) {
      const text = this._trans.__('%1 is back.', what);
      watch.model.tell({ text, details: done.lines, failed: false });
    }
  }

  async setPolicy(watch: NotebookWatch, policy: 'report' | 'ask' | 'auto'): Promise<void> {
    await this._do(watch, { kind: 'set_policy', policy });
  }

  /** Asks for something that the model keeps when it comes. */
  async refresh(watch: NotebookWatch, kind: 'names' | 'devices'): Promise<void> {
    await this._ask(watch, { kind });
  }

  /** Asks for a page of the live tensors; for the last one where there are fewer by now. */
  async showTensors(watch: NotebookWatch, page: number): Promise<void> {
    const answer = await this._ask(watch, { kind: 'census', page });
    if (answer?.kind === 'census' && page > answer.pages && answer.pages > 0) {
      await this._ask(watch, { kind: 'census', page: answer.pages });
    }
  }

  /** Deletes a name after saying what else would go, and who would still hold the value. */
  async deleteName(watch: NotebookWatch, name: string): Promise<boolean> {
    const would = await this._do(watch, { kind: 'xdel', name, dry_run: true });
    if (!would) {
      return false;
    }
    const { button } = await showDialog({
      title: this._trans.__('Delete %1?', name),
      body: listOf([
        this._trans.__('%1 would come back.', humanBytes(total(would.freed))),
        ...would.lines
      ]),
      buttons: [
        Dialog.cancelButton({ label: this._trans.__('Cancel') }),
        Dialog.warnButton({ label: this._trans.__('Delete') })
      ],
      defaultButton: 0
    });
    if (!button.accept) {
      return false;
    }
    const done = await this._do(watch, { kind: 'xdel', name, dry_run: false });
    if (done) {
      this._tellFreed(watch, name, done);
    }
    return done !== null;
  }

  /** Says where the bytes of a name are, and who else holds its value. */
  async showPath(watch: NotebookWatch, name: string): Promise<void> {
    const answer = await this._ask(watch, { kind: 'path', name });
    if (answer?.kind !== 'path') {
      return;
    }
    const holders = answer.also.map(holder => this._trans.__('also held by %1', holder));
    await showDialog({
      title: name,
      body: listOf([
        answer.path.join(' › '),
        this._trans.__('%1 would come back with it.', humanBytes(answer.releasable_bytes)),
        ...holders
      ]),
      buttons: [Dialog.okButton({ label: this._trans.__('Close') })]
    });
  }

  /** Shows a repair of a cell's source, and makes it where it is wanted. Undo takes it back. */
  async edit(watch: NotebookWatch, fix: EditFix): Promise<void> {
    const edited = watch.edited(fix);
    if (!edited) {
      this._failed(
        watch,
        this._trans.__('The cell has changed since it ran, so it is left as it is.')
      );
      return;
    }
    const { button } = await showDialog({
      title: fix.title,
      body: listingOf(edited.source),
      buttons: [
        Dialog.cancelButton({ label: this._trans.__('Cancel') }),
        Dialog.okButton({ label: this._trans.__('Change the cell') })
      ]
    });
    if (button.accept && watch.edited(fix)) {
      edited.cell.model.sharedModel.setSource(edited.source);
      await watch.goTo(edited.cell);
    }
  }

  async insertBelow(watch: NotebookWatch, index: number, source: string): Promise<void> {
    await watch.insertBelow(index, source);
  }

  /** What the rule of a finding means, and what helps. */
  async explain(finding: Finding): Promise<void> {
    const { explanations } = await import('./contract/explanations');
    const [title, ...paragraphs] = (explanations[finding.code] ?? finding.code).split('\n');
    const markdown = paragraphs.join('\n') || finding.message;
    const renderer = this._rendermime.createRenderer('text/markdown');
    const model = this._rendermime.createModel({ data: { 'text/markdown': markdown } });
    await renderer.renderModel(model);
    renderer.addClass('jp-xleak-Explanation');
    await showDialog({
      title: title?.replace(/^# /, ''),
      body: renderer,
      buttons: [Dialog.okButton({ label: this._trans.__('Close') })]
    });
  }

  async loadExtension(watch: NotebookWatch): Promise<void> {
    await watch.loadExtension();
  }

  /** The answer; null where the request was refused, which is told. */
  private async _ask(watch: NotebookWatch, request: PanelRequest): Promise<FromKernel | null> {
    try {
      return await watch.ask(request);
    } catch (reason) {
      this._failed(watch, sentence(reason));
      return null;
    }
  }

  /** As _ask, for what is answered by `done`. */
  private async _do(watch: NotebookWatch, request: PanelRequest): Promise<Done | null> {
    const answer = await this._ask(watch, request);
    return answer?.kind === 'done' ? answer : null;
  }

  private _tellFreed(watch: NotebookWatch, what: string, done: Done): void {
    const freed = total(done.freed);
    const text =
      freed > 0
        ? this._trans.__('%1: %2 came back.', what, humanBytes(freed))
        : this._trans.__('%1: no memory came back.', what);
    watch.model.tell({ text, details: done.lines, failed: false });
  }

  private _failed(watch: NotebookWatch, text: string): void {
    watch.model.tell({ text, details: [], failed: true });
  }
}

function sentence(reason: unknown): string {
  return reason instanceof Error ? reason.message : String(reason);
}

function listOf(lines: readonly string[]): Widget {
  const list = document.createElement('ul');
  list.className = 'jp-xleak-Lines';
  for (const line of lines) {
    const item = document.createElement('li');
    item.textContent = line;
    list.append(item);
  }
  return new Widget({ node: list });
}

function listingOf(source: string): Widget {
  const listing = document.createElement('pre');
  listing.className = 'jp-xleak-Listing';
  listing.textContent = source;
  return new Widget({ node: listing });
}

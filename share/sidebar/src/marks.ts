import type { TranslationBundle } from '@jupyterlab/translation';
import { humanBytes } from './format';
import type { NotebookWatch } from './watch';

const CLASS = 'jp-xleak-CellMark';

/** Keeps a mark beside every cell of a notebook that has a finding. */
export class CellMarks {
  constructor(
    private readonly _watch: NotebookWatch,
    private readonly _trans: TranslationBundle
  ) {
    _watch.changed.connect(this._draw, this);
  }

  set enabled(enabled: boolean) {
    this._enabled = enabled;
    this._draw();
  }

  private _draw(): void {
    const marked = new Map(
      this._enabled
        ? this._watch.rows.flatMap(row =>
            row.cellId !== null && row.findings.length > 0 ? [[row.cellId, row] as const] : []
          )
        : []
    );
    for (const cell of this._watch.panel.content.widgets) {
      const row = marked.get(cell.model.id);
      const old = cell.node.querySelector(`:scope > .${CLASS}`);
      if (!row) {
        old?.remove();
        continue;
      }
      const mark = old ?? cell.node.appendChild(document.createElement('span'));
      const codes = row.findings.map(it => `${it.code} ${humanBytes(it.bytes)}`).join(', ');
      const text = this._trans.__('xleak: %1', codes);
      mark.className = CLASS;
      mark.setAttribute('role', 'img');
      mark.setAttribute('aria-label', text);
      mark.setAttribute('title', text);
    }
  }

  private _enabled = true;
}

import type { Cell, Finding } from './protocol';
import { guiltyRun, grownBytes } from './rows';
import type { NotebookWatch } from './watch';

const KEY = 'xleak';

/** Keeps in each cell's metadata what its last run kept, as `xleak run --save-executed` does. */
export class CellFacts {
  constructor(private readonly _watch: NotebookWatch) {
    _watch.changed.connect(this._write, this);
  }

  set enabled(enabled: boolean) {
    this._enabled = enabled;
    this._write();
  }

  private _write(): void {
    if (!this._enabled || !this._watch.model.told) {
      return;
    }
    const rows = new Map(this._watch.rows.map(row => [row.cellId, row]));
    for (const { model } of this._watch.panel.content.widgets) {
      const row = rows.get(model.id);
      if (!row?.latest) {
        continue;
      }
      const facts = factsOf(row.latest, row.findings);
      if (facts) {
        model.sharedModel.setMetadata(KEY, facts);
      } else {
        model.sharedModel.deleteMetadata(KEY);
      }
    }
  }

  private _enabled = false;
}

/** By how much the process grew over a run, the findings whose cause it is among those given; null where
 *  it did not end by itself, or is xleak's own. */
export function factsOf(cell: Cell, findings: readonly Finding[]) {
  if (cell.own || (cell.status !== 'ok' && cell.status !== 'error')) {
    return null;
  }
  const found = findings.filter(it => guiltyRun(it) === cell.index);
  return {
    kept_bytes: grownBytes(cell),
    peak_bytes: cell.host.resident_peak_bytes,
    devices: cell.devices.map(use => ({
      device: use.device,
      kept_bytes: use.allocated_kept_bytes,
      peak_bytes: use.allocated_peak_bytes
    })),
    findings: [...new Set(found.map(it => it.code))]
  };
}

import type { TranslationBundle } from '@jupyterlab/translation';
import type { SessionModel } from '../model';
import type { NotebookWatch } from '../watch';
import type { IView } from './view';

/** A run as the notebook counts it: `cell [3]`. */
export function cellName(model: SessionModel, index: number, trans: TranslationBundle): string {
  const count = model.run(index)?.execution_count ?? null;
  return count === null ? trans.__('run %1', index) : trans.__('cell [%1]', count);
}

interface ILinkProps {
  view: IView;
  watch: NotebookWatch;
  index: number;
}

/** The same, and on a click the cell, where the notebook still has it. */
export function CellLink({ view, watch, index }: ILinkProps): React.JSX.Element {
  const { trans, actions } = view;
  const name = cellName(watch.model, index, trans);
  return watch.cellOfRun(index) ? (
    <button
      className="jp-xleak-link"
      title={trans.__('Go to cell')}
      onClick={() => void actions.goToRun(watch, index)}
    >
      {name}
    </button>
  ) : (
    <>{name}</>
  );
}

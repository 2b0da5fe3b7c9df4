import * as React from 'react';
import type { Census as CensusMessage } from '../contract/messages';
import { humanBytes, UNKNOWN } from '../format';
import type { NotebookWatch } from '../watch';
import { RefreshButton, useAsking, waiting } from './asking';
import type { IView } from './view';
import { Windowed } from './windowed';

const ROW_HEIGHT = 38;

type Storage = CensusMessage['storages'][number];

interface ICensusProps {
  view: IView;
  watch: NotebookWatch;
}

/** The live tensors by their storages, most bytes first, a page at a time. */
export function Census({ view, watch }: ICensusProps): React.JSX.Element {
  const { trans, actions } = view;
  const { census, busy } = watch.model;
  const [asking, ask] = useAsking();
  const show = (page: number) => void ask(() => actions.showTensors(watch, page));
  return (
    <div className="jp-xleak-Census">
      <div className="jp-xleak-Controls">
        <span className="jp-xleak-quiet" role="status">
          {asking
            ? waiting(busy, trans)
            : !census
              ? trans.__('List the live tensors, and the cell that made each.')
              : census.pages === 0
                ? trans.__('There are no live tensors.')
                : trans.__('Page %1 of %2', census.page, census.pages)}
        </span>
        {census && census.pages > 1 && (
          <>
            <PageButton
              label={trans.__('Previous')}
              isLast={census.page <= 1}
              onClick={() => show(census.page - 1)}
            />
            <PageButton
              label={trans.__('Next')}
              isLast={census.page >= census.pages}
              onClick={() => show(census.page + 1)}
            />
          </>
        )}
        <RefreshButton
          label={trans.__('List the tensors')}
          asking={asking}
          onClick={() => show(census?.page ?? 1)}
        />
      </div>
      {census && census.storages.length > 0 && (
        <Rows key={census.page} view={view} watch={watch} storages={census.storages} />
      )}
    </div>
  );
}

interface IPageProps {
  label: string;
  isLast: boolean;
  onClick: () => void;
}

/** Stays in the order of the keyboard at the last page too, where the focus still is. */
function PageButton({ label, isLast, onClick }: IPageProps) {
  return (
    <button
      className="jp-xleak-Button"
      aria-disabled={isLast}
      onClick={isLast ? undefined : onClick}
    >
      {label}
    </button>
  );
}

interface IRowsProps extends ICensusProps {
  storages: readonly Storage[];
}

function Rows({ view, watch, storages }: IRowsProps) {
  const { trans } = view;
  return (
    <div
      role="table"
      aria-label={trans.__('Live tensors')}
      aria-rowcount={storages.length + 1}
      className="jp-xleak-Table"
    >
      <div role="row" aria-rowindex={1} className="jp-xleak-TensorRow jp-xleak-head">
        <span role="columnheader">{trans.__('Tensor')}</span>
        <span role="columnheader" className="jp-xleak-size">
          {trans.__('Bytes')}
        </span>
        <span role="columnheader">{trans.__('Cell')}</span>
      </div>
      <Windowed
        items={storages}
        keyOf={(_, at) => at}
        heightOf={() => ROW_HEIGHT}
        list={{ role: 'rowgroup', tabIndex: 0, 'aria-label': trans.__('Live tensors') }}
        slot={(storage, at) => ({
          role: 'row',
          'aria-rowindex': at + 2,
          className: 'jp-xleak-TensorRow',
          children: <Row view={view} watch={watch} storage={storage} />
        })}
      />
    </div>
  );
}

function Row({ view, watch, storage }: ICensusProps & { storage: Storage }) {
  const { trans, actions } = view;
  const { cell } = storage;
  const what = `${storage.dtype} ${shapeOf(storage, view)}`;
  const graph = storage.grad_fn ?? (storage.requires_grad ? 'requires_grad' : null);
  const names = storage.names.join(', ') || trans.__('no name leads to it');
  const where = [storage.device, names, ...(graph === null ? [] : [graph])].join(' · ');
  const prompt = cell === null ? null : watch.model.run(cell)?.execution_count;
  return (
    <>
      <span role="cell" className="jp-xleak-tensor" title={`${what}\n${where}`}>
        <span>{what}</span>
        <span className="jp-xleak-quiet">{where}</span>
      </span>
      <span role="cell" className="jp-xleak-size">
        {humanBytes(storage.bytes)}
      </span>
      <span role="cell">
        {cell === null ? (
          <span title={trans.__('Which cell made it is unknown.')}>{UNKNOWN}</span>
        ) : (
          <button
            className="jp-xleak-link"
            title={trans.__('Go to the cell that made it')}
            onClick={() => void actions.goToRun(watch, cell)}
          >
            {prompt === undefined ? trans.__('run %1', cell) : `[${prompt ?? ' '}]`}
          </button>
        )}
      </span>
    </>
  );
}

function shapeOf({ shape }: Storage, { trans }: IView): string {
  return shape.length === 0
    ? trans.__('scalar')
    : shape.map(size => (size < 0 ? UNKNOWN : size)).join(' × ');
}

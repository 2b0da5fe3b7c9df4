import { searchIcon, deleteIcon } from '@jupyterlab/ui-components';
import * as React from 'react';
import type { Names as NamesMessage } from '../contract/messages';
import { humanBytes } from '../format';
import type { NotebookWatch } from '../watch';
import { RefreshButton, useAsking, waiting } from './asking';
import type { IView } from './view';
import { Windowed } from './windowed';

const ROW_HEIGHT = 26;

type Name = NamesMessage['names'][number];
type Column = 'name' | 'type' | 'retained_bytes';

interface INamesProps {
  view: IView;
  watch: NotebookWatch;
}

/** The user's names with what would come back with each. */
export function Names({ view, watch }: INamesProps): React.JSX.Element {
  const { trans, actions } = view;
  const { names, busy } = watch.model;
  const [filter, setFilter] = React.useState('');
  const [asking, ask] = useAsking();
  const [order, setOrder] = React.useState<{ by: Column; down: boolean }>({
    by: 'retained_bytes',
    down: true
  });
  const rows = React.useMemo(
    () => arranged(names?.names ?? [], filter, order),
    [names, filter, order]
  );
  const refresh = () => ask(() => actions.refresh(watch, 'names'));
  const remove = async (name: string) => {
    if (await actions.deleteName(watch, name)) {
      await refresh();
    }
  };
  const heading = (by: Column, label: string) => (
    <button
      className="jp-xleak-heading"
      onClick={() =>
        setOrder({ by, down: order.by === by ? !order.down : by === 'retained_bytes' })
      }
    >
      {label}
      <span aria-hidden="true">{order.by === by ? (order.down ? ' ▾' : ' ▴') : ''}</span>
    </button>
  );
  const direction = (by: Column) =>
    order.by === by ? (order.down ? 'descending' : 'ascending') : 'none';
  return (
    <div className="jp-xleak-Names">
      <div className="jp-xleak-Controls">
        <label className="jp-xleak-Filter">
          <searchIcon.react tag="span" />
          <input
            type="search"
            aria-label={trans.__('Filter names')}
            placeholder={trans.__('Filter names')}
            value={filter}
            onChange={event => setFilter(event.target.value)}
          />
        </label>
        <RefreshButton
          label={trans.__('Measure the names')}
          asking={asking}
          onClick={() => void refresh()}
        />
      </div>
      {!names && (
        <p className="jp-xleak-Empty">
          {asking
            ? waiting(busy, trans)
            : trans.__('Measure the names to see what would come back with each.')}
        </p>
      )}
      {names && (
        <div
          role="table"
          aria-label={trans.__('Names')}
          aria-rowcount={rows.length + 1}
          className="jp-xleak-Table"
        >
          <div role="row" aria-rowindex={1} className="jp-xleak-NameRow jp-xleak-head">
            <span role="columnheader" aria-sort={direction('name')}>
              {heading('name', trans.__('Name'))}
            </span>
            <span role="columnheader" aria-sort={direction('type')}>
              {heading('type', trans.__('Type'))}
            </span>
            <span
              role="columnheader"
              aria-sort={direction('retained_bytes')}
              className="jp-xleak-size"
            >
              {heading('retained_bytes', trans.__('Retained'))}
            </span>
            <span role="columnheader" aria-label={trans.__('Delete')} />
          </div>
          <Rows view={view} watch={watch} rows={rows} onRemove={remove} />
        </div>
      )}
      {names && names.left_out > 0 && (
        <p className="jp-xleak-quiet">
          {trans._n(
            '%1 smaller name is left out.',
            '%1 smaller names are left out.',
            names.left_out
          )}
        </p>
      )}
    </div>
  );
}

interface IRowsProps extends INamesProps {
  rows: readonly Name[];
  onRemove: (name: string) => Promise<void>;
}

function Rows({ view, watch, rows, onRemove }: IRowsProps) {
  const { trans } = view;
  return (
    <Windowed
      items={rows}
      keyOf={row => row.name}
      heightOf={() => ROW_HEIGHT}
      list={{ role: 'rowgroup', tabIndex: 0, 'aria-label': trans.__('Names') }}
      slot={(row, at) => ({
        role: 'row',
        'aria-rowindex': at + 2,
        className: 'jp-xleak-NameRow',
        children: <Row view={view} watch={watch} row={row} onRemove={onRemove} />
      })}
    />
  );
}

interface IRowProps extends INamesProps {
  row: Name;
  onRemove: (name: string) => Promise<void>;
}

function Row({ view, watch, row, onRemove }: IRowProps) {
  return (
    <>
      <span role="cell" title={row.name} className="jp-xleak-name">
        <NameLink view={view} watch={watch} name={row.name} />
      </span>
      <span role="cell" title={row.type} className="jp-xleak-quiet">
        {row.type}
      </span>
      <span role="cell" className="jp-xleak-size" title={numbersOf(row, view)}>
        {humanBytes(row.retained_bytes)}
      </span>
      <span role="cell">
        <DeleteButton view={view} watch={watch} name={row.name} onClick={onRemove} />
      </span>
    </>
  );
}

interface INameProps extends INamesProps {
  name: string;
}

/** A name, and on a click who holds its value. */
export function NameLink({ view, watch, name }: INameProps): React.JSX.Element {
  const { trans, actions } = view;
  return watch.model.takes('path') ? (
    <button
      className="jp-xleak-link"
      title={trans.__('Who holds %1', name)}
      onClick={() => void actions.showPath(watch, name)}
    >
      {name}
    </button>
  ) : (
    <>{name}</>
  );
}

interface IDeleteProps extends INameProps {
  onClick: (name: string) => Promise<unknown>;
}

export function DeleteButton(props: IDeleteProps): React.JSX.Element | null {
  const { view, watch, name, onClick } = props;
  const label = view.trans.__('Delete %1', name);
  return watch.model.takes('xdel') ? (
    <button
      className="jp-xleak-IconButton"
      aria-label={label}
      title={label}
      onClick={() => void onClick(name)}
    >
      <deleteIcon.react tag="span" />
    </button>
  ) : null;
}

function numbersOf(row: Name, { trans }: IView): string {
  const facts = [
    trans.__('itself %1', humanBytes(row.shallow_bytes)),
    trans.__('shared with others %1', humanBytes(row.shared_bytes))
  ];
  return [...facts, ...(row.device === null ? [] : [row.device])].join(' · ');
}

function arranged(
  names: readonly Name[],
  filter: string,
  { by, down }: { by: Column; down: boolean }
): readonly Name[] {
  const wanted = filter.toLowerCase();
  const sign = down ? -1 : 1;
  return names
    .filter(it => `${it.name} ${it.type}`.toLowerCase().includes(wanted))
    .sort((a, b) =>
      by === 'retained_bytes' ? sign * (a[by] - b[by]) : sign * a[by].localeCompare(b[by])
    );
}

import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { humanBytes, humanSeconds, signedBytes } from '../format';
import type { Cell } from '../protocol';
import type { ICellRow } from '../rows';
import { climbBytes, grownBytes, keptBytes, shownBytes } from '../rows';
import type { NotebookWatch } from '../watch';
import { Bar, DeviceBar, scaleOf } from './bar';
import type { IView } from './view';
import { Windowed } from './windowed';

const ROW_HEIGHT = 26;
const DEVICE_HEIGHT = 9;

interface ICellsProps {
  view: IView;
  watch: NotebookWatch;
  rows: readonly ICellRow[];
  label: string;
  /** The session that they are of has ended. */
  over?: boolean;
}

/** A bar for each executed cell, in the order of the notebook. */
export function Cells({ rows: all, ...props }: ICellsProps): React.JSX.Element {
  const { trans } = props.view;
  const [ownShown, showOwn] = React.useState(false);
  const own = all.filter(row => row.own).length;
  const rows = ownShown ? all : all.filter(row => !row.own);
  return (
    <div className="jp-xleak-Cells">
      {rows.length > 0 && <Rows {...props} rows={rows} />}
      {own > 0 && (
        <button
          className="jp-xleak-Own"
          aria-expanded={ownShown}
          title={trans.__('Cells that have nothing but magics of xleak. They are in no sum.')}
          onClick={() => showOwn(!ownShown)}
        >
          {ownShown
            ? trans._n("%1 of xleak's own, hide", "%1 of xleak's own, hide", own)
            : trans._n("%1 of xleak's own, show", "%1 of xleak's own, show", own)}
        </button>
      )}
    </div>
  );
}

function Rows({ view, watch, rows, label, over = false }: ICellsProps) {
  const { trans, actions } = view;
  const [active, setActive] = React.useState(0);
  const [hovered, setHovered] = React.useState<number | null>(null);
  const id = React.useId();
  const x = React.useMemo(() => scaleOf(rows), [rows]);
  const at = Math.min(active, rows.length - 1);
  const goTo = (row: ICellRow) => {
    if (row.cellId !== null) {
      void actions.goToCell(watch, row.cellId);
    }
  };
  const onKeyDown = (event: React.KeyboardEvent) => {
    const steps: Record<string, number> = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      Home: 0,
      End: rows.length - 1
    };
    const target = steps[event.key];
    const row = rows[at];
    if (target !== undefined) {
      setActive(Math.max(0, Math.min(rows.length - 1, target)));
    } else if ((event.key === 'Enter' || event.key === ' ') && row) {
      goTo(row);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  };
  const told = rows[hovered ?? at];
  return (
    <>
      <Windowed
        items={rows}
        keyOf={row => row.key}
        heightOf={row => ROW_HEIGHT + DEVICE_HEIGHT * (row.latest?.devices.length ?? 0)}
        inView={at}
        list={{
          role: 'listbox',
          tabIndex: 0,
          'aria-label': label,
          'aria-activedescendant': `${id}-${at}`,
          onKeyDown,
          onMouseLeave: () => setHovered(null)
        }}
        slot={(row, index) => ({
          id: `${id}-${index}`,
          className: 'jp-xleak-Cell',
          role: 'option',
          'aria-selected': index === at,
          'aria-setsize': rows.length,
          'aria-posinset': index + 1,
          'aria-label': sentence(row, over, trans),
          'data-cell-id': row.cellId,
          'data-live': row.live !== null && !over,
          'data-own': row.own,
          onMouseEnter: () => setHovered(index),
          onClick: () => {
            setActive(index);
            goTo(row);
          },
          children: <Row row={row} x={x} trans={trans} />
        })}
      />
      {told && <Numbers row={told} over={over} trans={trans} />}
    </>
  );
}

function Row({
  row,
  x,
  trans
}: {
  row: ICellRow;
  x: ReturnType<typeof scaleOf>;
  trans: TranslationBundle;
}) {
  const worst = row.postmortem ? 'error' : row.findings[0]?.severity;
  return (
    <>
      <span className="jp-xleak-prompt">{promptOf(row)}</span>
      <span className="jp-xleak-bars">
        <Bar row={row} x={x} />
        {!row.running &&
          row.latest?.devices.map(use => (
            <DeviceBar key={use.device} kept={use.allocated_kept_bytes} x={x} />
          ))}
      </span>
      <span className="jp-xleak-size">{signedBytes(shownBytes(row))}</span>
      <span className="jp-xleak-mark" data-severity={worst}>
        {worst && <span title={troublesOf(row, trans).join(', ')}>!</span>}
      </span>
    </>
  );
}

/** What the row that is pointed at is about, in numbers. */
function Numbers({ row, over, trans }: { row: ICellRow; over: boolean; trans: TranslationBundle }) {
  const facts = factsOf(row, over, trans);
  const before = row.earlier.map(cell => `${promptText(cell)} ${signedBytes(keptBytes(cell))}`);
  return (
    <div className="jp-xleak-Numbers" aria-hidden="true">
      <strong>{promptOf(row)}</strong> {facts.join(' · ')}
      {before.length > 0 && (
        <div className="jp-xleak-quiet">
          {trans.__('Earlier runs: %1', before.slice(-4).reverse().join(', '))}
        </div>
      )}
    </div>
  );
}

function factsOf(row: ICellRow, over: boolean, trans: TranslationBundle): string[] {
  const { running, live, latest } = row;
  if (running && !live) {
    return [
      over ? trans.__('was running when the kernel died') : trans.__('running'),
      over ? trans.__('what it took is unknown') : trans.__('what it takes is not known yet')
    ];
  }
  if (live) {
    return [
      over
        ? trans.__('was running when the kernel died, for %1', humanSeconds(live.seconds))
        : trans.__('running for %1', humanSeconds(live.seconds)),
      trans.__('%1 so far', signedBytes(live.resident_bytes - live.resident_before_bytes)),
      ...live.devices.map(use =>
        trans.__('%1 allocated %2', use.device, humanBytes(use.allocated_bytes))
      )
    ];
  }
  if (!latest) {
    return [];
  }
  const facts = [
    ...(latest.own ? [trans.__("xleak's own")] : []),
    trans.__('kept %1', signedBytes(keptBytes(latest))),
    trans.__('process %1', signedBytes(grownBytes(latest))),
    trans.__('peak %1 above its start', humanBytes(climbBytes(latest))),
    humanSeconds(latest.seconds)
  ];
  if (latest.host.tensor_kept_bytes !== null) {
    const at = latest.own ? 2 : 1;
    facts.splice(at, 0, trans.__('tensors %1', signedBytes(latest.host.tensor_kept_bytes)));
  }
  for (const use of latest.devices) {
    facts.push(
      trans.__(
        '%1 kept %2, peak %3',
        use.device,
        signedBytes(use.allocated_kept_bytes),
        humanBytes(use.allocated_peak_bytes)
      )
    );
  }
  if (row.returnedBytes > 0) {
    facts.push(trans.__('%1 came back', humanBytes(row.returnedBytes)));
  }
  return facts;
}

function troublesOf({ postmortem, findings }: ICellRow, trans: TranslationBundle): string[] {
  return [
    ...(postmortem ? [trans.__('out of memory')] : []),
    ...(findings.length > 0 ? [trans._n('%1 finding', '%1 findings', findings.length)] : [])
  ];
}

function sentence(row: ICellRow, over: boolean, trans: TranslationBundle): string {
  const facts = [...factsOf(row, over, trans), ...troublesOf(row, trans)];
  return [trans.__('Cell %1', promptOf(row)), ...facts].join(', ');
}

function promptOf(row: ICellRow): string {
  return row.running || !row.latest ? '[*]' : promptText(row.latest);
}

function promptText(cell: Cell): string {
  return `[${cell.execution_count ?? ' '}]`;
}

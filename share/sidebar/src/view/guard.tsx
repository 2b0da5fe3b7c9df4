import type { Guard } from '../contract/messages';
import { humanBytes } from '../format';
import type { NotebookWatch } from '../watch';
import { Prose } from './prose';
import type { IView } from './view';

interface IGuardsProps {
  view: IView;
  watch: NotebookWatch | null;
}

/** Warns of each device whose memory is nearly used up. Stays where it is, for screen readers to hear of it. */
export function Guards({ view, watch }: IGuardsProps): React.JSX.Element {
  const guards = watch?.model.guards ?? [];
  return (
    <div
      role="status"
      aria-live={guards.some(it => it.level === 'critical') ? 'assertive' : 'polite'}
    >
      {watch &&
        guards.map(guard => <Banner key={guard.device} view={view} watch={watch} guard={guard} />)}
    </div>
  );
}

function Banner({ view, watch, guard }: IGuardsProps & { watch: NotebookWatch; guard: Guard }) {
  const { trans, actions } = view;
  const { device, level, used_bytes: used, limit_bytes: limit, index } = guard;
  const title =
    level === 'critical' ? trans.__('Memory is almost used up') : trans.__('Memory runs low');
  return (
    <div
      className="jp-xleak-Guard"
      data-level={level}
      data-severity={level === 'critical' ? 'error' : 'warning'}
    >
      <header>
        <span className="jp-xleak-slug">{device === 'host' ? title : `${title} · ${device}`}</span>
        <span className="jp-xleak-bytes">
          {trans.__('%1 of %2', humanBytes(used), humanBytes(limit))}
        </span>
      </header>
      <svg className="jp-xleak-Usage" aria-hidden="true">
        <rect className="jp-xleak-whole" width="100%" height="100%" />
        <rect
          className="jp-xleak-used"
          width={`${limit > 0 ? Math.min(100, (100 * used) / limit) : 100}%`}
          height="100%"
        />
      </svg>
      <p>
        <Prose text={guard.sentence} />
      </p>
      {index !== null && watch.cellOfRun(index) && (
        <div className="jp-xleak-Buttons">
          <button className="jp-xleak-Button" onClick={() => void actions.goToRun(watch, index)}>
            {trans.__('Go to cell')}
          </button>
        </div>
      )}
    </div>
  );
}

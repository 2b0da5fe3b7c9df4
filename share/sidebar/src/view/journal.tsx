import * as React from 'react';
import { humanBytes } from '../format';
import type { Entry } from '../model';
import { total } from '../model';
import type { NotebookWatch } from '../watch';
import { CellLink } from './cell_link';
import { Prose } from './prose';
import type { IView } from './view';
import { Windowed } from './windowed';

const USUAL_HEIGHT = 90;

interface IJournalProps {
  view: IView;
  watch: NotebookWatch;
}

/** What was released, the latest first. */
export function Journal({ view, watch }: IJournalProps): React.JSX.Element {
  const { journal } = watch.model;
  return (
    <Windowed
      items={journal}
      keyOf={entry => entry.number}
      heightOf={() => USUAL_HEIGHT}
      measured={true}
      list={{ role: 'list', tabIndex: 0, 'aria-label': view.trans.__('Journal') }}
      slot={(entry, at) => ({
        role: 'listitem',
        'aria-setsize': journal.length,
        'aria-posinset': at + 1,
        children: <Card view={view} watch={watch} entry={entry} />
      })}
    />
  );
}

function Card({ view, watch, entry }: IJournalProps & { entry: Entry }) {
  const { trans, actions } = view;
  const [waiting, setWaiting] = React.useState(false);
  const undo = async () => {
    setWaiting(true);
    await actions.undo(watch, entry);
    setWaiting(false);
  };
  const owners = Object.entries(entry.freed).map(([owner, size]) => `${owner} ${humanBytes(size)}`);
  return (
    <article className="jp-xleak-Finding jp-xleak-Entry" data-severity="note">
      <header>
        <span className="jp-xleak-slug">{entry.what}</span>
        <span className="jp-xleak-bytes" title={owners.join(', ')}>
          {humanBytes(total(entry.freed))}
        </span>
      </header>
      <p className="jp-xleak-quiet">
        <time dateTime={entry.time}>{new Date(entry.time).toLocaleTimeString()}</time>
        {' · '}
        <CellLink view={view} watch={watch} index={entry.cell} />
      </p>
      <p>
        <Prose text={entry.why} />
      </p>
      {entry.undo && watch.model.takes('undo') && (
        <div className="jp-xleak-Buttons">
          <button
            className="jp-xleak-Button"
            aria-label={trans.__('Undo: %1', entry.what)}
            disabled={waiting}
            onClick={() => void undo()}
          >
            {trans.__('Undo')}
          </button>
        </div>
      )}
    </article>
  );
}

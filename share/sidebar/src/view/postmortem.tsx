import * as React from 'react';
import type { Postmortem } from '../contract/messages';
import { humanBytes } from '../format';
import type { NotebookWatch } from '../watch';
import { CellLink, cellName } from './cell_link';
import { Figures } from './figures';
import { DeleteButton, NameLink } from './names';
import { Prose } from './prose';
import type { IView } from './view';

interface IPostmortemsProps {
  view: IView;
  watch: NotebookWatch;
}

/** Why each cell that ran out of memory did, who holds it, and what gives it back. */
export function Postmortems({ view, watch }: IPostmortemsProps): React.JSX.Element {
  return (
    <div className="jp-xleak-Postmortems">
      {watch.postmortems.map(it => (
        <Card key={it.cell} view={view} watch={watch} postmortem={it} />
      ))}
    </div>
  );
}

interface ICardProps extends IPostmortemsProps {
  postmortem: Postmortem;
}

function Card({ view, watch, postmortem }: ICardProps) {
  const { trans, actions } = view;
  const { model } = watch;
  const { cell, advice } = postmortem;
  const name = cellName(model, cell, trans);
  return (
    <article
      className="jp-xleak-Finding jp-xleak-Postmortem"
      data-severity="error"
      aria-label={trans.__('Out of memory: %1', name)}
    >
      <header>
        <span className="jp-xleak-slug">{name}</span>
        <span className="jp-xleak-code">{postmortem.allocator}</span>
      </header>
      <p>
        <Prose text={postmortem.sentence} />
      </p>
      <Figures of={figuresOf(postmortem, view)} />
      <Holders view={view} watch={watch} postmortem={postmortem} />
      <Fix view={view} watch={watch} postmortem={postmortem} />
      {advice.length > 0 && (
        <ul className="jp-xleak-Lines" aria-label={trans.__('What else helps')}>
          {advice.map((line, at) => (
            <li key={at}>
              <Prose text={line} />
            </li>
          ))}
        </ul>
      )}
      {watch.cellOfRun(cell) && (
        <div className="jp-xleak-Buttons">
          <button className="jp-xleak-Button" onClick={() => void actions.goToRun(watch, cell)}>
            {trans.__('Go to cell')}
          </button>
        </div>
      )}
    </article>
  );
}

/** What not every allocator has is left out where it is not told; anything else is unknown then. */
function figuresOf(told: Postmortem, { trans }: IView): [string, number | null][] {
  const special: [string, number | null][] = [
    [trans.__('Reserved'), told.reserved_bytes],
    [trans.__('Fragmented'), told.fragmented_bytes]
  ];
  return [
    [trans.__('Asked'), told.asked_bytes],
    [trans.__('Free'), told.free_bytes],
    [trans.__('Allocated'), told.allocated_bytes],
    ...special.filter(([, size]) => size !== null),
    [trans.__('By this cell'), told.failing_cell_bytes]
  ];
}

/** The cells and the names that hold most, with the ways to them. */
function Holders({ view, watch, postmortem }: ICardProps) {
  const { trans, actions } = view;
  const { cells, names } = postmortem;
  const id = React.useId();
  if (cells.length + names.length === 0) {
    return null;
  }
  return (
    <>
      <p id={id} className="jp-xleak-quiet">
        {trans.__('Who holds most')}
      </p>
      <ul className="jp-xleak-Holders" aria-labelledby={id}>
        {cells.map(it => (
          <li key={`cell ${it.index}`}>
            <span>
              <CellLink view={view} watch={watch} index={it.index} />
            </span>
            <span className="jp-xleak-size">{humanBytes(it.kept_bytes)}</span>
          </li>
        ))}
        {names.map(it => (
          <li key={`name ${it.name}`}>
            <span className="jp-xleak-name" title={it.name}>
              <NameLink view={view} watch={watch} name={it.name} />
            </span>
            <span className="jp-xleak-size">{humanBytes(it.retained_bytes)}</span>
            <DeleteButton
              view={view}
              watch={watch}
              name={it.name}
              onClick={name => actions.deleteName(watch, name)}
            />
          </li>
        ))}
      </ul>
    </>
  );
}

/** What can be released now. A line that the panel has no request for is the user's to run. */
function Fix({ view, watch, postmortem }: ICardProps) {
  const { trans, actions } = view;
  const { model } = watch;
  const { cell, fix, releasable_bytes: bytes } = postmortem;
  if (fix === null) {
    return null;
  }
  const name = /^%xdel\s+(\S+)$/.exec(fix)?.[1];
  const [label, run] =
    fix === '%release_cache' && model.takes('release_cache')
      ? [trans.__('Release caches'), () => actions.releaseCache(watch)]
      : name !== undefined && model.takes('xdel')
        ? [trans.__('Delete %1…', name), () => actions.deleteName(watch, name)]
        : [trans.__('Insert as a cell'), () => actions.insertBelow(watch, cell, fix)];
  return (
    <div className="jp-xleak-Buttons">
      <code>{fix}</code>
      {bytes !== null && <span>{trans.__('gives %1 back', humanBytes(bytes))}</span>}
      <button className="jp-xleak-Button jp-mod-primary" onClick={() => void run()}>
        {label}
      </button>
    </div>
  );
}

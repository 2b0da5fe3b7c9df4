import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';
import { humanBytes } from '../format';
import type { SessionModel } from '../model';
import type { Finding } from '../protocol';
import { isEditFix, isRunFix } from '../protocol';
import { grownBytes, guiltyRun } from '../rows';
import type { NotebookWatch } from '../watch';
import { useAsking, waiting } from './asking';
import { cellName } from './cell_link';
import { Prose } from './prose';
import type { IView } from './view';
import { Windowed } from './windowed';

const USUAL_HEIGHT = 150;
/** Less is not worth a line. */
const LEAST_BYTES = 1 << 20;
const MOST_NAMES = 3;

interface IFindingsProps {
  view: IView;
  watch: NotebookWatch;
}

/** What was found, most bytes first, with a button for each thing that helps. */
export function Findings({ view, watch }: IFindingsProps): React.JSX.Element | null {
  const { findings, told, runs } = watch.model;
  if (findings.length === 0) {
    return told && runs.length > 0 ? <NoLeak view={view} watch={watch} /> : null;
  }
  return (
    <>
      <Windowed
        items={findings}
        keyOf={finding => finding.id}
        heightOf={() => USUAL_HEIGHT}
        measured={true}
        list={{ role: 'list', tabIndex: -1, 'aria-label': view.trans.__('Findings') }}
        slot={(finding, at) => ({
          role: 'listitem',
          'aria-setsize': findings.length,
          'aria-posinset': at + 1,
          children: <Card view={view} watch={watch} finding={finding} />
        })}
      />
      <Dismissed view={view} watch={watch} />
    </>
  );
}

/** Beside it by how much the process grew, and who holds it: that may be much without a leak. */
function NoLeak({ view, watch }: IFindingsProps) {
  const { trans, actions } = view;
  const { model } = watch;
  const [asking, ask] = useAsking();
  const grown = sum(model.runs.map(grownBytes));
  const held = (model.names?.names ?? [])
    .map(it => ({ name: it.name, bytes: Math.max(it.retained_bytes, it.shallow_bytes) }))
    .filter(it => it.bytes >= LEAST_BYTES)
    .sort((a, b) => b.bytes - a.bytes)
    .slice(0, MOST_NAMES);
  return (
    <div className="jp-xleak-Empty">
      <p>{trans.__('No leak found.')}</p>
      {grown >= LEAST_BYTES && (
        <p>
          {trans.__('The process grew by %1, imports included.', humanBytes(grown))}{' '}
          {model.names &&
            (held.length > 0
              ? trans.__(
                  'Names that hold most: %1.',
                  held.map(it => `${it.name} ${humanBytes(it.bytes)}`).join(', ')
                )
              : trans.__('No name holds much of it.'))}
        </p>
      )}
      {grown >= LEAST_BYTES && !model.names && model.takes('names') && (
        <button
          className="jp-xleak-Button"
          disabled={asking}
          onClick={() => void ask(() => actions.refresh(watch, 'names'))}
        >
          {asking ? waiting(model.busy, trans) : trans.__('Who holds it?')}
        </button>
      )}
      <Dismissed view={view} watch={watch} />
    </div>
  );
}

/** Of what is known. */
function sum(sizes: readonly (number | null)[]): number {
  return sizes.reduce<number>((all, size) => all + (size ?? 0), 0);
}

function Dismissed({ view, watch }: IFindingsProps) {
  const { trans, actions } = view;
  const { dismissed } = watch.model;
  if (dismissed === 0) {
    return null;
  }
  return (
    <p className="jp-xleak-Dismissed">
      {trans.__('%1 dismissed', dismissed)}
      {watch.model.takes('show_dismissed') && (
        <button className="jp-xleak-Button" onClick={() => void actions.showDismissed(watch)}>
          {trans.__('Show')}
        </button>
      )}
    </p>
  );
}

interface ICardProps extends IFindingsProps {
  finding: Finding;
}

function Card({ view, watch, finding }: ICardProps) {
  const { trans, actions } = view;
  const { model } = watch;
  const [waiting, setWaiting] = React.useState(false);
  const release = async (fix: number) => {
    setWaiting(true);
    await actions.release(watch, finding, fix);
    setWaiting(false);
  };
  const canGo = watch.cellOfRun(guiltyRun(finding)) !== null;
  return (
    <article className="jp-xleak-Finding" data-severity={finding.severity} data-code={finding.code}>
      <header>
        <span className="jp-xleak-code">{finding.code}</span>
        <span className="jp-xleak-slug">{finding.slug.replaceAll('_', ' ')}</span>
        <span className="jp-xleak-bytes">{bytesOf(finding, trans)}</span>
      </header>
      <p className="jp-xleak-quiet">{whereOf(finding, model, trans)}</p>
      <p>
        <Prose text={finding.message} />
      </p>
      {finding.path.length > 0 && <HolderPath path={finding.path} trans={trans} />}
      <div className="jp-xleak-Buttons">
        {finding.fixes.map((fix, at) =>
          isRunFix(fix) && model.takes('run_fix') ? (
            <button
              key={at}
              className="jp-xleak-Button jp-mod-primary"
              title={fix.code}
              disabled={waiting}
              onClick={() => void release(at)}
            >
              {waiting && model.busy ? trans.__('After the cell that runs…') : fix.title}
            </button>
          ) : isEditFix(fix) ? (
            <button
              key={at}
              className="jp-xleak-Button"
              title={fix.title}
              onClick={() => void actions.edit(watch, fix)}
            >
              {trans.__('Insert the edit…')}
            </button>
          ) : null
        )}
        {canGo && (
          <button
            className="jp-xleak-Button"
            onClick={() => void actions.goToRun(watch, guiltyRun(finding))}
          >
            {trans.__('Go to cell')}
          </button>
        )}
        <button className="jp-xleak-Button" onClick={() => void actions.explain(finding)}>
          {trans.__('Explain')}
        </button>
        {model.takes('dismiss') && (
          <button className="jp-xleak-Button" onClick={() => void actions.dismiss(watch, finding)}>
            {trans.__('Dismiss')}
          </button>
        )}
      </div>
    </article>
  );
}

function HolderPath({ path, trans }: { path: readonly string[]; trans: TranslationBundle }) {
  return (
    <ol className="jp-xleak-Path" aria-label={trans.__('Who holds it')}>
      {path.map((step, at) => (
        <li key={at}>{step}</li>
      ))}
    </ol>
  );
}

function bytesOf(finding: Finding, trans: TranslationBundle): string {
  return finding.basis === 'source' ? trans.__('not measured') : humanBytes(finding.bytes);
}

function whereOf(finding: Finding, model: SessionModel, trans: TranslationBundle): string {
  const index = guiltyRun(finding);
  const cell = cellName(model, index, trans);
  const line = finding.line === null ? '' : trans.__(', line %1', finding.line);
  return finding.name === null ? `${cell}${line}` : `${cell}${line} · ${finding.name}`;
}

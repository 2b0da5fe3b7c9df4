import { closeIcon } from '@jupyterlab/ui-components';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { INotice, SessionModel } from '../model';
import { total } from '../model';
import { isRunFix } from '../protocol';
import { humanBytes, signedBytes } from '../format';
import { ownBytes } from '../rows';
import type { NotebookWatch } from '../watch';
import { Guards } from './guard';
import { Sparkline } from './sparkline';
import { State } from './state';
import type { IView } from './view';

type Settable = 'report' | 'ask' | 'auto';

interface ISummaryProps {
  view: IView;
  watch: NotebookWatch | null;
}

/** The top of the panel: where the kernel stands, the session in numbers, and what was just done. */
export function Summary({ view, watch }: ISummaryProps): React.JSX.Element {
  const model = watch?.model;
  const notice = model ? (model.notice ?? releasedNotice(model, view.trans)) : null;
  return (
    <div className="jp-xleak-Summary" data-phase={model?.phase.is}>
      {model?.progress && (
        <progress
          aria-label={view.trans.__('Searching')}
          {...(model.progress.share === null ? {} : { value: model.progress.share })}
        />
      )}
      <Guards view={view} watch={watch} />
      <State view={view} watch={watch} />
      {watch && model && model.runs.length > 0 && <Totals model={model} trans={view.trans} />}
      {watch && model?.phase.is === 'ready' && <Controls view={view} watch={watch} />}
      <div role="status" aria-live="polite">
        {watch && <Question view={view} watch={watch} />}
        {model && notice && (
          <Notice notice={notice} trans={view.trans} onClose={() => model.tell(null)} />
        )}
      </div>
    </div>
  );
}

/** What the policy auto did. */
function releasedNotice({ released }: SessionModel, trans: TranslationBundle): INotice | null {
  return (
    released && {
      text: trans.__('By itself the kernel gave %1 back.', humanBytes(total(released.freed))),
      details: released.lines,
      failed: false
    }
  );
}

function Totals({ model, trans }: { model: SessionModel; trans: TranslationBundle }) {
  const users = model.runs.filter(cell => !cell.own);
  const after = users.map(cell => cell.host.resident_after_bytes);
  const peaks = users.map(cell => cell.host.resident_peak_bytes);
  const known = peaks.filter(size => size !== null);
  const before = model.runs[0]?.host.resident_before_bytes ?? null;
  const now = model.residentBytes;
  const grown = now === null || before === null ? null : now - before - ownBytes(model.runs);
  return (
    <div className="jp-xleak-Totals">
      <dl className="jp-xleak-Figures">
        <div>
          <dt>{trans.__('Process now')}</dt>
          <dd>{humanBytes(now)}</dd>
        </div>
        <div>
          <dt>{trans.__('Since start')}</dt>
          <dd>{signedBytes(grown)}</dd>
        </div>
        <div>
          <dt>{trans.__('Peak')}</dt>
          <dd>{humanBytes(known.length > 0 ? Math.max(...known) : null)}</dd>
        </div>
      </dl>
      <Sparkline
        sizes={now === null || now === after.at(-1) ? after : [...after, now]}
        label={trans.__('Memory of the process after each cell')}
      />
    </div>
  );
}

function Controls({ view, watch }: { view: IView; watch: NotebookWatch }) {
  const { model } = watch;
  const { trans, actions } = view;
  return (
    <div className="jp-xleak-Controls">
      {model.takes('set_policy') && model.policy && (
        <select
          aria-label={trans.__('What happens with a finding')}
          value={model.policy}
          onChange={event => void actions.setPolicy(watch, event.target.value as Settable)}
        >
          {model.policy === 'off' && <option value="off">{trans.__('Policy: off')}</option>}
          <option value="report">{trans.__('Policy: report')}</option>
          <option value="ask">{trans.__('Policy: ask')}</option>
          <option value="auto">{trans.__('Policy: auto')}</option>
        </select>
      )}
      {model.takes('release_cache') && (
        <button
          className="jp-xleak-Button"
          title={trans.__(
            'Tracebacks, outputs that nobody uses, garbage cycles, framework caches, free heap'
          )}
          onClick={() => void actions.releaseCache(watch)}
        >
          {trans.__('Release caches')}
        </button>
      )}
    </div>
  );
}

/** Asks whether to release what was just found. */
function Question({ view, watch }: { view: IView; watch: NotebookWatch }) {
  const { trans, actions } = view;
  const { model } = watch;
  const finding = model.question;
  if (!finding) {
    return null;
  }
  const release = () => {
    model.answered();
    void actions.release(watch, finding, finding.fixes.findIndex(isRunFix));
  };
  return (
    <div className="jp-xleak-Notice">
      <div>
        <strong>
          {trans.__(
            'Release %1 of %2?',
            humanBytes(finding.bytes),
            finding.holders[0] ?? finding.code
          )}
        </strong>
        <div className="jp-xleak-Buttons">
          <button className="jp-xleak-Button jp-mod-primary" onClick={release}>
            {trans.__('Release')}
          </button>
          <button className="jp-xleak-Button" onClick={() => model.answered()}>
            {trans.__('Not now')}
          </button>
        </div>
      </div>
    </div>
  );
}

interface INoticeProps {
  notice: INotice;
  trans: TranslationBundle;
  onClose: () => void;
}

function Notice({ notice, trans, onClose }: INoticeProps) {
  return (
    <div className="jp-xleak-Notice" data-failed={notice.failed}>
      <div>
        <strong>{notice.text}</strong>
        {notice.details.length > 0 && (
          <details>
            <summary>{trans.__('What was done')}</summary>
            <ul className="jp-xleak-Lines">
              {notice.details.map((line, at) => (
                <li key={at}>{line}</li>
              ))}
            </ul>
          </details>
        )}
      </div>
      <button className="jp-xleak-IconButton" aria-label={trans.__('Close')} onClick={onClose}>
        <closeIcon.react tag="span" />
      </button>
    </div>
  );
}

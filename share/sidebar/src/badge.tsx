import { ReactWidget } from '@jupyterlab/ui-components';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { ISignal } from '@lumino/signaling';
import { humanBytes } from './format';
import { dropIcon } from './icons';
import type { SessionModel } from './model';
import type { NotebookWatch } from './watch';
import { useSignal } from './view/view';

interface IBadgeProps {
  /** Emitted when the badge may have to say something else. */
  changed: ISignal<unknown, unknown>;
  watch: () => NotebookWatch | null;
  trans: TranslationBundle;
  open: () => void;
}

/** How much the findings keep, or while the panel is closed how many there are; and the way to the panel. */
function Badge({ changed, watch, trans, open }: IBadgeProps) {
  useSignal(changed);
  const model = watch()?.model ?? null;
  const text = model ? textOf(model) : '';
  const label = model && text ? labelOf(model, text, trans) : trans.__('Memory by cell');
  return (
    <button className="jp-xleak-Badge" title={label} aria-label={label} onClick={open}>
      <dropIcon.react tag="span" height="16px" width="16px" />
      {text && <span className="jp-xleak-badgeText">{text}</span>}
    </button>
  );
}

function textOf(model: SessionModel): string {
  if (model.count === 0) {
    return '';
  }
  if (!model.told) {
    return String(model.count);
  }
  return humanBytes(model.findings.reduce((sum, finding) => sum + (finding.bytes ?? 0), 0));
}

function labelOf(model: SessionModel, text: string, trans: TranslationBundle): string {
  return model.told
    ? trans.__('Memory by cell: findings keep %1', text)
    : trans._n('Memory by cell: %1 finding', 'Memory by cell: %1 findings', model.count);
}

/** A badge as a widget, for a toolbar or the status bar. */
export function badge(props: IBadgeProps): ReactWidget {
  const widget = ReactWidget.create(<Badge {...props} />);
  widget.addClass('jp-xleak-BadgeItem');
  return widget;
}

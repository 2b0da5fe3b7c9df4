import { ReactWidget } from '@jupyterlab/ui-components';
import type { Message } from '@lumino/messaging';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';
import { dropIcon } from './icons';
import { Cells } from './view/cells';
import { Census } from './view/census';
import { Devices } from './view/devices';
import { Findings } from './view/findings';
import { Hatch } from './view/hatch';
import { Journal } from './view/journal';
import { LastSession } from './view/last_session';
import { Names } from './view/names';
import { Postmortems } from './view/postmortem';
import { Section } from './view/section';
import { Summary } from './view/summary';
import type { IView } from './view/view';
import { useSignal } from './view/view';

export const PANEL_ID = 'xleak-panel';

/** The sidebar. It draws what the notebook in front is known to keep. */
export class MemoryPanel extends ReactWidget {
  constructor(private readonly _view: IView) {
    super();
    const caption = _view.trans.__('Memory by cell (xleak)');
    this.id = PANEL_ID;
    this.addClass('jp-xleak-Panel');
    this.title.icon = dropIcon;
    this.title.caption = caption;
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', caption);
  }

  /** The panel came into view, or went out of it. */
  get shown(): ISignal<this, boolean> {
    return this._shown;
  }

  protected override render(): React.JSX.Element {
    return <Panel view={this._view} />;
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    this._shown.emit(this.isVisible);
  }

  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this._shown.emit(this.isVisible);
  }

  protected override onAfterHide(message: Message): void {
    super.onAfterHide(message);
    this._shown.emit(this.isVisible);
  }

  private readonly _shown = new Signal<this, boolean>(this);
}

/** The session on top, then a section for each thing that is known of it. */
function Panel({ view }: { view: IView }) {
  const { trans, watches } = view;
  useSignal(watches.changed);
  const watch = watches.current;
  const model = watch?.model;
  const findings = model?.findings.length ?? 0;
  return (
    <>
      <Hatch />
      <Summary view={view} watch={watch} />
      {watch && model && watch.rows.length > 0 && (
        <>
          <Section label={trans.__('Cells')} kind="cells" opened={true}>
            <Cells
              key={watch.panel.id}
              view={view}
              watch={watch}
              rows={watch.rows}
              label={trans.__('Memory kept by each cell')}
              over={model.phase.is === 'dead'}
            />
          </Section>
          {watch.postmortems.length > 0 && (
            <Section label={trans.__('Out of memory')} kind="postmortem" opened={true}>
              <Postmortems view={view} watch={watch} />
            </Section>
          )}
          <Section
            label={findings > 0 ? trans.__('Findings (%1)', findings) : trans.__('Findings')}
            kind="findings"
            opened={true}
          >
            <Findings key={watch.panel.id} view={view} watch={watch} />
          </Section>
        </>
      )}
      {watch?.pastRows.map((rows, at, { length }) => (
        <Section
          key={`${watch.panel.id} ${length - at}`}
          label={trans.__('Before the restart')}
          kind="past"
          opened={at === 0}
        >
          <LastSession died={watch.model.past[at]?.died} trans={trans} />
          {rows.length > 0 && (
            <Cells
              view={view}
              watch={watch}
              rows={rows}
              label={trans.__('Memory kept by each cell before the kernel died')}
              over={true}
            />
          )}
        </Section>
      ))}
      {watch && model && model.journal.length > 0 && (
        <Section
          label={trans.__('Journal (%1)', model.journal.length)}
          kind="journal"
          opened={false}
        >
          <Journal key={watch.panel.id} view={view} watch={watch} />
        </Section>
      )}
      {watch && model?.takes('names') && (
        <Section label={trans.__('Names')} kind="names" opened={false}>
          <Names key={watch.panel.id} view={view} watch={watch} />
        </Section>
      )}
      {watch && model?.takes('census') && (
        <Section label={trans.__('Live tensors')} kind="census" opened={false}>
          <Census key={watch.panel.id} view={view} watch={watch} />
        </Section>
      )}
      {watch && model?.takes('devices') && (
        <Section label={trans.__('Devices')} kind="devices" opened={false}>
          <Devices key={watch.panel.id} view={view} watch={watch} />
        </Section>
      )}
    </>
  );
}

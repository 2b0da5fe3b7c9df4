import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ILayoutRestorer } from '@jupyterlab/application';
import { ICommandPalette, IToolbarWidgetRegistry } from '@jupyterlab/apputils';
import type { NotebookPanel } from '@jupyterlab/notebook';
import { INotebookTracker } from '@jupyterlab/notebook';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { IStatusBar } from '@jupyterlab/statusbar';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { Actions } from './actions';
import { badge } from './badge';
import { Watches } from './current';
import { CellFacts } from './facts';
import { dropIcon } from './icons';
import { CellMarks } from './marks';
import { MemoryPanel, PANEL_ID } from './panel';
import type { NotebookWatch } from './watch';

const PLUGIN_ID = 'xleak:plugin';
const OPEN = 'xleak:open';
const RANK = 850;

const plugin: JupyterFrontEndPlugin<void> = {
  id: PLUGIN_ID,
  description: 'Which cell kept the memory, who holds it, and how to get it back.',
  autoStart: true,
  requires: [INotebookTracker, IRenderMimeRegistry],
  optional: [
    ITranslator,
    ISettingRegistry,
    ICommandPalette,
    IToolbarWidgetRegistry,
    IStatusBar,
    ILayoutRestorer
  ],
  activate
};
export default plugin;

function activate(
  app: JupyterFrontEnd,
  tracker: INotebookTracker,
  rendermime: IRenderMimeRegistry,
  translator: ITranslator | null,
  registry: ISettingRegistry | null,
  palette: ICommandPalette | null,
  toolbars: IToolbarWidgetRegistry | null,
  statusBar: IStatusBar | null,
  restorer: ILayoutRestorer | null
): void {
  const trans = (translator ?? nullTranslator).load('xleak');
  const watches = new Watches(tracker);
  const panel = new MemoryPanel({ watches, actions: new Actions(rendermime, trans), trans });
  panel.shown.connect((_, shown) => {
    watches.open = shown;
  });
  app.shell.add(panel, 'right', { rank: RANK, type: 'xleak' });
  restorer?.add(panel, PANEL_ID);

  app.commands.addCommand(OPEN, {
    label: trans.__('Show Memory by Cell (xleak)'),
    icon: dropIcon,
    describedBy: { args: { type: 'object', properties: {} } },
    execute: () => app.shell.activateById(PANEL_ID)
  });
  palette?.addItem({ command: OPEN, category: trans.__('Kernel Operations') });
  const open = () => void app.commands.execute(OPEN);

  toolbars?.addFactory<NotebookPanel>('Notebook', 'xleak', notebook =>
    badge({ changed: watches.changed, watch: () => watches.of(notebook), trans, open })
  );
  statusBar?.registerStatusItem(PLUGIN_ID, {
    item: badge({ changed: watches.changed, watch: () => watches.current, trans, open }),
    align: 'right',
    rank: 5,
    isActive: () => watches.current !== null,
    activeStateChanged: watches.changed
  });

  const beside = new Map<NotebookWatch, { marks: CellMarks; facts: CellFacts }>();
  let wanted = { marks: true, facts: false };
  const apply = () => {
    for (const { marks, facts } of beside.values()) {
      marks.enabled = wanted.marks;
      facts.enabled = wanted.facts;
    }
  };
  const add = (watch: NotebookWatch) => {
    beside.set(watch, { marks: new CellMarks(watch, trans), facts: new CellFacts(watch) });
    watch.panel.disposed.connect(() => beside.delete(watch));
    apply();
  };
  watches.all.forEach(add);
  watches.added.connect((_, watch) => add(watch));

  const follow = (settings: ISettingRegistry.ISettings) => {
    const isOn = (name: string) => settings.get(name).composite === true;
    wanted = { marks: isOn('markCells'), facts: isOn('saveFacts') };
    watches.always = isOn('watchWhileClosed') || wanted.facts;
    apply();
  };
  registry
    ?.load(PLUGIN_ID)
    .then(settings => {
      settings.changed.connect(follow);
      follow(settings);
    })
    .catch(console.error);
}

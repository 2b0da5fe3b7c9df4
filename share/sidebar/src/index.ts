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

  const marks = new Set<CellMarks>();
  let marking = true;
  const mark = (watch: NotebookWatch) => {
    const added = new CellMarks(watch, trans);
    added.enabled = marking;
    marks.add(added);
    watch.panel.disposed.connect(() => marks.delete(added));
  };
  watches.all.forEach(mark);
  watches.added.connect((_, watch) => mark(watch));

  const follow = (settings: ISettingRegistry.ISettings) => {
    watches.always = settings.get('watchWhileClosed').composite === true;
    marking = settings.get('markCells').composite !== false;
    for (const it of marks) {
      it.enabled = marking;
    }
  };
  registry
    ?.load(PLUGIN_ID)
    .then(settings => {
      settings.changed.connect(follow);
      follow(settings);
    })
    .catch(console.error);
}

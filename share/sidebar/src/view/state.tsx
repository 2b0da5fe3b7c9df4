import * as React from 'react';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { Phase } from '../model';
import type { NotebookWatch } from '../watch';
import type { IView } from './view';

/** Says in a sentence why there is nothing to see, where there is not. */
export function State(props: {
  view: IView;
  watch: NotebookWatch | null;
}): React.JSX.Element | null {
  const { view, watch } = props;
  if (!watch) {
    return (
      <p className="jp-xleak-State">
        {view.trans.__('Open a notebook to see what its cells keep in memory.')}
      </p>
    );
  }
  const { phase, busy } = watch.model;
  const running = watch.rows.some(row => row.running);
  if (phase.is === 'ready') {
    return watch.rows.length > 0 ? null : (
      <p className="jp-xleak-State">
        {view.trans.__('Run a cell to see what it keeps in memory.')}
      </p>
    );
  }
  if (phase.is === 'foreign') {
    return <Foreign view={view} watch={watch} phase={phase} />;
  }
  return (
    <p className="jp-xleak-State" role="status">
      {sentence(phase, busy || running, view.trans)}
    </p>
  );
}

function sentence(phase: Phase, busy: boolean, trans: TranslationBundle): string {
  switch (phase.is) {
    case 'connecting':
      return busy
        ? trans.__('A cell is running. The kernel answers when it has ended.')
        : trans.__('Connecting to the kernel…');
    case 'restarting':
      return trans.__('The kernel restarts. Nothing of before is in its memory any more.');
    case 'dead':
      return trans.__(
        'The kernel is dead, and its memory went with it. Below is what was known of it.'
      );
    case 'disconnected':
      return trans.__('The connection to the kernel is lost. Below is what was known before.');
    case 'failed':
      return trans.__(
        'The kernel failed to start. The log of the Jupyter server says why. Restart it, or choose another one.'
      );
    case 'no_kernel':
      return trans.__('This notebook has no kernel. Choose one to see what its cells keep.');
    case 'unsupported':
      return trans.__(
        'The kernel speaks version %1 of the protocol, and this panel version 1. Install the same xleak beside JupyterLab and beside the kernel.',
        phase.protocol
      );
    default:
      return '';
  }
}

interface IForeignProps {
  view: IView;
  watch: NotebookWatch;
  phase: Phase & { is: 'foreign' };
}

function Foreign({ view, watch, phase }: IForeignProps) {
  const { trans, actions } = view;
  const [running, setRunning] = React.useState(false);
  if (phase.language !== null && phase.language !== 'python') {
    return (
      <p className="jp-xleak-State">
        {trans.__('xleak watches Python kernels. This one runs %1.', phase.language)}
      </p>
    );
  }
  const load = async () => {
    setRunning(true);
    await actions.loadExtension(watch);
    setRunning(false);
  };
  return (
    <div className="jp-xleak-State">
      <p>
        {trans.__(
          'This kernel is not watched. With %load_ext xleak it is: a bar for each cell, findings, and buttons that give memory back.'
        )}
      </p>
      {phase.problem !== null && <p className="jp-xleak-Problem">{phase.problem}</p>}
      <button
        className="jp-xleak-Button jp-mod-primary"
        disabled={running}
        onClick={() => void load()}
      >
        {trans.__('Run %load_ext xleak')}
      </button>
    </div>
  );
}

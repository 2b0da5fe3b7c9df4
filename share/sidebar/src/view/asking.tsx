import { refreshIcon } from '@jupyterlab/ui-components';
import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

/** Whether an answer is waited for, and what asks unless one is. */
export function useAsking(): [boolean, (work: () => Promise<void>) => Promise<void>] {
  const [asking, setAsking] = React.useState(false);
  const ask = async (work: () => Promise<void>) => {
    if (asking) {
      return;
    }
    setAsking(true);
    try {
      await work();
    } finally {
      setAsking(false);
    }
  };
  return [asking, ask];
}

interface IRefreshProps {
  label: string;
  asking: boolean;
  onClick: () => void;
}

/** Asks the kernel for what a section shows. It keeps the focus meanwhile. */
export function RefreshButton({ label, asking, onClick }: IRefreshProps): React.JSX.Element {
  return (
    <button
      className="jp-xleak-IconButton"
      aria-label={label}
      title={label}
      aria-disabled={asking}
      onClick={onClick}
    >
      <refreshIcon.react tag="span" />
    </button>
  );
}

/** Why the answer is not there yet. */
export function waiting(busy: boolean, trans: TranslationBundle): string {
  return busy
    ? trans.__('A cell is running. The kernel answers when it has ended.')
    : trans.__('Measuring…');
}

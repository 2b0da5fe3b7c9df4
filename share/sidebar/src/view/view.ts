import type { TranslationBundle } from '@jupyterlab/translation';
import type { ISignal } from '@lumino/signaling';
import * as React from 'react';
import type { Actions } from '../actions';
import type { Watches } from '../current';

/** What every part of the panel is given. */
export interface IView {
  readonly watches: Watches;
  readonly actions: Actions;
  readonly trans: TranslationBundle;
}

/** Renders again when the signal is emitted. */
export function useSignal(signal: ISignal<unknown, unknown>): void {
  const [, count] = React.useReducer((times: number) => times + 1, 0);
  React.useEffect(() => {
    const slot = () => count();
    signal.connect(slot);
    return () => {
      signal.disconnect(slot);
    };
  }, [signal]);
}

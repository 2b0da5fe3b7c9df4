import { caretDownIcon, caretRightIcon } from '@jupyterlab/ui-components';
import * as React from 'react';

interface ISectionProps {
  label: string;
  kind: 'cells' | 'postmortem' | 'findings' | 'past' | 'journal' | 'names' | 'census' | 'devices';
  /** Whether it is open at first. */
  opened: boolean;
  children: React.ReactNode;
}

/** A part of the panel under a title that opens and closes it. */
export function Section({ label, kind, opened, children }: ISectionProps): React.JSX.Element {
  const [open, setOpen] = React.useState(opened);
  const id = React.useId();
  const Caret = open ? caretDownIcon : caretRightIcon;
  return (
    <section className="jp-xleak-Section" data-kind={kind} data-open={open}>
      <h3>
        <button aria-expanded={open} aria-controls={id} onClick={() => setOpen(!open)}>
          <Caret.react tag="span" />
          {label}
        </button>
      </h3>
      <div id={id} hidden={!open}>
        {open && children}
      </div>
    </section>
  );
}

import type { TranslationBundle } from '@jupyterlab/translation';
import type { LastSession as Died } from '../contract/messages';
import { Prose } from './prose';
import { Sparkline } from './sparkline';

interface ILastSessionProps {
  /** Nothing was told of a session that left no record. */
  died: Died | undefined;
  trans: TranslationBundle;
}

/** How the kernel before this one ended, by the record that it left. */
export function LastSession({ died, trans }: ILastSessionProps): React.JSX.Element | null {
  if (!died) {
    return null;
  }
  const sizes = died.sizes.map(([, bytes]) => bytes ?? null);
  return (
    <article
      className="jp-xleak-Finding jp-xleak-Died"
      data-severity="error"
      aria-label={trans.__('The kernel before this one died')}
    >
      <header>
        <span className="jp-xleak-slug">{trans.__('The kernel before this one died')}</span>
      </header>
      <p>
        <Prose text={died.sentence} />
      </p>
      <Sparkline
        sizes={sizes}
        seconds={died.sizes.map(([seconds]) => seconds ?? 0)}
        label={trans.__('Memory of the process while the last cell ran')}
      />
      <p className="jp-xleak-quiet">{causeOf(died, trans)}</p>
      {died.code !== null && (
        <details>
          <summary>{trans.__('The cell that ran')}</summary>
          <pre className="jp-xleak-Listing" tabIndex={0}>
            {died.code}
          </pre>
        </details>
      )}
    </article>
  );
}

function causeOf({ cause }: Died, trans: TranslationBundle): string {
  switch (cause) {
    case 'out_of_memory':
      return trans.__('likely cause: out of memory');
    case 'signal':
      return trans.__('cause: a signal');
    default:
      return trans.__('cause: unknown');
  }
}

import { humanBytes } from '../format';

/** Sizes in bytes under their labels; null where one is unknown. */
export function Figures({
  of
}: {
  of: readonly (readonly [string, number | null])[];
}): React.JSX.Element {
  return (
    <dl className="jp-xleak-Figures">
      {of.map(([label, size]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{humanBytes(size)}</dd>
        </div>
      ))}
    </dl>
  );
}

import { scaleLinear } from 'd3-scale';
import { area, curveStepAfter, line } from 'd3-shape';

const WIDTH = 240;
const HEIGHT = 34;

interface ISparklineProps {
  /** null where it is unknown. */
  sizes: readonly (number | null)[];
  /** When each was measured, rising; at equal distances without it. */
  seconds?: readonly number[];
  label: string;
}

/** How large the process was, from zero. */
export function Sparkline({ sizes, seconds, label }: ISparklineProps): React.JSX.Element | null {
  const known = sizes.filter(size => size !== null);
  if (known.length < 2) {
    return null;
  }
  const places = seconds ?? [...sizes.keys()];
  const x = scaleLinear([places[0] ?? 0, places[sizes.length - 1] ?? 0], [0, WIDTH]);
  const xAt = (_: unknown, at: number) => x(places[at] ?? 0);
  const y = scaleLinear([0, Math.max(...known)], [HEIGHT - 1, 2]);
  const points = [...sizes];
  const isKnown = (size: number | null) => size !== null;
  const outline = line<number | null>(xAt, size => y(size ?? 0)).defined(isKnown);
  const fill = area<number | null>(xAt, HEIGHT, size => y(size ?? 0)).defined(isKnown);
  if (!seconds) {
    outline.curve(curveStepAfter);
    fill.curve(curveStepAfter);
  }
  return (
    <svg
      className="jp-xleak-Sparkline"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <path className="jp-xleak-area" d={fill(points) ?? ''} />
      <path className="jp-xleak-line" d={outline(points) ?? ''} />
    </svg>
  );
}

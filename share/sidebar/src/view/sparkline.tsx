import { scaleLinear } from 'd3-scale';
import { area, curveStepAfter, line } from 'd3-shape';

const WIDTH = 240;
const HEIGHT = 34;

interface ISparklineProps {
  /** One size a cell; null where it is unknown. */
  sizes: readonly (number | null)[];
  label: string;
}

/** How large the process was after each cell, from zero. */
export function Sparkline({ sizes, label }: ISparklineProps): React.JSX.Element | null {
  const known = sizes.filter(size => size !== null);
  if (known.length < 2) {
    return null;
  }
  const x = scaleLinear([0, sizes.length - 1], [0, WIDTH]);
  const y = scaleLinear([0, Math.max(...known)], [HEIGHT - 1, 2]);
  const points = [...sizes];
  const isKnown = (size: number | null) => size !== null;
  const outline = line<number | null>(
    (_, at) => x(at),
    size => y(size ?? 0)
  )
    .defined(isKnown)
    .curve(curveStepAfter);
  const fill = area<number | null>(
    (_, at) => x(at),
    HEIGHT,
    size => y(size ?? 0)
  )
    .defined(isKnown)
    .curve(curveStepAfter);
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

import type { ScaleLinear } from 'd3-scale';
import { scaleLinear } from 'd3-scale';
import type { ICellRow } from '../rows';
import { barBytes, climbBytes, shownBytes } from '../rows';

/** Bytes to percent of the width. */
export type ByteScale = ScaleLinear<number, number>;

/** The scale on which every bar and tick fits, zero included. */
export function scaleOf(rows: readonly ICellRow[]): ByteScale {
  const sizes = [0];
  for (const { live, latest } of rows) {
    if (live) {
      sizes.push(live.resident_bytes - live.resident_before_bytes);
    }
    if (latest) {
      const onDevices = latest.devices.map(use => use.allocated_kept_bytes);
      sizes.push(...[barBytes(latest), climbBytes(latest), ...onDevices].map(size => size ?? 0));
    }
  }
  const low = Math.min(...sizes);
  const high = Math.max(...sizes);
  // The tick of the highest peak is wholly inside.
  return scaleLinear([low, high > low ? high : low + 1], [0, 99]);
}

/** What a cell kept, from zero to the right, or gave back, hatched and to the left; its peak as a tick. */
export function Bar({ row, x }: { row: ICellRow; x: ByteScale }): React.JSX.Element {
  const { running, live, latest } = row;
  const kept = shownBytes(row);
  const climb = running || !latest ? null : climbBytes(latest);
  const returned = kept === null ? 0 : Math.min(row.returnedBytes, Math.max(0, kept));
  return (
    <svg className="jp-xleak-Bar" aria-hidden="true">
      {kept !== null && kept < 0 && <Piece kind="freed" from={kept} to={0} x={x} />}
      {kept !== null && kept > returned && (
        <Piece kind={live ? 'live' : 'kept'} from={0} to={kept - returned} x={x} />
      )}
      {kept !== null && returned > 0 && (
        <Piece kind="returned" from={kept - returned} to={kept} x={x} />
      )}
      <line className="jp-xleak-zero" x1={`${x(0)}%`} x2={`${x(0)}%`} y1="0" y2="100%" />
      {climb !== null && climb > 0 && (
        <line className="jp-xleak-tick" x1={`${x(climb)}%`} x2={`${x(climb)}%`} y1="15%" y2="85%" />
      )}
    </svg>
  );
}

/** What a cell kept on a device, on the same scale. */
export function DeviceBar({ kept, x }: { kept: number | null; x: ByteScale }): React.JSX.Element {
  return (
    <svg className="jp-xleak-Bar jp-mod-device" aria-hidden="true">
      {kept !== null && kept !== 0 && (
        <Piece
          kind={kept < 0 ? 'freed' : 'device'}
          from={Math.min(0, kept)}
          to={Math.max(0, kept)}
          x={x}
        />
      )}
    </svg>
  );
}

interface IPieceProps {
  kind: 'kept' | 'freed' | 'live' | 'returned' | 'device';
  from: number;
  to: number;
  x: ByteScale;
}

function Piece({ kind, from, to, x }: IPieceProps) {
  return (
    <rect
      className={`jp-xleak-${kind}`}
      x={`${x(from)}%`}
      width={`${Math.max(0.4, x(to) - x(from))}%`}
      y="22%"
      height="56%"
    />
  );
}

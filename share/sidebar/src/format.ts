/** Numbers as people read them, the same as in the kernel's own reports. */

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
export const UNKNOWN = '?';

/** A size such as `64 MiB`; `?` where it is unknown. */
export function humanBytes(size: number | null | undefined): string {
  if (size === null || size === undefined) {
    return UNKNOWN;
  }
  let value = Math.abs(size);
  let unit = 0;
  // 1023.95 KiB would be shown as 1024 KiB.
  while (value >= 1023.95 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  const digits = value < 100 ? value.toFixed(1).replace(/\.0$/, '') : value.toFixed(0);
  return `${size < 0 ? '−' : ''}${digits} ${UNITS[unit]}`;
}

/** A change such as `+64 MiB`. */
export function signedBytes(size: number | null | undefined): string {
  return `${size && size > 0 ? '+' : ''}${humanBytes(size)}`;
}

/** A time such as `0.42 s`. */
export function humanSeconds(seconds: number | null): string {
  if (seconds === null) {
    return UNKNOWN;
  }
  if (seconds < 99.95) {
    return `${seconds.toFixed(seconds < 9.995 ? 2 : 1)} s`;
  }
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

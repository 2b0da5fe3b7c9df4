import type { IEdit } from './protocol';

/** A cell's source with the edits made; null where they do not fit it. Positions are UTF-8 bytes. */
export function withEdits(source: string, edits: readonly IEdit[]): string | null {
  const bytes = new TextEncoder().encode(source);
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let result = '';
  let at = 0;
  try {
    for (const edit of [...edits].sort((a, b) => a.start - b.start || a.stop - b.stop)) {
      if (edit.start < at || edit.stop > bytes.length) {
        return null;
      }
      result += decoder.decode(bytes.subarray(at, edit.start)) + edit.text;
      at = edit.stop;
    }
    return result + decoder.decode(bytes.subarray(at));
  } catch {
    return null;
  }
}

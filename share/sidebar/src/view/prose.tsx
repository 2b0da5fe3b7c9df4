/** A sentence of the kernel's, with what stands between backticks as code. */
export function Prose({ text }: { text: string }): React.JSX.Element {
  const parts = text.split('`');
  const paired = parts.length % 2 === 1;
  return (
    <>{parts.map((part, at) => (paired && at % 2 === 1 ? <code key={at}>{part}</code> : part))}</>
  );
}

/** The pattern of what was given back, once for all bars. */
export function Hatch(): React.JSX.Element {
  return (
    <svg className="jp-xleak-Hatch" aria-hidden="true" width="0" height="0">
      <defs>
        <pattern
          id="jp-xleak-hatch"
          width="5"
          height="5"
          patternUnits="userSpaceOnUse"
          patternTransform="rotate(45)"
        >
          <rect className="jp-xleak-hatchBack" width="5" height="5" />
          <line className="jp-xleak-hatchLine" x1="0" y1="0" x2="0" y2="5" />
        </pattern>
      </defs>
    </svg>
  );
}

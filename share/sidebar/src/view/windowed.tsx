import { useVirtualizer } from '@tanstack/react-virtual';
import * as React from 'react';

interface IWindowedProps<T> {
  items: readonly T[];
  keyOf: (item: T, at: number) => React.Key;
  /** The height of an item in pixels; where they are measured a usual one. */
  heightOf: (item: T) => number;
  /** Whether the height of each is measured once it is drawn. */
  measured?: boolean;
  /** The place of an item that comes into view when it becomes another one. */
  inView?: number;
  /** Attributes of the element that scrolls. */
  list: React.HTMLAttributes<HTMLDivElement>;
  /** Attributes of an item's element, and what stands in it. */
  slot: (item: T, at: number) => React.HTMLAttributes<HTMLDivElement> & Data;
}

type Data = Record<`data-${string}`, string | boolean | null>;

/** A list of any length, of which no more is drawn than what is in view. */
export function Windowed<T>(props: IWindowedProps<T>): React.JSX.Element {
  const { items, keyOf, heightOf, measured = false, inView, list, slot } = props;
  const scrolled = React.useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => scrolled.current,
    estimateSize: at => heightOf(items[at] as T),
    getItemKey: at => keyOf(items[at] as T, at),
    overscan: measured ? 4 : 8
  });
  React.useEffect(() => {
    if (inView !== undefined) {
      virtual.scrollToIndex(inView);
    }
  }, [virtual, inView]);
  const height = virtual.getTotalSize();
  return (
    <div ref={scrolled} {...list} className="jp-xleak-Scroll" style={{ flexBasis: height }}>
      <div role="presentation" style={{ height, position: 'relative' }}>
        {virtual.getVirtualItems().map(item => {
          const { className = '', ...attributes } = slot(items[item.index] as T, item.index);
          return (
            <div
              key={item.key}
              ref={measured ? virtual.measureElement : null}
              {...attributes}
              className={`jp-xleak-slot ${className}`}
              data-index={item.index}
              style={{
                ...(measured ? {} : { height: item.size }),
                transform: `translateY(${item.start}px)`
              }}
            />
          );
        })}
      </div>
    </div>
  );
}

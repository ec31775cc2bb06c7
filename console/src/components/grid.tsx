// A table of any number of rows, of which only those in sight are in the document.  Arrows, Page Up and Down, Home and End move;
// Enter opens a row, Space selects it.
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

export interface Column {
  id: string;
  title: ComponentChildren;
  name?: string; // of the column, where the title is no text
  width: number;
  pinned?: boolean;
  align?: "right";
  sort?: "asc" | "desc" | null;
}
interface Props {
  label: string;
  columns: Column[];
  count: number;
  cell: (row: number, column: Column) => ComponentChildren;
  rowKey?: (row: number) => string;
  rowClass?: (row: number) => string;
  onOpen?: (row: number) => void;
  onSort?: (column: Column) => void;
  onResize?: (column: Column, width: number) => void;
  onEnd?: () => void; // the last rows are in sight
  selected?: { has: (row: number) => boolean; toggle: (row: number, range: boolean) => void; all?: { on: boolean; toggle: () => void } };
  rowHeight?: number;
  footer?: ComponentChildren;
}

export function Grid({ label, columns, count, cell, rowKey, rowClass, onOpen, onSort, onResize, onEnd, selected, rowHeight = 30, footer }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 600 });
  const [active, setActive] = useState(0);
  const headHeight = 32;

  useLayoutEffect(() => {
    const element = box.current!;
    const read = () => setView((old) => {
      const next = { top: element.scrollTop, height: element.clientHeight };
      return Math.abs(old.top - next.top) < rowHeight && old.height === next.height ? old : next;
    });
    read();
    const sizes = new ResizeObserver(read);
    sizes.observe(element);
    element.addEventListener("scroll", read, { passive: true });
    return () => {
      sizes.disconnect();
      element.removeEventListener("scroll", read);
    };
  }, []);

  const first = Math.max(0, Math.floor(view.top / rowHeight) - 8);
  const last = Math.min(count, Math.ceil((view.top + view.height) / rowHeight) + 8);
  useEffect(() => {
    if (onEnd && last >= count - 20) onEnd();
  }, [last, count, onEnd]);

  const current = Math.min(active, Math.max(0, count - 1));
  const reveal = (row: number) => {
    const element = box.current!;
    const top = row * rowHeight;
    const room = element.clientHeight - headHeight;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + rowHeight > element.scrollTop + room) element.scrollTop = top + rowHeight - room;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== box.current || !count) return;
    const page = Math.max(1, Math.floor((view.height - headHeight) / rowHeight) - 1);
    const next = {
      ArrowDown: current + 1, ArrowUp: current - 1, PageDown: current + page, PageUp: current - page,
      Home: event.ctrlKey || event.metaKey || !event.shiftKey ? 0 : current, End: count - 1,
    }[event.key];
    if (next !== undefined) {
      event.preventDefault();
      const row = Math.max(0, Math.min(count - 1, next));
      setActive(row);
      reveal(row);
    } else if (event.key === "Enter" && onOpen) {
      event.preventDefault();
      onOpen(current);
    } else if (event.key === " " && selected) {
      event.preventDefault();
      selected.toggle(current, event.shiftKey);
    } else if ((event.key === "ArrowRight" || event.key === "ArrowLeft") && box.current!.scrollWidth > box.current!.clientWidth) {
      box.current!.scrollLeft += event.key === "ArrowRight" ? 80 : -80;
    }
  };

  const resize = (event: PointerEvent, column: Column) => {
    event.preventDefault();
    event.stopPropagation();
    const from = event.clientX;
    const handle = event.currentTarget as HTMLElement;
    handle.setPointerCapture(event.pointerId);
    const move = (moved: PointerEvent) => onResize!(column, Math.max(60, Math.min(1200, column.width + moved.clientX - from)));
    handle.addEventListener("pointermove", move);
    handle.addEventListener("pointerup", () => handle.removeEventListener("pointermove", move), { once: true });
  };

  // Pinned columns come first and stay where they are.
  const ordered = [...columns.filter((c) => c.pinned), ...columns.filter((c) => !c.pinned)];
  const widths = (selected ? [36] : []).concat(ordered.map((c) => c.width));
  const template = widths.map((w) => `${w}px`).join(" ") + " minmax(0, 1fr)";
  const total = widths.reduce((a, b) => a + b, 0);
  let left = selected ? 36 : 0;
  const pins = ordered.map((column) => {
    if (!column.pinned) return undefined;
    const at = left;
    left += column.width;
    return { left: `${at}px` };
  });
  const rows = [];
  for (let row = first; row < last; row++) {
    const isSelected = selected?.has(row) ?? false;
    rows.push(
      <div role="row" key={rowKey ? rowKey(row) : row} aria-rowindex={row + 2} aria-selected={selected ? isSelected : undefined}
        class={`grid-row ${row === current ? "current" : ""} ${isSelected ? "selected" : ""} ${row % 2 ? "odd" : ""} ${rowClass?.(row) ?? ""}`}
        style={{ transform: `translateY(${row * rowHeight}px)`, height: `${rowHeight}px`, gridTemplateColumns: template }}
        onClick={(event) => {
          setActive(row);
          if ((event.target as Element).closest("a, button, input, label")) return;
          if (String(getSelection())) return; // text is being selected
          if (event.shiftKey && selected) selected.toggle(row, true);
          else onOpen?.(row);
        }}>
        {selected && (
          <div role="gridcell" class="grid-cell pick">
            <input type="checkbox" tabIndex={-1} aria-label={`Select row ${row + 1}`} checked={isSelected}
              onClick={(event) => { event.stopPropagation(); selected.toggle(row, event.shiftKey); }} />
          </div>
        )}
        {ordered.map((column, i) => (
          <div role="gridcell" key={column.id} class={`grid-cell ${column.pinned ? "pinned" : ""} ${column.align ?? ""}`} style={pins[i]}>{cell(row, column)}</div>
        ))}
        <div class="grid-cell filler" aria-hidden="true" />
      </div>,
    );
  }
  return (
    <div class="grid" role="grid" aria-label={label} aria-rowcount={count + 1} tabIndex={0} ref={box} onKeyDown={onKeyDown}>
      <div role="rowgroup" class="grid-head" style={{ minWidth: `${total}px` }}>
        <div role="row" class="grid-row" aria-rowindex={1} style={{ gridTemplateColumns: template, height: `${headHeight}px` }}>
          {selected && (
            <div role="columnheader" class="grid-cell pick">
              {selected.all && <input type="checkbox" tabIndex={-1} aria-label="Select all loaded rows" checked={selected.all.on} onChange={selected.all.toggle} />}
            </div>
          )}
          {ordered.map((column, i) => (
            <div role="columnheader" key={column.id} class={`grid-cell ${column.pinned ? "pinned" : ""} ${column.align ?? ""}`} style={pins[i]}
              aria-sort={column.sort === "asc" ? "ascending" : column.sort === "desc" ? "descending" : undefined}>
              {onSort && column.sort !== undefined ? (
                <button type="button" class="grid-sort" tabIndex={-1} onClick={() => onSort(column)}>{column.title}{column.sort && <span aria-hidden="true">{column.sort === "asc" ? " ↑" : " ↓"}</span>}</button>
              ) : column.title}
              {onResize && <span class="grid-resize" onPointerDown={(event) => resize(event, column)} />}
            </div>
          ))}
          <div class="grid-cell filler" aria-hidden="true" />
        </div>
      </div>
      <div role="rowgroup" class="grid-body" style={{ height: `${count * rowHeight}px`, minWidth: `${total}px` }}>{rows}</div>
      {footer && <div class="grid-foot">{footer}</div>}
    </div>
  );
}

// Drawn on a grid of 16, one line thick.
const shapes = {
  table: "M2 3.5h12v9H2zM2 6.5h12M6 6.5v6",
  items: "M3 4h10M3 8h10M3 12h10",
  code: "M5.5 4.5 2 8l3.5 3.5M10.5 4.5 14 8l-3.5 3.5",
  model: "M2.5 2.5h4v4h-4zM9.5 9.5h4v4h-4zM6.5 4.5H11.5V9.5",
  live: "M1.5 8h3l2-5 3 10 2-5h3",
  stream: "M2 5c2-2 4 2 6 0s4 2 6 0M2 10.5c2-2 4 2 6 0s4 2 6 0",
  tree: "M3 2.5v11M3 5h4M3 11h4M9 5h4M9 11h4",
  search: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.5 10.5 14 14",
  plus: "M8 3v10M3 8h10",
  close: "M4 4l8 8M12 4l-8 8",
  check: "M3 8.5 6.5 12 13 4.5",
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  trash: "M2.5 4.5h11M6 4.5v-2h4v2M4 4.5l.7 9h6.6l.7-9",
  edit: "M3 13l.8-3.2L10.6 3l2.4 2.4-6.8 6.8z",
  down: "M4 6l4 4 4-4",
  right: "M6 4l4 4-4 4",
  left: "M10 4 6 8l4 4",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  menu: "M2.5 4.5h11M2.5 8h11M2.5 11.5h11",
  stop: "M4.5 4.5h7v7h-7z",
  play: "M5 3.5 12.5 8 5 12.5z",
  star: "M8 2.2l1.8 3.7 4 .6-2.9 2.8.7 4L8 11.4l-3.6 1.9.7-4L2.2 6.5l4-.6z",
  clock: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM8 5v3.2l2 1.3",
  sun: "M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6zM8 1.5v1.3M8 13.2v1.3M1.5 8h1.3M13.2 8h1.3M3.4 3.4l.9.9M11.7 11.7l.9.9M12.6 3.4l-.9.9M4.3 11.7l-.9.9",
  moon: "M13.5 9.6A5.8 5.8 0 0 1 6.4 2.5a5.8 5.8 0 1 0 7.1 7.1z",
  system: "M2 3h12v8H2zM6 13.5h4",
  pin: "M6 2.5h4l-.5 4 2 2.5h-7l2-2.5zM8 9v4.5",
  eye: "M1.5 8S4 3.8 8 3.8 14.5 8 14.5 8 12 12.2 8 12.2 1.5 8 1.5 8zM8 6.3a1.7 1.7 0 1 0 0 3.4 1.7 1.7 0 0 0 0-3.4z",
  warn: "M8 2.5 14.5 13.5h-13zM8 6.5v3.2M8 11.6h.01",
  info: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM8 7.2v3.6M8 5h.01",
  download: "M8 2.5v7.5M4.8 7 8 10.2 11.2 7M3 13.5h10",
  upload: "M8 10.5V3M4.8 6 8 2.8 11.2 6M3 13.5h10",
  refresh: "M13 8a5 5 0 1 1-1.6-3.7M13 2.5v3h-3",
  link: "M6.5 9.5l3-3M7 5l1.8-1.8a2.5 2.5 0 0 1 3.6 3.6L10.6 8.6M9 11l-1.8 1.8a2.5 2.5 0 0 1-3.6-3.6L5.4 7.4",
  columns: "M2.5 3h11v10h-11zM6.2 3v10M9.8 3v10",
  key: "M10.5 2.5a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM8.2 7.8 2.5 13.5M4.5 11.5l1.8 1.8",
  out: "M6.5 2.5h-4v11h4M9.5 5l3 3-3 3M12 8H6",
} as const;
export type IconName = keyof typeof shapes;

export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg class="icon" width={size} height={size} viewBox="0 0 16 16" fill="none" stroke="currentColor" stroke-width={name === "more" ? 2.2 : 1.4}
      stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">
      <path d={shapes[name]} />
    </svg>
  );
}

import { useEffect, useRef, useState } from "preact/hooks";
import type { Numbers } from "../../api/live";
import { Notice } from "../../components/ui";
import { bytes, count } from "../../lib/format";
import { theme } from "../../state";
import type { Plot } from "./plot";
import type { Sample } from "./samples";

interface Series {
  name: string;
  colour: string;
  of: (sample: Sample) => number | null;
}
interface Chart {
  title: string;
  series: Series[];
  format: (value: number) => string;
  least?: number; // that the axis shows
}
const rate = (value: number) => (value >= 100 ? count(Math.round(value)) : value.toFixed(value >= 10 ? 0 : 1));
const ms = (value: number) => `${value >= 10 ? Math.round(value) : value.toFixed(2)} ms`;
const charts: Chart[] = [
  { title: "Requests per second", format: rate, series: [{ name: "requests", colour: "--e0", of: (one) => one.requests }, { name: "errors", colour: "--bad", of: (one) => one.errors }] },
  { title: "Time of a request", format: ms, series: [{ name: "p50", colour: "--e1", of: (one) => one.p50 }, { name: "p99", colour: "--e2", of: (one) => one.p99 }] },
  { title: "Commits per second", format: rate, series: [{ name: "commits", colour: "--e3", of: (one) => one.commits }] },
  { title: "Memory of the process", format: (value) => bytes(Math.round(value)), series: [{ name: "memory", colour: "--e6", of: (one) => one.memory }] },
  { title: "Storage", format: (value) => bytes(Math.round(value)), series: [{ name: "storage", colour: "--e5", of: (one) => one.storage }] },
  { title: "Connections to the API", format: (value) => count(Math.round(value)), least: 4, series: [{ name: "connections", colour: "--e7", of: (one) => one.connections }] },
];

export function Charts({ samples, numbers }: { samples: Sample[]; numbers: Numbers }) {
  const last = samples[samples.length - 1]!;
  const operations = [...numbers.byOperation].sort((a, b) => b.requests - a.requests);
  return (
    <>
      <div class="charts">
        {charts.map((chart) => (
          <figure class="card chart" key={chart.title}>
            <figcaption>
              <h2>{chart.title}</h2>
              <span class="row">{chart.series.map((one) => { const value = one.of(last); return <span key={one.name} class="legend"><i style={{ background: `var(${one.colour})` }} />{one.name} <strong>{value === null ? "–" : chart.format(value)}</strong></span>; })}</span>
            </figcaption>
            <Canvas chart={chart} samples={samples} />
          </figure>
        ))}
      </div>
      <p class="hint">{count(numbers.requests)} requests and {count(numbers.errors)} errors since the server started. Memory may grow to {bytes(numbers.memoryLimit)} (<code>memory_limit</code>).</p>
      {operations.length > 0 && <div class="table-box" tabIndex={0} role="group" aria-label="Operations">
        <table class="plain">
          <thead><tr><th>Operation</th><th class="right">Requests</th><th class="right">Errors</th></tr></thead>
          <tbody>{operations.map((one) => <tr key={one.operation}><td>{one.operation}</td><td class="right">{count(one.requests)}</td><td class="right">{count(one.errors)}</td></tr>)}</tbody>
        </table>
      </div>}
    </>
  );
}

// The drawing of a chart; its values are beside its title as text.
function Canvas({ chart, samples }: { chart: Chart; samples: Sample[] }) {
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<Plot | null>(null);
  const [failed, setFailed] = useState(false);
  const data = [samples.map((one) => one.at), ...chart.series.map((series) => samples.map(series.of))];
  const latest = useRef(data);
  latest.current = data;
  useEffect(() => {
    let gone = false;
    import("./plot").then(
      ({ makePlot }) => {
        if (gone || !host.current) return;
        plot.current = makePlot(host.current, chart.series, chart.format, chart.least ?? 1, latest.current);
      },
      () => setFailed(true),
    );
    return () => {
      gone = true;
      plot.current?.destroy();
      plot.current = null;
    };
  }, [theme.value]);
  useEffect(() => plot.current?.set(data), [samples]);
  if (failed) return <Notice tone="bad">The chart cannot be drawn: its code cannot be loaded. Load the page again.</Notice>;
  return <div class="chart-host" ref={host} role="img" aria-label={`${chart.title} over the last minutes`} />;
}

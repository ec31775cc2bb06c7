// The charts' library, loaded when a chart is drawn first.
import uPlot from "uplot";

type Data = (number | null)[][];
export interface Plot {
  set: (data: Data) => void;
  destroy: () => void;
}

export function makePlot(host: HTMLElement, series: { name: string; colour: string }[], format: (value: number) => string, least: number, data: Data): Plot {
  const style = getComputedStyle(host);
  // A canvas does not know light-dark(): the browser computes the colour.
  const colour = (name: string) => {
    host.style.color = `var(${name})`;
    const value = getComputedStyle(host).color;
    host.style.color = "";
    return value;
  };
  const axis = { stroke: colour("--muted"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false }, font: `11px ${style.fontFamily}` };
  const plot = new uPlot({
    width: Math.max(200, host.clientWidth), height: 160, legend: { show: false }, cursor: { y: false, points: { size: 6 } }, padding: [8, 28, 0, 0],
    scales: { x: { time: true, range: (_, low, high) => [Math.min(low, high - 60), high] }, y: { range: (_, __, high) => [0, Math.max(least, high * 1.1)] } },
    axes: [{ ...axis, space: 90, size: 26, values: (_, times) => times.map((time) => new Date(time * 1000).toTimeString().slice(0, 8)) }, { ...axis, size: 64, values: (_, values) => values.map(format) }],
    series: [{}, ...series.map((one) => ({ label: one.name, stroke: colour(one.colour), width: 1.5, points: { show: false }, spanGaps: false }))],
  }, data as uPlot.AlignedData, host);
  const sizes = new ResizeObserver(() => plot.setSize({ width: Math.max(200, host.clientWidth), height: 160 }));
  sizes.observe(host);
  return {
    set: (next) => plot.setData(next as uPlot.AlignedData),
    destroy: () => {
      sizes.disconnect();
      plot.destroy();
    },
  };
}

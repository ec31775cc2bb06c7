// Where the entities of a model stand in its picture.  Loaded when a picture is drawn first.
import dagre from "@dagrejs/dagre";
import type { ModelView } from "../../api/models";

export interface Node {
  name: string;
  x: number; // of its top left corner
  y: number;
  width: number;
  height: number;
}
export interface Edge {
  from: string;
  to: string;
  kind: string;
  labels: string[];
  points: { x: number; y: number }[];
}
export interface Layout {
  width: number;
  height: number;
  nodes: Node[];
  edges: Edge[];
}

export function layOut(model: ModelView, kinds: readonly string[], size: (entity: string) => { width: number; height: number }): Layout {
  const graph = new dagre.graphlib.Graph({ multigraph: true });
  graph.setGraph({ rankdir: "TB", nodesep: 20, ranksep: 44, marginx: 12, marginy: 12 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { name } of model.entities) graph.setNode(name, { ...size(name) });
  const edges = new Map<string, Edge>();
  for (const { from, to, kind, label } of model.relations) {
    if (kind === "unique" || from === to || !kinds.includes(kind)) continue;
    const key = `${from} ${to} ${kind}`;
    const edge = edges.get(key) ?? { from, to, kind, labels: [], points: [] };
    edge.labels.push(label);
    edges.set(key, edge);
  }
  // Parents stand above their children, whatever the direction of an arrow.
  for (const [key, { from, to, kind }] of edges) {
    const [above, below] = kind === "copy" ? [from, to] : [to, from];
    graph.setEdge(above, below, { weight: kind === "parent" ? 3 : 1 }, key);
  }
  dagre.layout(graph);
  const nodes = model.entities.map(({ name }) => {
    const { x, y, width, height } = graph.node(name);
    return { name, x: x - width / 2, y: y - height / 2, width, height };
  });
  for (const [key, edge] of edges) {
    const [above, below] = edge.kind === "copy" ? [edge.from, edge.to] : [edge.to, edge.from];
    const points = graph.edge({ v: above, w: below, name: key }).points as { x: number; y: number }[];
    edge.points = edge.kind === "copy" ? points : [...points].reverse();
  }
  const { width = 0, height = 0 } = graph.graph();
  return { width, height, nodes, edges: [...edges.values()] };
}

// Bundles the console.
//
//   node build.mjs --out FOLDER [--modules FOLDER]    the files of the page, compressed, as one file and a table in C++
//   node build.mjs --serve [--to URL] [--port N]      for development: bundles on every change, and passes calls to a
//                                                     running server (default http://127.0.0.1:8001)
//
// The packages are found in node_modules beside this file, or in the folder of --modules.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import http from "node:http";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const here = dirname(fileURLToPath(import.meta.url));
const option = (name) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? undefined : process.argv[at + 1] ?? "";
};
const modules = resolve(option("modules") ?? join(here, "node_modules"));
const esbuild = createRequire(join(modules, "package.json"))("esbuild");

const serving = process.argv.includes("--serve");
const settings = {
  entryPoints: { main: join(here, "src/main.tsx") },
  absWorkingDir: here,
  nodePaths: [modules],
  outdir: join(here, "out"), // nothing is written there; names are relative to it
  write: false,
  bundle: true,
  splitting: true,
  format: "esm",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  minify: !serving,
  sourcemap: serving ? "inline" : false,
  entryNames: "[name]-[hash]",
  chunkNames: "[name]-[hash]",
  assetNames: "[name]-[hash]",
  metafile: true,
  legalComments: "none",
  logLevel: "warning",
};
const types = { html: "text/html; charset=utf-8", js: "text/javascript; charset=utf-8", css: "text/css; charset=utf-8", svg: "image/svg+xml" };
const type = (name) => types[name.slice(name.lastIndexOf(".") + 1)] ?? "application/octet-stream";

// The files of the page by name, and the names of those that a first visit loads.
async function bundle() {
  const { outputFiles, metafile } = await esbuild.build(settings);
  const files = new Map(outputFiles.map((file) => [file.path.slice(file.path.lastIndexOf("/") + 1), Buffer.from(file.contents)]));
  const base = (path) => path.slice(path.lastIndexOf("/") + 1);
  const outputs = new Map(Object.entries(metafile.outputs).map(([path, output]) => [base(path), output]));
  const entry = [...outputs].find(([, output]) => output.entryPoint === "src/main.tsx");
  const first = new Set();
  const visit = (name) => {
    if (first.has(name)) return;
    first.add(name);
    for (const { path, kind } of outputs.get(name).imports) if (kind === "import-statement") visit(base(path));
  };
  visit(entry[0]);
  const style = base(entry[1].cssBundle);
  first.add(style);
  const preloads = [...first].filter((name) => name.endsWith(".js") && name !== entry[0]).map((name) => `<link rel="modulepreload" href="/assets/${name}">`);
  const page = readFileSync(join(here, "index.html"), "utf8").replace(
    "<!-- assets -->",
    [`<link rel="stylesheet" href="/assets/${style}">`, ...preloads, `<script type="module" src="/assets/${entry[0]}"></script>`].join("\n"),
  );
  files.set("index.html", Buffer.from(page));
  return { files, first: ["index.html", ...first] };
}

async function write(folder) {
  const { files, first } = await bundle();
  mkdirSync(folder, { recursive: true });
  const blob = [];
  const rows = [];
  const listed = [];
  let offset = 0;
  for (const [name, content] of [...files].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const gzip = gzipSync(content, { level: 9 });
    const etag = createHash("sha256").update(content).digest("hex").slice(0, 16);
    rows.push(`    {.name = "${name}", .content_type = "${type(name)}", .etag = "\\"${etag}\\"", .gzip = bytes(${offset}, ${gzip.length}), .size = ${content.length}},`);
    listed.push({ name, bytes: gzip.length, first: first.includes(name) });
    blob.push(gzip);
    offset += gzip.length;
  }
  const bin = join(folder, "assets.bin");
  writeFileSync(bin, Buffer.concat(blob));
  writeFileSync(join(folder, "manifest.json"), JSON.stringify(listed, null, 1) + "\n");
  writeFileSync(join(folder, "assets.cc"), `// Made by console/build.mjs.
#include "stator/console/assets.h"

asm(".pushsection .rodata\\n.balign 16\\n.globl stator_console_assets\\nstator_console_assets:\\n.incbin \\"${bin}\\"\\n.popsection\\n");
extern "C" const char stator_console_assets[];

namespace stator::console {
namespace {
std::string_view bytes(std::size_t offset, std::size_t size) { return {stator_console_assets + offset, size}; }
}  // namespace

std::span<const Asset> assets() {
  static const Asset kFiles[] = {
${rows.join("\n")}
  };
  return kFiles;
}
}  // namespace stator::console
`);
}

// Bundles on every load of the page, so that a reload shows what was changed.
async function serve() {
  const to = new URL(option("to") ?? "http://127.0.0.1:8001");
  let files = new Map();
  const reserved = /^\/(api|session|console|health|metrics|systems)(\/|$)/;
  const server = http.createServer(async (request, response) => {
    const { pathname } = new URL(request.url, "http://localhost");
    if (reserved.test(pathname)) {
      const headers = { ...request.headers, host: to.host };
      if (headers.origin) headers.origin = to.origin;
      const passed = http.request(new URL(request.url, to), { method: request.method, headers }, (answer) => {
        response.writeHead(answer.statusCode, answer.headers);
        answer.pipe(response);
      });
      passed.on("error", () => response.destroy());
      request.pipe(passed);
      return;
    }
    try {
      const name = pathname.startsWith("/assets/") ? pathname.slice(8) : "index.html";
      if (name === "index.html") ({ files } = await bundle());
      const file = files.get(name);
      response.writeHead(file ? 200 : 404, { "Content-Type": type(name), "Cache-Control": "no-cache",
        "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'" });
      response.end(file);
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  server.listen(Number(option("port") ?? 8002), "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}, with ${to}`));
}

if (serving) await serve();
else if (option("out")) await write(resolve(option("out")));
else {
  console.error("build.mjs: --out FOLDER or --serve");
  process.exit(2);
}

// What the tests of the console share: a server, a browser, and tests with sentences for names.
//
//   const server = await start();            a `stator up` of its own; server.console and server.api are addresses
//   const { page } = await open(server);     a page in Chromium
//   test("...", async () => {...});
//   await run();                             prints `ok NAME` or `not ok NAME: why` for each, and stops everything
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

const cleanups = [];
const tests = [];
export const test = (name, run) => tests.push({ name, run });
// What the browser's console said, and what scripts threw.  Tests that stop the server take out what that causes.
export const problems = [];

export const binary = process.env.STATOR_BIN ?? new URL("../../build/release/stator", import.meta.url).pathname;
export async function start({ demo = false, args = [], port = 0, consolePort = 0, data = null, endpoint = null } = {}) {
  const folder = await temporaryFolder(); // a server in memory, too, keeps its secret in a folder
  const store = data ? ["--data", data] : ["--in-memory"];
  const child = spawn(binary,
    endpoint ? ["console", "--endpoint", endpoint, "--port", "0", ...args] : ["up", ...(demo ? ["--demo"] : []), "--port", String(port), "--console-port", String(consolePort), ...store, ...args], { stdio: ["ignore", "pipe", "pipe"], cwd: folder });
  let log = "";
  child.stderr.on("data", (text) => (log = (log + text).slice(-4000)));
  const ended = new Promise((done) => child.on("exit", done));
  const welcome = await new Promise((done, fail) => {
    let text = "";
    child.stdout.on("data", (part) => {
      text += part;
      if (text.includes("Ctrl-C")) done(text);
    });
    child.on("exit", (code) => fail(new Error(`stator ended with ${code}: ${log}`)));
  });
  const address = (what) => new RegExp(`${what} +(https?://[^\\s]+)`).exec(welcome)[1];
  const server = { api: endpoint ?? address("DynamoDB API"), console: address("Console"), data, stop: async () => { child.kill("SIGTERM"); await ended; } };
  cleanups.push(server.stop);
  return server;
}
export async function temporaryFolder() {
  const folder = await mkdtemp(join(tmpdir(), "stator-console-"));
  cleanups.unshift(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

// Calls the DynamoDB API through the console's port, as the page does.
export async function call(server, operation, body) {
  const answer = await fetch(`${server.console}/api/${operation}`, { method: "POST", headers: { "X-Stator-Console": "1" }, body: JSON.stringify(body) });
  const json = await answer.json();
  if (!answer.ok) throw new Error(`${operation}: ${json.message}`);
  return json;
}
export async function createTable(server, TableName, { indexes = 1, sort = true } = {}) {
  const numbers = Array.from({ length: indexes }, (_, i) => i + 1);
  const schema = (pk, sk) => [{ AttributeName: pk, KeyType: "HASH" }, ...(sk ? [{ AttributeName: sk, KeyType: "RANGE" }] : [])];
  await call(server, "CreateTable", {
    TableName, BillingMode: "PAY_PER_REQUEST", KeySchema: schema("pk", sort && "sk"),
    AttributeDefinitions: ["pk", ...(sort ? ["sk"] : []), ...numbers.flatMap((i) => [`gsi${i}pk`, `gsi${i}sk`])].map((AttributeName) => ({ AttributeName, AttributeType: "S" })),
    ...(indexes ? { GlobalSecondaryIndexes: numbers.map((i) => ({ IndexName: `gsi${i}`, KeySchema: schema(`gsi${i}pk`, `gsi${i}sk`), Projection: { ProjectionType: "ALL" } })) } : {}),
  });
}
export async function putAll(server, table, items) {
  const batches = [];
  for (let i = 0; i < items.length; i += 25) batches.push(items.slice(i, i + 25));
  await Promise.all(Array.from({ length: 6 }, async () => {
    for (let batch = batches.pop(); batch; batch = batches.pop()) {
      await call(server, "BatchWriteItem", { RequestItems: { [table]: batch.map((Item) => ({ PutRequest: { Item } })) } });
    }
  }));
}
export const get = async (server, TableName, Key) => (await call(server, "GetItem", { TableName, Key, ConsistentRead: true })).Item;

// Text that tries everything: markup, marks of direction, controls.  `size` bytes long at least.
export const hostile = (size = 0) => `<script>window.hacked = 1</script><img src=x onerror="window.hacked=1">\u202Eevil\u202C \u0000\u0007 "'\`\${x} עברית العربية \u{1F600}${"<b>x</b>".repeat(Math.ceil(size / 8))}`;

let browser;
export async function open(server, { width = 1280, height = 800, dark = false, grant = ["clipboard-read", "clipboard-write"] } = {}) {
  if (!browser) {
    browser = await chromium.launch({
      executablePath: "/usr/bin/chromium", headless: true,
      args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
    });
    cleanups.push(() => browser.close());
  }
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: dark ? "dark" : "light", acceptDownloads: true });
  await context.grantPermissions(grant, { origin: server.console });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  page.on("pageerror", (error) => problems.push(`${page.url()}: ${error.stack ?? error}`));
  // A request that the server refuses is an error to the browser, and an answer that the page shows.
  page.on("console", (message) => message.type() === "error" && !/status of (400|401|403|409|502)/.test(message.text()) && problems.push(`${page.url()}: ${message.text()}`));
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (!["data:", "blob:"].includes(url.protocol) && url.origin !== server.console) problems.push(`an external request: ${url}`);
  });
  const go = async (path) => {
    await page.goto(server.console + path);
    await page.waitForSelector("h1");
  };
  return { page, go, context };
}

// The text of a cell in each row of a grid that is in the document.
export const cells = (page, column) => page.locator(".grid").first().evaluate((grid, title) => {
  const at = [...grid.querySelectorAll("[role=columnheader]")].findIndex((head) => head.textContent.trim() === title);
  return [...grid.querySelectorAll(".grid-body [role=row]")].map((row) => row.children[at].textContent);
}, column);
export const status = (page, name = "rows") => page.locator(`[data-status=${name}]`).textContent();
export const waitForText = (page, selector, text) => page.waitForFunction(([s, t]) => [...document.querySelectorAll(s)].some((one) => one.textContent.includes(t)), [selector, text]);
export const clipboard = (page) => page.evaluate(() => navigator.clipboard.readText());

export async function run() {
  test("nothing was an error in the browser's console, and nothing was asked for elsewhere", () => assert.deepEqual(problems, []));
  try {
    for (const { name, run } of tests) {
      const started = performance.now();
      try {
        await run();
        console.log(`ok ${name}`);
      } catch (error) {
        console.log(`not ok ${name}: ${String(error?.stack ?? error).split("\n").slice(0, 12).join(" | ").slice(0, 1500)}`);
      }
      if (process.env.STATOR_TIMES) console.error(`${Math.round(performance.now() - started)} ms ${name}`);
    }
  } finally {
    for (const cleanup of cleanups.reverse()) await cleanup();
  }
}

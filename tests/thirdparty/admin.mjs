// DynamoDB Admin: its own server in front of Stator, and its pages in Chromium, used as a person would.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BatchWriteCommand, DynamoDBDocumentClient, GetCommand } from "@aws-sdk/lib-dynamodb";
import { chromium } from "playwright-core";
import { client, createTable, options, run, test } from "./check.mjs";

const documents = DynamoDBDocumentClient.from(client);
const get = async (pk, sk) => (await documents.send(new GetCommand({ TableName: "Books", Key: { pk, sk }, ConsistentRead: true }))).Item;
const book = (i) => ({ pk: i < 40 ? "shelf#1" : "shelf#2", sk: `book#${String(i).padStart(2, "0")}`, title: `Title ${i}`, pages: 100 + i,
  gsi1pk: i % 2 ? "odd" : "even", gsi1sk: `Title ${String(i).padStart(2, "0")}`, tags: ["a", { deep: true }] });

// Starts the server on a port that the system chooses; it prints the address when it listens.
async function start() {
  const entry = createRequire(import.meta.url).resolve("dynamodb-admin").replace("backend.js", "dynamodb-admin.js");
  const process = spawn(globalThis.process.execPath, [entry, "--host", "127.0.0.1", "--port", "0", "--dynamo-endpoint", options.endpoint],
    { stdio: ["ignore", "pipe", "inherit"] });
  let printed = "";
  for await (const text of process.stdout) {
    printed += text;
    const address = printed.match(/listening on (http:\S+)/);
    if (address) return { process, address: address[1] };
  }
  throw new Error(`dynamodb-admin ended: ${printed}`);
}

const profile = await mkdtemp(join(tmpdir(), "stator-chromium-"));
const server = await start();
const browser = await chromium.launchPersistentContext(profile, {
  executablePath: "/usr/bin/chromium",
  headless: true,
  args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync"],
});
const page = browser.pages()[0] ?? await browser.newPage();
const problems = [];
page.on("pageerror", (error) => problems.push(String(error)));
page.setDefaultTimeout(20_000);
const open = (path) => page.goto(server.address + path);
const cells = (name) => page.locator("#items-container tr").evaluateAll((rows, name) => {
  const column = [...document.querySelectorAll("#actions-row th")].findIndex((th) => th.textContent === name);
  return rows.map((row) => row.children[column].textContent.replace(/^"|"$/g, ""));
}, name);
const answered = () => page.waitForResponse((response) => ["xhr", "fetch"].includes(response.request().resourceType()));
const search = () => Promise.all([answered(), page.waitForURL(/operationType=/), page.click("text=Search")]).then(shown);
// The table's page is there and has its rows: on the page before it there is no placeholder to wait for either.
const shown = () => page.waitForFunction(() => {
  const placeholder = document.querySelector("#table-placeholder");
  return document.querySelector("#items-container") !== null && placeholder !== null && placeholder.offsetParent === null;
});
// Goes to the next page of a table, and waits until it shows other rows.
async function turn(number) {
  const rows = () => document.querySelector("#items-container").textContent;
  const before = await page.evaluate(rows);
  await page.click(".page-link-next");
  await page.waitForURL(new RegExp(`pageNum=${number}`));
  await page.waitForFunction((old) => document.querySelector("#items-container").textContent !== old, before);
  await shown();
}
// Fills the row for `key` (a query brings rows for its keys along), or else the last one.
async function filter(key, operator, value, type = "S") {
  const names = await page.locator(".filter-row-key").evaluateAll((inputs) => inputs.map((input) => input.value));
  const row = page.locator("#filters-table tr").nth(names.includes(key) ? names.indexOf(key) : names.length - 1);
  if (!names.includes(key)) await row.locator(".filter-row-key").fill(key);
  await row.locator(".filter-row-type").selectOption(type);
  if (operator !== "=") await row.locator(".filter-row-operator").selectOption(operator);
  await row.locator(".filter-row-value").fill(value);
}
// Reads and writes the text in the page's editor.
const edited = () => page.evaluate("JSON.parse(editor.getValue())");
async function edit(item) {
  await page.evaluate((text) => window.eval("editor").setValue(text), JSON.stringify(item));
  const [answer] = await Promise.all([page.waitForResponse((r) => r.request().method() === "PUT"), page.click("#saveButton")]);
  return answer;
}

test("the tables are listed with the number of their items", async () => {
  await createTable("Books");
  for (let i = 0; i < 60; i += 20) {
    const Books = Array.from({ length: 20 }, (_, k) => ({ PutRequest: { Item: book(i + k) } }));
    await documents.send(new BatchWriteCommand({ RequestItems: { Books } }));
  }
  await open("/");
  const entry = page.locator("[data-table-name=Books]");
  assert.equal((await entry.locator("a").first().textContent()).trim(), "Books");
  assert.equal((await entry.locator(".badge-secondary").textContent()).trim(), "60");
});

test("a table is browsed page by page", async () => {
  await open("/");
  await page.click("[data-table-name=Books] a:first-child");
  await shown();
  const seen = await cells("sk");
  assert.equal(seen.length, 25);
  await turn(2);
  seen.push(...await cells("sk"));
  await turn(3);
  const last = await cells("sk");
  assert.equal(last.length, 10);
  assert.deepEqual([...seen, ...last].sort(), Array.from({ length: 60 }, (_, i) => book(i).sk));
  assert.equal(await page.locator(".page-item-next.disabled").count(), 1);
});

test("a query on the key finds its range", async () => {
  await open("/tables/Books");
  await shown();
  await page.selectOption("[name=operationType]", "query");
  await filter("pk", "=", "shelf#2");
  await filter("sk", "begins_with", "book#5");
  await search();
  assert.deepEqual(await cells("sk"), Array.from({ length: 10 }, (_, i) => `book#5${i}`));
});

test("a query on the index and a filtered scan", async () => {
  await open("/tables/Books");
  await shown();
  await page.selectOption("[name=operationType]", "query");
  await page.selectOption("[name=queryableSelection]", "gsi1");
  await filter("gsi1pk", "=", "odd");
  await filter("gsi1sk", "<", "Title 08");
  await search();
  assert.deepEqual(await cells("title"), ["Title 1", "Title 3", "Title 5", "Title 7"]);
  await open("/tables/Books");
  await shown();
  await filter("pages", ">", "155", "N");
  await search();
  assert.deepEqual((await cells("pages")).sort(), ["156", "157", "158", "159"]);
});

test("an item is opened, edited and saved", async () => {
  await open("/tables/Books/get");
  await page.fill("[name=hash]", "shelf#1");
  await page.fill("[name=range]", "book#07");
  await Promise.all([page.waitForURL(/items/), page.click("button:text('Get')")]);
  const item = await edited();
  assert.deepEqual(item, book(7));
  const answer = await edit({ ...item, title: "Títle — 7 😀", pages: 7.5, read: true });
  assert.equal(answer.status(), 200);
  await page.waitForSelector("#saveButton.btn-success");
  assert.deepEqual(await edited(), { ...book(7), title: "Títle — 7 😀", pages: 7.5, read: true });
  assert.deepEqual(await get("shelf#1", "book#07"), { ...book(7), title: "Títle — 7 😀", pages: 7.5, read: true });
});

test("a refused edit shows why, and changes nothing", async () => {
  await open("/tables/Books/items/shelf%231%2Cbook%2308");
  const { sk, ...withoutSortKey } = await edited();
  assert.equal((await edit(withoutSortKey)).status(), 500);
  await page.waitForSelector("#saveButton.btn-warning");
  assert.match(await page.textContent("#error-wrapper"), /One or more parameter values were invalid: Missing the key sk in the item/);
  assert.deepEqual(await get("shelf#1", "book#08"), book(8));
});

test("an item is added and deleted", async () => {
  await open("/tables/Books/add-item");
  assert.deepEqual(await edited(), { pk: "", sk: "" });
  await edit({ pk: "shelf#9", sk: "new", title: "New" });
  await page.waitForURL(/items\/shelf/);
  assert.deepEqual(await get("shelf#9", "new"), { pk: "shelf#9", sk: "new", title: "New" });
  await page.click("text=Delete");
  await page.waitForURL(/tables\/Books$/);
  assert.equal(await get("shelf#9", "new"), undefined);
});

test("the description of a table is shown", async () => {
  await open("/tables/Books/meta");
  const table = await edited();
  assert.deepEqual([table.TableStatus, table.ItemCount, table.GlobalSecondaryIndexes[0].ItemCount], ["ACTIVE", 60, 60]);
});

// Its form sends the capacity units as strings, which the service refuses.
test("a table that the service would refuse is refused with its text", async () => {
  await open("/create-table");
  await page.fill("#TableName", "Made-by-hand");
  await page.fill("#HashAttributeName", "id");
  const [created] = await Promise.all([page.waitForResponse((r) => r.request().method() === "POST"), page.click("#saveButton")]);
  assert.equal(created.status(), 500);
  await page.waitForSelector("#error-wrapper .alert-danger");
  assert.match(await page.textContent("#error-wrapper"), /STRING_VALUE cannot be converted to Long/);
});

test("a table is purged and deleted", async () => {
  page.on("dialog", (dialog) => dialog.accept());
  await open("/");
  await page.click("[data-table-name=Books] >> text=Purge");
  await page.waitForFunction("document.querySelector('[data-table-name=Books] .badge-secondary')?.textContent.trim() === '0'");
  await page.click("[data-table-name=Books] >> text=Delete");
  await page.waitForSelector("[data-table-name=Books]", { state: "detached" });
});

test("no page had an error in its script", async () => assert.deepEqual(problems, []));

try {
  await run();
} finally {
  await browser.close();
  server.process.kill();
  await rm(profile, { recursive: true, force: true });
}

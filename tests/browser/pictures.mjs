// Pictures of every page from the demo data, in both themes and at the width of a phone.
//
//   node tests/browser/pictures.mjs FOLDER [NAME...]     all pictures, or those whose names begin so
//
// docs/console/ has some of them; `npm ci` in this folder comes first.
import { mkdir } from "node:fs/promises";
import { call, createTable, open, putAll, run, start, test } from "./browser.mjs";

const [folder = "pictures", ...wanted] = process.argv.slice(2);
await mkdir(folder, { recursive: true });
const server = await start({ demo: true });
const key = (pk, sk) => encodeURIComponent(JSON.stringify({ PK: { S: pk }, SK: { S: sk } }));
const first = async (TableName, pk, begins) => (await call(server, "Query", { TableName, KeyConditionExpression: "PK = :p AND begins_with(SK, :s)", ExpressionAttributeValues: { ":p": { S: pk }, ":s": { S: begins } } })).Items;
const book = (await first("MediaLibrary", "owner#ADA", "library#")).find((item) => item.EntityType.S === "BOOK");
const bookKey = key(book.PK.S, book.SK.S);

// Tables for looks that the demo data does not have.
const other = await start();
await createTable(other, "Large", { indexes: 0 });
await putAll(other, "Large", Array.from({ length: 20_000 }, (_, i) => ({ pk: { S: `user#${i % 400}` }, sk: { S: `event#${String(i).padStart(6, "0")}` }, kind: { S: ["view", "click", "buy"][i % 3] }, amount: { N: `${i}.25` }, note: { S: `Event ${i} of a user` } })));
await createTable(other, "Empty");
await createTable(other, "One");
await call(other, "PutItem", { TableName: "One", Item: { pk: { S: "a" }, sk: { S: "1" }, n: { N: "12345678901234567890123456789012345678" }, text: { S: `${"A long text. ".repeat(60)}` }, map: { M: { list: { L: [{ N: "1" }, { BOOL: true }, { NULL: true }] } } }, set: { SS: ["red", "green", "blue"] }, bin: { B: Buffer.from("binary \u0000 data").toString("base64") } } });

// Requests of another client, for the pages that show them.
async function traffic(n) {
  const headers = { "X-Amz-Target": "DynamoDB_20120810.Query", "Content-Type": "application/x-amz-json-1.0", Authorization: "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=x" };
  for (let i = 0; i < n; i++) {
    const body = JSON.stringify({ TableName: "Large", KeyConditionExpression: "pk = :p", ExpressionAttributeValues: { ":p": { S: `user#${(i * i) % 17}` } }, Limit: 20 + (i % 50), ReturnConsumedCapacity: "TOTAL" });
    await fetch(other.api, { method: "POST", headers, body }).then((answer) => answer.text());
    await new Promise((done) => setTimeout(done, 20));
  }
}

const grid = ".grid-body [role=row]";
const pages = [
  ["tables", "/tables", grid],
  ["create", "/new-table", "form", async (page) => { await page.getByLabel("Table name").fill("Orders"); await page.getByRole("button", { name: "Add an index" }).click(); }],
  ["settings", "/tables/MediaLibrary", "[data-index]"],
  ["items", "/tables/MediaLibrary/items?pk=owner%23ADA&op=begins_with&sk=library", grid],
  ["items-filter", `/tables/WorthWatch/items?filter=${encodeURIComponent('[["entityType","=","S","MOVIE"],["releaseYear",">","N","1980"]]')}`, grid],
  ["items-large", "/tables/Large/items", grid],
  ["items-one", "/tables/One/items", grid],
  ["items-empty", "/tables/Empty/items", ".empty"],
  ["item", `/tables/MediaLibrary/items?item=${bookKey}`, "dialog .relations"],
  ["item-values", `/tables/One/items?item=${encodeURIComponent('{"pk":{"S":"a"},"sk":{"S":"1"}}')}`, "dialog .attributes"],
  ["item-edit", `/tables/MediaLibrary/item?key=${bookKey}&as=edit`, ".edit-row"],
  ["item-json", `/tables/MediaLibrary/item?key=${bookKey}&as=json`, ".editor-host[data-ready=true]"],
  ["item-save", `/tables/MediaLibrary/item?key=${bookKey}&as=edit`, ".edit-row", async (page) => { await page.getByLabel("Value of Title").fill("Another title"); await page.getByRole("button", { name: "Save…" }).click(); await page.waitForSelector(".diff"); }],
  ["code", "/tables/MediaLibrary/items?pk=owner%23ADA", grid, async (page) => { await page.getByRole("button", { name: "As request, command and code" }).click(); await page.getByRole("tab", { name: "Python" }).click(); }],
  ["columns", "/tables/MediaLibrary/items", grid, (page) => page.getByRole("button", { name: "Columns" }).click()],
  ["bulk", "/tables/WorthWatch/items", grid, async (page) => { for (const n of [1, 2, 3]) await page.getByLabel(`Select row ${n}`, { exact: true }).click(); }],
  ["import", "/tables/MediaLibrary/import", ".drop", async (page) => { await page.getByLabel("Or paste").fill('[\n  {"PK": "owner#KIM", "SK": "user", "Name": "Kim"},\n  {"PK": "owner#LEE"}\n]'); await page.getByRole("button", { name: "Check" }).click(); }],
  ["tree", "/tables/WorthWatch/tree", ".tree-line", async (page) => { await page.getByRole("button", { name: "Open MOVIE" }).click(); }],
  ["partitions", "/tables/MediaLibrary/partitions?pk=owner%23ADA", ".legend"],
  ["partitions-all", "/tables/MediaLibrary/partitions", ".legend"],
  ["partiql", `/partiql?q=${encodeURIComponent(`SELECT title, releaseYear, runtime, directors\nFROM "WorthWatch"\nWHERE entityType = 'MOVIE'`)}`, grid],
  ["palette", "/tables/MediaLibrary/items", grid, async (page) => { await page.keyboard.press("Control+k"); await page.getByRole("combobox", { name: "Command or table" }).fill("worth"); }],
  ["models", "/models", "main table, main .card, main .grid, main a"],
  ["model", "/models/media-library", "main svg"],
  ["model-run", "/models/media-library?tab=run", "[data-find]", async (page) => { await page.getByText("items_in_library").first().click().catch(() => {}); }],
  ["model-findings", "/models/shops?tab=findings", "main"],
  ["model-edit", "/models/media-library?tab=write", ".editor-host[data-ready=true]"],
  ["model-document", "/models/media-library?tab=document", ".document"],
  ["model-consistency", "/models/media-library?tab=consistency", "section[aria-label='Consistency manager']"],
  ["streams", "/streams", "main"],
  ["stream", "/streams/MediaLibrary", ".change"],
  ["live", "/live", "main", () => traffic(120)],
  ["live-charts", "/live?tab=charts", "main", () => traffic(150)],
];
for (const [look, options] of [["light", {}], ["dark", { dark: true }], ["phone", { width: 390, height: 844 }]]) {
  for (const [name, path, ready, act] of pages) {
    const file = `${name}-${look}`;
    if (wanted.length && !wanted.some((one) => file.startsWith(one))) continue;
    test(`picture ${file}`, async () => {
      const { page, go, context } = await open(/^live|^item-values|-(large|one|empty)$/.test(name) ? other : server, options);
      await page.emulateMedia({ colorScheme: options.dark ? "dark" : "light", reducedMotion: "reduce" });
      await go(path);
      await page.waitForSelector(ready);
      if (act && (look !== "phone" || name.startsWith("live"))) await act(page);
      await page.waitForTimeout(name.startsWith("live") ? 1500 : 500); // what is drawn after it was loaded
      await page.screenshot({ path: `${folder}/${file}.png` });
      await context.close();
    });
  }
}
await run();

// Items: browsing, queries, editing, many at once, import and export, and a table of 100,000 items.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { call, cells, clipboard, createTable, get, hostile, open, putAll, run, start, status, test, waitForText } from "./browser.mjs";

const server = await start();
const { page, go } = await open(server);
const key = (pk, sk) => ({ pk: { S: pk }, sk: { S: sk } });
const book = (i) => ({ ...key(i < 40 ? "shelf#1" : "shelf#2", `book#${String(i).padStart(2, "0")}`), title: { S: `Title ${i}` }, pages: { N: String(100 + i) }, ...(i % 2 ? { gsi1pk: { S: "odd" }, gsi1sk: { S: `Title ${String(i).padStart(2, "0")}` } } : {}) });
const button = (name) => page.getByRole("button", { name, exact: true });
const loaded = () => page.waitForFunction(() => !document.querySelector(".status .spinner") && document.querySelector("[data-status=rows]"));
const runQuery = async () => {
  await button("Run").click();
  await loaded();
};
const large = 100_000;
const largeKey = (i) => key(`user#${i % 1000}`, `event#${String(i).padStart(6, "0")}`);
let filling;

test("a table is browsed, with keys first and attributes by how often they are there", async () => {
  await createTable(server, "Books");
  await putAll(server, "Books", Array.from({ length: 60 }, (_, i) => book(i)));
  // Filled while the other tests run.
  await createTable(server, "Large", { indexes: 0 });
  filling = putAll(server, "Large", Array.from({ length: large }, (_, i) => ({ ...largeKey(i), n: { N: String(i) }, text: { S: `event ${i} of a user` } })));
  await go("/tables/Books/items");
  await page.waitForSelector(".grid-body [role=row]");
  assert.equal(await status(page), "60 returned");
  const heads = await page.locator(".grid [role=columnheader]").allTextContents();
  assert.deepEqual(heads.slice(1), ["pk", "sk", "pages", "title", "gsi1pk", "gsi1sk"]);
});

test("a query says that it is one, and finds its range", async () => {
  await page.getByLabel("pk =").fill("shelf#2");
  await page.getByLabel("Operator for sk").selectOption("begins_with");
  await page.getByLabel("sk", { exact: true }).fill("book#5");
  assert.match(await page.locator(".cost").textContent(), /^Query/);
  await runQuery();
  assert.deepEqual(await cells(page, "sk"), Array.from({ length: 10 }, (_, i) => `book#5${i}`));
  assert.match(page.url(), /pk=shelf%232/);
  await page.getByLabel("Descending").check();
  await runQuery();
  assert.equal((await cells(page, "sk"))[0], "book#59");
});

test("back and forward lead through what was asked", async () => {
  await page.goBack();
  await page.waitForFunction(() => document.querySelector(".grid-body [role=row]")?.textContent.includes("book#50"));
  assert.equal(await page.getByLabel("Descending").isChecked(), false);
  await page.goForward();
  await page.waitForFunction(() => document.querySelector(".grid-body [role=row]")?.textContent.includes("book#59"));
  const url = page.url();
  await page.reload();
  await page.waitForFunction(() => document.querySelector(".grid-body [role=row]")?.textContent.includes("book#59"));
  assert.equal(page.url(), url);
});

test("an index is browsed, and its capacity is shown", async () => {
  await page.getByLabel("Browse").selectOption("gsi1");
  await page.getByLabel("gsi1pk =").fill("odd");
  await page.getByLabel("Operator for gsi1sk").selectOption("<");
  await page.getByLabel("gsi1sk", { exact: true }).fill("Title 08");
  await page.getByLabel("Descending").uncheck();
  await runQuery();
  assert.deepEqual(await cells(page, "title"), ["Title 1", "Title 3", "Title 5", "Title 7"]);
  assert.match(await status(page, "capacity"), /gsi1 0\.5/);
});

test("a filter warns that it reads everything, and shows examined against returned", async () => {
  await go("/tables/Books/items");
  await button("Filter").click();
  await page.getByLabel("Attribute", { exact: true }).fill("pages");
  await page.getByLabel("Type of the value").selectOption("N");
  await page.getByLabel("Operator", { exact: true }).selectOption(">");
  await page.getByLabel("Value", { exact: true }).fill("155");
  assert.match(await page.locator(".cost").textContent(), /^Scanreads all 60 items of the table: /);
  assert.deepEqual(await page.getByLabel("Operator", { exact: true }).locator("option").allTextContents(), ["=", "≠", "<", "≤", ">", "≥", "between", "is one of", "exists", "does not exist", "has the type"]);
  await runQuery();
  assert.deepEqual((await cells(page, "pages")).sort(), ["156", "157", "158", "159"]);
  assert.deepEqual([await status(page), await status(page, "examined")], ["4 returned", "60 examined"]);
});

test("a projection reads only what it names", async () => {
  await page.getByLabel("Attributes to read").fill("pk, sk, title");
  await runQuery();
  assert.deepEqual((await page.locator(".grid [role=columnheader]").allTextContents()).slice(1), ["pk", "sk", "title"]);
});

test("the request is shown as JSON, command and code", async () => {
  await button("As request, command and code").click();
  const text = () => page.locator("dialog pre").textContent();
  assert.deepEqual(JSON.parse(await text()).FilterExpression, "#pages > :v0");
  for (const [tab, part] of [["AWS CLI", "aws dynamodb scan"], ["JavaScript", "new ScanCommand("], ["Python", "client.scan("], ["C++", "ScanRequest request;"]]) {
    await page.getByRole("tab", { name: tab, exact: true }).click();
    assert.ok((await text()).includes(part), tab);
    assert.ok((await text()).includes(server.api), `${tab} names the address of the API`);
  }
  await page.keyboard.press("Escape");
  await page.waitForSelector("dialog", { state: "detached" });
});

test("columns are found, hidden and pinned", async () => {
  await go("/tables/Books/items");
  await loaded();
  await button("Columns").click();
  await page.getByLabel("Find a column").fill("pag");
  assert.equal(await page.locator(".columns li").count(), 1);
  await page.locator(".columns li input").uncheck();
  await page.getByLabel("Find a column").fill("title");
  await button("Pin title").click();
  await button("Done").click();
  const heads = (await page.locator(".grid [role=columnheader]").allTextContents()).slice(1);
  assert.ok(!heads.includes("pages"));
  assert.equal(heads.indexOf("title"), 1);
  await page.reload();
  await loaded();
  assert.ok(!(await page.locator(".grid [role=columnheader]").allTextContents()).includes("pages"));
  await button("Columns").click();
  await button("Reset").click();
  await button("Done").click();
});

test("what is loaded is searched", async () => {
  await page.getByLabel("Find in what is loaded").fill("title 17");
  await page.waitForFunction(() => document.querySelectorAll(".grid-body [role=row]").length === 1);
  assert.deepEqual(await cells(page, "sk"), ["book#17"]);
  await page.getByLabel("Find in what is loaded").fill("");
  await page.waitForFunction(() => document.querySelectorAll(".grid-body [role=row]").length > 5);
});

test("an item is opened, edited by fields, compared and saved", async () => {
  await go("/tables/Books/items?pk=shelf%231");
  await loaded();
  await page.getByText("book#07").first().click();
  await page.waitForSelector("dialog .attributes");
  assert.match(page.url(), /item=/);
  await page.getByRole("tab", { name: "Edit" }).click();
  assert.equal(await page.getByLabel("Value of pk").isDisabled(), true);
  await page.getByLabel("Value of title").fill("Títle — 7 😀");
  await page.getByLabel("Value of pages").fill("12345678901234567890123456789012345678");
  await button("Add an attribute").click();
  await page.getByLabel("Name of the attribute").last().fill("read");
  await page.getByLabel("Type of read").selectOption("BOOL");
  await page.getByLabel("Value of read").selectOption("true");
  await button("Save…").click();
  const changes = await page.locator(".diff tbody tr").allTextContents();
  assert.equal(changes.length, 3);
  await button("Save").click();
  await waitForText(page, ".attributes", "12345678901234567890123456789012345678");
  const item = await get(server, "Books", key("shelf#1", "book#07"));
  assert.deepEqual([item.title, item.pages, item.read], [{ S: "Títle — 7 😀" }, { N: "12345678901234567890123456789012345678" }, { BOOL: true }]);
});

test("a wrong field says so, and nothing is sent", async () => {
  await page.getByRole("tab", { name: "Edit" }).click();
  await page.getByLabel("Value of pages").fill("many");
  await button("Save…").click();
  assert.match(await page.locator(".edit-row .field-error").textContent(), /"many" is no number/);
  await button("Discard").click();
});

test("an update that would be lost is refused, and shows what the other changed", async () => {
  await page.getByRole("tab", { name: "Edit" }).click();
  await page.getByLabel("Value of title").fill("mine");
  await call(server, "UpdateItem", { TableName: "Books", Key: key("shelf#1", "book#07"), UpdateExpression: "SET title = :t", ExpressionAttributeValues: { ":t": { S: "theirs" } } });
  await button("Save…").click();
  await button("Save").click();
  await waitForText(page, "dialog .notice.warn", "Somebody has changed this item");
  assert.match(await page.locator(".diff").first().textContent(), /theirs/);
  assert.equal((await get(server, "Books", key("shelf#1", "book#07"))).title.S, "theirs");
  await button("Save mine over it").click();
  await waitForText(page, ".attributes", "mine");
  assert.equal((await get(server, "Books", key("shelf#1", "book#07"))).title.S, "mine");
});

const editor = () => page.locator("dialog .cm-content");
test("an item is edited as JSON with all its digits, and its sets stay sets", async () => {
  await call(server, "PutItem", { TableName: "Books", Item: { ...key("x", "json"), n: { N: "98765432109876543210987654321098765432" }, set: { NS: ["1", "2"] }, b: { B: "AAEC" } } });
  await go(`/tables/Books/items?item=${encodeURIComponent(JSON.stringify(key("x", "json")))}`);
  await page.getByRole("tab", { name: "JSON", exact: true }).click();
  await editor().waitFor();
  const text = (await editor().innerText()).replaceAll("\u00a0", " ");
  assert.ok(text.includes("98765432109876543210987654321098765432"));
  await editor().click();
  await page.keyboard.press("Control+a");
  await page.keyboard.press("Delete");
  await page.keyboard.insertText('{"pk": "x", "sk": "json", "n": 98765432109876543210987654321098765433, "set": [1, 2, 3], "b": "AAEC"}');
  await page.keyboard.press("Control+Enter");
  await button("Save").click();
  await waitForText(page, ".attributes", "98765432109876543210987654321098765433");
  assert.deepEqual(await get(server, "Books", key("x", "json")), { ...key("x", "json"), n: { N: "98765432109876543210987654321098765433" }, set: { NS: ["1", "2", "3"] }, b: { B: "AAEC" } });
});

test("binary is shown in hex and as text, and is downloaded", async () => {
  await button("Hex").click();
  assert.match(await page.locator("pre.hex").textContent(), /^000000 {2}00 01 02/);
  await button("Text").click();
  assert.match(await page.locator("pre.hex").textContent(), /␀␁␂/);
  const [download] = await Promise.all([page.waitForEvent("download"), button("Download the binary value").click()]);
  assert.deepEqual([...await readFile(await download.path())], [0, 1, 2]);
});

test("an item is copied as JSON, typed JSON, CSV and PutItem", async () => {
  for (const [entry, check] of [["Copy as JSON", (text) => text.includes('"n": 98765432109876543210987654321098765433')], ["Copy as typed JSON", (text) => JSON.parse(text).set.NS.length === 3], ["Copy as CSV", (text) => text.startsWith("b,n,pk,set,sk\r\n")], ["Copy as PutItem", (text) => text.startsWith("aws dynamodb put-item")]]) {
    await button("Copy the item").click();
    await page.getByRole("menuitem", { name: entry, exact: true }).click();
    await waitForText(page, ".toast", "Copied");
    const text = await clipboard(page);
    assert.ok(check(text), `${entry}: ${text}`);
  }
});

test("an item is duplicated, created and deleted, and the deletion is undone", async () => {
  await button("More for the item").click();
  await page.getByRole("menuitem", { name: "Duplicate" }).click();
  await page.getByLabel("Value of sk").fill("copy");
  await button("Create…").click();
  await button("Create").click();
  await waitForText(page, ".toast", "The item is created");
  assert.equal((await get(server, "Books", key("x", "copy"))).set.NS.length, 3);
  await button("More for the item").click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await button("Delete").click();
  await page.waitForSelector("dialog", { state: "detached" });
  assert.equal(await get(server, "Books", key("x", "copy")), undefined);
  await page.locator(".toast").getByRole("button", { name: "Undo" }).click();
  await waitForText(page, ".toast", "The item is back");
  assert.ok(await get(server, "Books", key("x", "copy")));
});

test("an item that is there is not created again", async () => {
  await go("/tables/Books/items?item=new");
  await page.getByLabel("Value of pk").fill("x");
  await page.getByLabel("Value of sk").fill("json");
  await button("Create…").click();
  await button("Create").click();
  await waitForText(page, "dialog .notice.bad", "There is an item with this key");
});

const select = async (...rows) => {
  for (const row of rows) await page.getByLabel(`Select row ${row}`, { exact: true }).click();
};
test("many items are updated by an expression, with a preview first", async () => {
  await go("/tables/Books/items?pk=shelf%232");
  await loaded();
  await select(1, 2, 3);
  await page.getByRole("region", { name: "Selected items" }).getByRole("button", { name: "Update" }).click();
  await page.getByLabel("Update expression").fill("SET pages = pages + :n REMOVE title");
  await page.getByLabel("Names").fill("");
  await page.getByLabel("Values").fill('{":n": {"N": "1000"}}');
  await button("Preview").click();
  await page.waitForSelector("dialog .diff");
  assert.match(await page.locator("dialog .diff").first().textContent(), /1140/);
  assert.equal((await get(server, "Books", key("shelf#2", "book#40"))).pages.N, "140");
  await button("Update").last().click();
  await waitForText(page, "dialog .notice", "3 items updated.");
  await button("Done").click();
  const item = await get(server, "Books", key("shelf#2", "book#41"));
  assert.deepEqual([item.pages.N, item.title], ["1141", undefined]);
  assert.deepEqual((await call(server, "ListTables", {})).TableNames.filter((name) => name.includes("preview")), []);
});

test("many items are copied to another table", async () => {
  await createTable(server, "Elsewhere");
  await go("/tables/Books/items?pk=shelf%231");
  await loaded();
  await button("More").click();
  await page.getByRole("menuitem", { name: "Copy all that match…" }).click();
  await page.getByLabel("To the table").selectOption("Elsewhere");
  await button("Copy").click();
  await waitForText(page, "dialog .notice", "40 items copied.");
  await button("Done").click();
  assert.equal((await call(server, "Scan", { TableName: "Elsewhere", Select: "COUNT" })).Count, 40);
});

test("all that match are deleted after their number was typed", async () => {
  await go("/tables/Elsewhere/items");
  await loaded();
  await button("More").click();
  await page.getByRole("menuitem", { name: "Delete all that match…" }).click();
  assert.equal(await button("Delete").last().isDisabled(), true);
  await button("Count them").click();
  await page.getByLabel("Type 40 to delete them").fill("40");
  await button("Delete").last().click();
  await waitForText(page, "dialog .notice", "40 items deleted.");
  await button("Done").click();
  await waitForText(page, ".empty h2", "The table is empty");
});

test("items are exported, and imported from the file", async () => {
  for (const [format, name] of [["typed", "typed"], ["csv", "csv"], ["lines", "json"]]) {
    await go("/tables/Books/items?pk=x");
    await loaded();
    await button("More").click();
    await page.getByRole("menuitem", { name: "Export…" }).click();
    await page.getByLabel("Format").selectOption(format);
    const [download] = await Promise.all([page.waitForEvent("download"), button("Export").click()]);
    const text = await readFile(await download.path(), "utf8");
    await button("Done").click();
    await go("/tables/Elsewhere/import");
    await page.getByLabel("File to import").setInputFiles({ name: download.suggestedFilename(), mimeType: "text/plain", buffer: Buffer.from(text) });
    await page.waitForFunction((value) => document.querySelector("select")?.value === value, name);
    await page.getByLabel("Replace items with the same key").check();
    await button("Check").click();
    await waitForText(page, ".notice", "2 items can be imported. Nothing is written yet.");
    await button("Import 2 items").click();
    await waitForText(page, ".notice", "2 imported.");
    if (format !== "lines") assert.deepEqual(await get(server, "Elsewhere", key("x", "json")), await get(server, "Books", key("x", "json")), format);
    assert.equal((await get(server, "Elsewhere", key("x", "json"))).n.N, "98765432109876543210987654321098765433");
  }
});

test("a file with mistakes says the line of each, and what is there stays", async () => {
  await go("/tables/Elsewhere/import");
  await page.getByLabel("Or paste").fill('[\n{"pk": "x", "sk": "json"},\n{"pk": "new", "sk": "1"},\n{"pk": "no sort key"},\n{"pk": 7, "sk": "1"}\n]');
  await button("Check").click();
  const lines = page.getByRole("region", { name: "Lines that cannot be imported" }).locator("tbody tr");
  assert.deepEqual(await lines.allTextContents(), ["4the key sk is missing", "5the key pk is a string, and not a number"]);
  assert.equal(await get(server, "Elsewhere", key("new", "1")), undefined);
  await button("Import 2 items").click();
  await waitForText(page, ".notice", "1 imported, 1 were there already and stay as they are.");
  assert.ok((await get(server, "Elsewhere", key("x", "json"))).n);
});

test("keys are a tree", async () => {
  await go("/tables/Books/tree");
  await page.waitForSelector(".tree-line");
  assert.deepEqual(await page.locator(".key-tree > ul > li > .tree-line").allTextContents(), ["▸shelf#60", "x2"]);
  await button("Open shelf").click();
  assert.deepEqual(await page.locator(".key-tree ul ul .tree-line").allTextContents(), ["140", "220"]);
  await page.getByRole("link", { name: "2", exact: true }).click();
  await page.waitForURL(/partitions\?pk=shelf%232/);
});

test("100,000 items are browsed without loading all", async () => {
  await filling;
  await go("/tables/Large/items");
  await loaded();
  assert.equal(await status(page), "250 returned");
  assert.match(await status(page, "examined"), /250 examined of about 100,000/);
  const grid = page.locator(".grid");
  for (let i = 0; i < 8; i++) {
    await grid.evaluate((element) => (element.scrollTop = element.scrollHeight));
    await page.waitForFunction((wanted) => Number(document.querySelector("[data-status=rows] b")?.textContent.replaceAll(",", "")) > wanted, 250 * (i + 1));
  }
  assert.ok(await page.locator(".grid-body [role=row]").count() < 80, "rows out of sight are not in the document");
});

test("thousands of rows stay quick, and by keyboard, too", async () => {
  await button("Load 5,000 more").click();
  await page.waitForFunction(() => Number(document.querySelector("[data-status=rows] b")?.textContent.replaceAll(",", "")) > 5000 && !document.querySelector(".status .spinner"));
  await page.locator(".grid").focus();
  await page.keyboard.press("End");
  await page.waitForFunction(() => Number(document.querySelector(".grid-row.current")?.getAttribute("aria-rowindex")) > 5000);
  await page.keyboard.press("Home");
  await page.waitForFunction(() => document.querySelector(".grid-row.current")?.getAttribute("aria-rowindex") === "2");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.waitForSelector("dialog .attributes");
  await page.keyboard.press("Escape");
  await page.waitForSelector("dialog", { state: "detached" });
});

test("a long scan is stopped, and goes on", async () => {
  let requests = 0, release;
  const released = new Promise((done) => { release = done; });
  await page.route("**/api/Scan", async (route) => {
    if (++requests > 1) await released; // the button has to be pressed while a request is under way
    await route.continue().catch(() => {});
  });
  await go(`/tables/Large/items?filter=${encodeURIComponent(JSON.stringify([["n", "=", "N", "-1"]]))}`);
  await page.waitForFunction(() => (document.querySelector("[data-status=examined] b")?.textContent ?? "0") !== "0");
  await button("Stop").click();
  await waitForText(page, ".status", "stopped");
  const examined = await status(page, "examined");
  assert.match(examined, /^[\d,]+ examined of about 100,000/);
  release();
  await page.unroute("**/api/Scan");
  await button("Go on").click();
  await page.waitForFunction((before) => (document.querySelector("[data-status=examined]")?.textContent ?? before) !== before && !document.querySelector(".status .spinner"), examined);
  assert.equal(await status(page), "0 returned");
});

test("a hostile item is text in every view of items", async () => {
  const text = hostile();
  const item = { ...key(`<i>${text}`, `#<script>${text}`), [`<b>${text}`]: { S: hostile(390_000) }, map: { M: { [text]: { L: [{ S: text }, { SS: [text, "b"] }] } } }, bin: { B: Buffer.from(text).toString("base64") } };
  await call(server, "PutItem", { TableName: "Elsewhere", Item: item });
  const at = encodeURIComponent(JSON.stringify(key(item.pk.S, item.sk.S)));
  for (const path of ["/tables/Elsewhere/items", `/tables/Elsewhere/items?pk=${encodeURIComponent(item.pk.S)}`, `/tables/Elsewhere/items?item=${at}`, `/tables/Elsewhere/item?key=${at}`, "/tables/Elsewhere/tree", "/tables/Elsewhere/partitions", `/tables/Elsewhere/partitions?pk=${encodeURIComponent(item.pk.S)}`]) {
    await go(path);
    await page.waitForFunction(() => document.body.textContent.includes("<script>window.hacked"));
    assert.equal(await page.locator("main script, main img, dialog script, dialog img").count(), 0, path);
    assert.ok(!(await page.locator("main").evaluate((main) => main.innerText.includes("\u202e"))), `${path} obeys marks of direction`);
  }
  await go(`/tables/Elsewhere/item?key=${at}`);
  for (const tab of ["Edit", "JSON", "Typed JSON", "Attributes"]) {
    await page.getByRole("tab", { name: tab, exact: true }).click();
    await page.waitForFunction((name) => [...document.querySelectorAll("[role=tab]")].some((one) => one.textContent === name && one.getAttribute("aria-selected") === "true"), tab);
  }
  await page.getByRole("button", { name: /Show all [\d,]+ characters/ }).first().click();
  await button("Text").click();
  await go("/partiql");
  await page.locator(".cm-content").click();
  await page.keyboard.insertText('SELECT * FROM "Elsewhere"');
  await page.keyboard.press("Control+Enter");
  await page.waitForSelector(".grid-body [role=row]");
  await page.locator(".grid").focus();
  await page.keyboard.press("Enter");
  await page.waitForSelector("dialog .attributes");
  assert.equal(await page.evaluate(() => window.hacked), undefined);
});

test("an empty table and an empty answer say what to do next", async () => {
  await createTable(server, "Empty");
  await go("/tables/Empty/items");
  await waitForText(page, ".empty h2", "The table is empty");
  await page.getByLabel("pk =").fill("nobody");
  await runQuery();
  await waitForText(page, ".empty", "Keys match exactly");
});

test("PartiQL is completed, run, and kept in the address", async () => {
  await go("/partiql");
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+a");
  await page.keyboard.type('SELECT * FROM "Bo', { delay: 10 });
  await page.locator(".cm-tooltip-autocomplete li", { hasText: "Books" }).first().waitFor(); // words of the language are offered before
  assert.match(await page.locator(".cm-tooltip-autocomplete li").first().textContent(), /"Books"/);
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(`SELECT title FROM "Books" WHERE pk = 'shelf#2' AND sk = 'book#50'`);
  await page.keyboard.press("Escape");
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+Enter");
  await page.waitForSelector(".grid-body [role=row]");
  assert.deepEqual(await cells(page, "title"), ["Title 50"]);
  assert.match(page.url(), /q=SELECT/);
  await page.reload();
  await page.waitForSelector(".grid-body [role=row]");
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText("SELECT nonsense");
  await page.keyboard.press("Control+Enter");
  await page.waitForSelector(".notice.bad");
  // A refused request is an error in the browser's console.
});

test("PartiQL that reads more than a partition says so", async () => {
  for (const [statement, warning] of [
    [`SELECT * FROM "Books"`, "Without pk in WHERE, this reads the whole table"],
    [`SELECT * FROM "Books" WHERE title = 'pk = 1'`, "Without pk in WHERE"],
    [`SELECT * FROM "Books"."gsi1" WHERE pk = 'a'`, "Without gsi1pk in WHERE, this reads the whole index"],
    [`SELECT * FROM Books WHERE "pk" IN ['a']`, "One statement"],
  ]) {
    await go(`/partiql?q=${encodeURIComponent(statement)}`);
    await waitForText(page, ".hint", warning);
  }
});

test("queries are kept, found again and forgotten; the history has what was run", async () => {
  await go("/tables/Books/items?pk=shelf%232&sk=book%2345");
  await loaded();
  await button("Run").click();
  await loaded();
  await button("Saved and recent queries").click();
  await page.getByLabel("Keep the current one as").fill("Book <45>");
  await button("Save").click();
  await waitForText(page, ".list", "Book <45>");
  await page.keyboard.press("Escape");
  await go("/tables/Books/items");
  await loaded();
  await button("Saved and recent queries").click();
  await page.getByRole("button", { name: "Book <45>", exact: true }).click();
  await page.waitForURL(/sk=book%2345/);
  await button("Saved and recent queries").click();
  await page.getByRole("tab", { name: "History" }).click();
  await waitForText(page, ".list", "pk = shelf#2, sk = book#45");
  await page.getByRole("tab", { name: "Saved" }).click();
  await button("Forget Book <45>").click();
  await waitForText(page, "dialog .empty h2", "Nothing is saved yet");
  assert.deepEqual((await call(server, "ListTables", {})).TableNames.sort(), ["Books", "Elsewhere", "Empty", "Large"]);
});

await run();

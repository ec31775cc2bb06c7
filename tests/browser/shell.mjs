// What holds everywhere: addresses, the palette, the keyboard, themes, a phone, signing in, read-only mode, a server that stops and
// comes back, and the size of the first load.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { gunzipSync } from "node:zlib";
import http from "node:http";
import { binary, call, createTable, open, problems, run, start, temporaryFolder, test, waitForText } from "./browser.mjs";

const server = await start({ demo: true });
const { page, go } = await open(server);
const button = (name) => page.getByRole("button", { name, exact: true });
const raw = (path, headers = {}) => new Promise((done, fail) => http.get(server.console + path, { headers }, (answer) => {
  const parts = [];
  answer.on("data", (part) => parts.push(part));
  answer.on("end", () => done({ status: answer.statusCode, headers: answer.headers, body: Buffer.concat(parts) }));
}).on("error", fail));

test("the first load is at most 150 KB, compressed", async () => {
  const sizes = [];
  const index = await raw("/", { "Accept-Encoding": "gzip" });
  sizes.push(index.body.length);
  const seen = new Set();
  page.on("request", (request) => seen.add(new URL(request.url()).pathname));
  await go("/tables");
  await page.waitForSelector(".grid-body [role=row]");
  for (const path of seen) {
    if (!path.startsWith("/assets/")) continue;
    const file = await raw(path, { "Accept-Encoding": "gzip" });
    assert.equal(file.headers["content-encoding"], "gzip", path);
    assert.match(file.headers["cache-control"], /immutable/);
    sizes.push(file.body.length);
  }
  const total = sizes.reduce((a, b) => a + b, 0);
  assert.ok(sizes.length > 3 && total <= 150_000, `${total} bytes in ${sizes.length} files`);
});

test("files are served with a tag, compressed or not, and the page with a strict policy", async () => {
  const page = await raw("/tables/x/items");
  assert.match(page.headers["content-security-policy"], /default-src 'none'; script-src 'self'; style-src 'self';/);
  assert.ok(!page.headers["content-security-policy"].includes("unsafe"));
  const script = /src="(\/assets\/main-[^"]+\.js)"/.exec(page.body.toString())[1];
  const plain = await raw(script);
  const packed = await raw(script, { "Accept-Encoding": "gzip" });
  assert.deepEqual(gunzipSync(packed.body), plain.body);
  assert.equal((await raw(script, { "If-None-Match": plain.headers.etag })).status, 304);
  assert.equal((await raw("/assets/none.js")).status, 404);
  assert.equal((await raw("/favicon.ico")).status, 404);
});

test("the palette goes anywhere by keyboard", async () => {
  await go("/tables");
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Command or table" }).fill("medialib");
  await waitForText(page, "[role=option]", "MediaLibrary");
  await page.keyboard.press("Enter");
  await page.waitForURL(/tables\/MediaLibrary\/items/);
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Command or table" }).fill("theme dark");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.documentElement.dataset.theme === "dark");
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Command or table" }).waitFor();
  await page.keyboard.press("Escape");
  await page.waitForSelector("dialog", { state: "detached" });
});

test("a theme stays, and the system's theme is followed", async () => {
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await background();
  await page.reload();
  await page.waitForSelector("h1");
  assert.equal(await background(), dark);
  await button("Theme: As the system").click();
  assert.notEqual(await background(), dark);
  await page.emulateMedia({ colorScheme: "dark" });
  assert.equal(await background(), dark);
  await page.emulateMedia({ colorScheme: "light" });
});

test("everything is reached by keyboard, and focus can be seen", async () => {
  await go("/tables");
  await page.waitForSelector(".grid-body [role=row]");
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Skip to the content");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "content");
  await page.keyboard.press("/");
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), "Find a table by its name");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute("role")), "grid");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/items/);
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press("g");
  await page.keyboard.press("p");
  await page.waitForURL(/\/partiql/);
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press("?");
  await waitForText(page, "dialog h2", "Keyboard shortcuts");
  await page.keyboard.press("Escape");
});

test("a dialog keeps the focus, and gives it back", async () => {
  await go("/tables/Stories");
  await button("Delete").click();
  for (let i = 0; i < 12; i++) {
    await page.keyboard.press("Tab");
    assert.ok(await page.evaluate(() => document.activeElement === document.body || document.activeElement.closest("dialog") !== null));
  }
  await page.keyboard.press("Escape");
  await page.waitForSelector("dialog", { state: "detached" });
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Delete");
});

test("an address that leads nowhere says so", async () => {
  await go("/nowhere").catch(() => {});
  await waitForText(page, ".empty h2", "There is no such page");
  await go("/tables/NoSuchTable/items");
  await page.waitForSelector(".notice.bad");
});

test("at the width of a phone nothing is cut off, and the menu is a drawer", async () => {
  const { page: phone, go: visit } = await open(server, { width: 390, height: 844 });
  const grid = ".grid-body [role=row]";
  for (const [path, ready] of [["/tables", grid], ["/tables/MediaLibrary/items", grid], ["/tables/MediaLibrary", "[data-index]"], ["/tables/MediaLibrary/partitions", ".legend"], ["/new-table", "form"], ["/partiql", ".cm-content"], ["/tables/MediaLibrary/tree", ".tree-line"], ["/tables/MediaLibrary/import", ".drop"]]) {
    await visit(path);
    await phone.waitForSelector(ready);
    assert.ok(await phone.evaluate(() => document.documentElement.scrollWidth <= innerWidth), path);
    assert.ok(await phone.locator("main").evaluate((main) => main.scrollWidth <= main.clientWidth), `${path}: the content is wider than the screen`);
  }
  await phone.getByRole("button", { name: "Menu" }).click();
  await phone.getByRole("link", { name: "WorthWatch", exact: true }).click();
  await phone.waitForURL(/WorthWatch/);
  await phone.waitForFunction(() => getComputedStyle(document.querySelector(".sidebar")).visibility === "hidden");
});

test("a server that stops is noticed, and what is shown comes back with it", async () => {
  const data = await temporaryFolder();
  const first = await start({ data });
  await createTable(first, "Kept");
  await call(first, "PutItem", { TableName: "Kept", Item: { pk: { S: "a" }, sk: { S: "1" } } });
  const { page: other, go: visit } = await open(first);
  await visit("/tables/Kept/items");
  await other.waitForSelector(".grid-body [role=row]");
  // Before the stop: the page may ask again as soon as the second server listens.
  await call(first, "PutItem", { TableName: "Kept", Item: { pk: { S: "b" }, sk: { S: "2" } } });
  await first.stop();
  const before = problems.length;
  await other.getByRole("button", { name: "Run" }).click();
  await other.waitForSelector(".banner");
  const port = (url) => Number(new URL(url).port);
  const second = await start({ data, port: port(first.api), consolePort: port(first.console) });
  await other.waitForSelector(".banner", { state: "detached" });
  await waitForText(other, "[data-status=rows]", "2 returned");
  const caused = problems.splice(before);
  assert.ok(caused.every((text) => /ERR_CONNECTION|Failed to load/.test(text)), String(caused));
  await second.stop();
});

test("read-only mode offers no writes, and says so", async () => {
  const calm = await start({ endpoint: server.api, args: ["--read-only"] });
  const { page: other, go: visit } = await open(calm);
  await visit("/tables");
  await other.waitForSelector(".grid-body [role=row]");
  await waitForText(other, ".sidebar .badge", "read-only");
  assert.equal(await other.getByRole("link", { name: "Create a table" }).count(), 0);
  await visit("/tables/MediaLibrary/items");
  await other.waitForSelector(".grid-body [role=row]");
  assert.equal(await other.getByRole("button", { name: "New item" }).count(), 0);
  await other.locator(".grid").focus();
  await other.keyboard.press("Enter");
  await other.waitForSelector("dialog .attributes");
  assert.equal(await other.getByRole("tab", { name: "Edit" }).count(), 0);
  await visit("/tables/MediaLibrary");
  await other.waitForSelector("[data-index]");
  assert.equal(await other.getByRole("button", { name: /Delete|Purge|Add an index|Turn o/ }).count(), 0);
  await assert.rejects(call(calm, "PutItem", { TableName: "MediaLibrary", Item: {} }), /read-only/);
  await calm.stop();
});

test("another endpoint is shown the same way, and what it lacks is not offered", async () => {
  const far = await start({ endpoint: server.api });
  const { page: other, go: visit } = await open(far);
  await visit("/tables/WorthWatch/items?pk=USER%23BEN");
  await other.waitForSelector(".grid-body [role=row]");
  assert.equal(await other.getByRole("link", { name: "Live" }).count(), 0);
  assert.equal(await other.getByRole("link", { name: "Models" }).count(), 0);
  await waitForText(other, ".where", new URL(server.api).host);
  await other.getByRole("button", { name: "As request, command and code" }).click();
  await other.getByRole("tab", { name: "AWS CLI" }).click();
  await waitForText(other, "dialog pre", `--endpoint-url ${server.api} `);
  await far.stop();
});

test("with access keys one signs in, and out", async () => {
  const data = await temporaryFolder();
  const printed = execFileSync(binary, ["key", "add", "--data", data], { encoding: "utf8" });
  const id = /AWS_ACCESS_KEY_ID[=: ]+"?([A-Za-z0-9]+)/.exec(printed)?.[1] ?? /([A-Z0-9]{16,})/.exec(printed)[1];
  const secret = /AWS_SECRET_ACCESS_KEY[=: ]+"?([A-Za-z0-9+/=_-]+)/.exec(printed)?.[1];
  const locked = await start({ data });
  const { page: other, go: visit } = await open(locked);
  await visit("/tables");
  await other.getByLabel("Access key", { exact: true }).fill(id);
  await other.getByLabel("Secret access key").fill("wrong");
  await other.getByRole("button", { name: "Sign in" }).click();
  await other.waitForSelector(".notice.bad");
  await other.getByLabel("Secret access key").fill(secret);
  await other.getByRole("button", { name: "Sign in" }).click();
  await waitForText(other, ".empty h2", "There is no table yet");
  await other.reload();
  await waitForText(other, ".empty h2", "There is no table yet");
  await other.getByRole("button", { name: `Sign out ${id}` }).click();
  await other.waitForSelector(".sign-in");
  await locked.stop();
});

await run();

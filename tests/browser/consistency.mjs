// The consistency manager of a model of one's own: changes that are parked, and a migration on its way.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { violations } from "./axe.mjs";
import { binary, call, open, run, start, temporaryFolder, test, waitForText } from "./browser.mjs";

// The key of a book contains two texts.  Each fits, and both together may not.
const model = `model: library
table:
  name: Library
  key: [PK, SK]
  indexes:
    ByShelf: { key: [GSI1PK, GSI1SK], projection: all }
entities:
  SHELF:
    path: /shelves/{shelf}
    operations: [put, get, update, delete]
    owner: user
    keys: { PK: "user#{user}", SK: "shelf#{shelf}" }
    attributes:
      user: string
      shelf: { type: string, pattern: "[a-z0-9]{1,20}" }
      label: { type: string, required: true, min: 1, max: 100 }
  BOOK:
    path: /shelves/{shelf}/books/{book}
    operations: [put, get, delete]
    owner: user
    parents:
      shelf: { entity: SHELF, on_delete: cascade }
    keys:
      PK: "user#{user}"
      SK: "book#{shelf}#{book}"
      GSI1PK: "user#{user}"
      GSI1SK: "book#{label|sortable}#{title|sortable}#{book}"
    attributes:
      user: string
      shelf: string
      book: { type: string, pattern: "[a-z0-9]{1,20}" }
      title: { type: string, required: true, min: 1, max: 100 }
      label: { type: string, copy_of: shelf.label }
patterns:
  books:
    get: /books
    query: { index: ByShelf, GSI1PK: "user#{me}" }
    returns: BOOK
`;
// Every book moves to another primary key.
const moved = model.replace('SK: "book#', 'SK: "b#');
const long = "\u{1D160}".repeat(45); // a note that is three characters when it is sorted

const folder = await temporaryFolder();
const [old, next] = [join(folder, "library.yaml"), join(folder, "moved.yaml")];
await writeFile(old, model);
await writeFile(next, moved);
const server = await start({ args: ["--models", old] });
const { page, go } = await open(server, { width: 1280, height: 900 });
async function ask(method, path, body) {
  const answer = await fetch(`${server.console}/console/models/library/run`, {
    method: "POST", headers: { "X-Stator-Console": "1" },
    body: JSON.stringify({ method, path, query: {}, body: body ? JSON.stringify(body) : null, as: { subject: "ann" } }),
  });
  const { status, text } = await answer.json();
  assert.ok(status < 300, `${method} ${path}: ${status} ${text}`);
}
const book = async (name) => (await call(server, "GetItem", {
  TableName: "Library", Key: { PK: { S: "user#ann" }, SK: { S: `book#crime#${name}` } }, ConsistentRead: true,
})).Item;
const parked = page.locator("section[aria-label='Parked changes']");

test("a change that cannot be propagated is shown with its reason and its record", async () => {
  await ask("PUT", "/shelves/crime", { label: "Crime" });
  await ask("PUT", "/shelves/crime/books/long", { title: long });
  await ask("PUT", "/shelves/crime/books/short", { title: "Rebecca" });
  await go("/models/library?tab=consistency");
  await waitForText(page, "section[aria-label='Consistency manager']", "running");
  await waitForText(page, "section[aria-label='Parked changes']", "None.");
  await ask("PATCH", "/shelves/crime", { label: long });
  await parked.getByRole("button", { name: "Replay" }).waitFor();
  assert.match(await parked.locator("header code").textContent(), /^\d+$/);
  assert.match(await parked.textContent(), /Parked \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC after 1 attempt/);
  await parked.getByText("Record", { exact: true }).click();
  await waitForText(page, "section[aria-label='Parked changes'] pre", "OldImage");
  assert.match(await page.locator("section[aria-label='Consistency manager']").textContent(), /Parked1/);
  assert.equal((await book("short")).label.S, long, "the others are propagated");
  assert.equal((await book("long")).label.S, "Crime");
});

for (const dark of [false, true]) {
  test(`parked changes are accessible, ${dark ? "dark" : "light"}`, async () => {
    const other = await open(server, { dark });
    await other.go("/models/library?tab=consistency");
    await other.page.getByRole("button", { name: "Replay" }).waitFor();
    assert.deepEqual(await violations(other.page), []);
    await other.context.close();
  });
}

test("a replay that fails says why, and one that succeeds removes the record", async () => {
  await parked.getByRole("button", { name: "Replay" }).click();
  await waitForText(page, ".toast", "The change fails as before");
  await parked.getByRole("button", { name: "Replay" }).waitFor();
  await ask("PUT", "/shelves/crime/books/long", { title: "Brief" });
  await parked.getByRole("button", { name: "Replay" }).click();
  await waitForText(page, "section[aria-label='Parked changes']", "None.");
  assert.equal((await book("long")).label.S, long);
});

test("a migration has a plan, and the command that carries it out", async () => {
  await go("/models/library?tab=write&side=plan");
  await page.locator(".editor-host[data-ready=true]").waitFor();
  await page.locator(".editor .cm-content").first().evaluate((content) => content.focus());
  await page.keyboard.press("Control+A");
  await page.evaluate((content) => navigator.clipboard.writeText(content), moved);
  await page.keyboard.press("Control+V");
  await waitForText(page, ".writing-side .steps", "BOOK");
  await waitForText(page, ".writing-side .code", `stator model migrate OLD.yaml NEW.yaml --endpoint ${server.api}`);
  await page.getByRole("link", { name: "Consistency", exact: true }).click();
  await page.locator("section[aria-label='Consistency manager']").waitFor();
});

// Ends when the migration has announced itself, or when it has ended.
function migrate() {
  const child = spawn(binary, ["model", "migrate", old, next, "--yes", "--endpoint", server.api], { stdio: ["ignore", "ignore", "pipe"] });
  const ended = new Promise((done) => child.on("exit", done));
  const announced = new Promise((done) => createInterface({ input: child.stderr }).on("line", (line) => line.includes("every program knows") && done()));
  return { announced: Promise.race([announced, ended]), ended, kill: () => child.kill("SIGKILL") };
}
const card = page.locator("section[aria-label=Migration]");

test("a migration is seen with its steps while it goes, and after it was interrupted", async () => {
  const migration = migrate();
  await migration.announced;
  await card.locator("[aria-current=step]").waitFor();
  assert.match(await card.locator("header").textContent(), /step \d+ of \d+/);
  assert.ok((await card.locator("li").count()) >= 2);
  await waitForText(page, "section[aria-label=Migration] .badge", "rows read");
  migration.kill();
  await migration.ended;
  await page.reload();
  await card.locator("[aria-current=step]").waitFor();
  assert.deepEqual(await violations(page), []);
});

test("the same command continues it, and the page shows its end", async () => {
  assert.equal(await migrate().ended, 0);
  await waitForText(page, "section[aria-label=Migration] header", "ended");
  assert.equal(await book("short"), undefined, "the book is in its new place");
});

await run();

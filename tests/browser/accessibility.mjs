// axe-core on every page, in both themes, and on dialogs.
import assert from "node:assert/strict";
import { violations } from "./axe.mjs";
import { open, run, start, test } from "./browser.mjs";

const server = await start({ demo: true });
const key = encodeURIComponent(JSON.stringify({ PK: { S: "owner#ADA" }, SK: { S: "user" } }));
const pages = [
  ["tables", "/tables", ".grid-body [role=row]"],
  ["a new table", "/new-table", "form"],
  ["a new table as JSON", "/new-table?mode=json", ".editor-host[data-ready=true]"],
  ["the settings of a table", "/tables/MediaLibrary", "[data-index]"],
  ["items", `/tables/MediaLibrary/items?pk=owner%23ADA&filter=${encodeURIComponent('[["Version",">","N","0"]]')}`, ".grid-body [role=row]"],
  ["an empty answer", "/tables/MediaLibrary/items?pk=nobody", ".empty"],
  ["an item beside the list", `/tables/MediaLibrary/items?item=${key}`, "dialog .attributes"],
  ["an item being edited", `/tables/MediaLibrary/item?key=${key}&as=edit`, ".edit-row"],
  ["an item as JSON", `/tables/MediaLibrary/item?key=${key}&as=json`, ".editor-host[data-ready=true]"],
  ["the tree of keys", "/tables/MediaLibrary/tree", ".tree-line"],
  ["import", "/tables/MediaLibrary/import", ".drop"],
  ["partitions", "/tables/MediaLibrary/partitions", ".legend"],
  ["PartiQL", `/partiql?q=${encodeURIComponent('SELECT * FROM "MediaLibrary"')}`, ".grid-body [role=row]"],
];
const dialogs = [
  ["the palette", "/tables", (page) => page.keyboard.press("Control+k")],
  ["shortcuts", "/tables", (page) => page.getByRole("button", { name: "Keyboard shortcuts" }).click()],
  ["deleting a table", "/tables/Stories", (page) => page.getByRole("button", { name: "Delete", exact: true }).click()],
  ["columns", "/tables/MediaLibrary/items", (page) => page.getByRole("button", { name: "Columns" }).click()],
  ["export", "/tables/MediaLibrary/items", async (page) => { await page.getByRole("button", { name: "More", exact: true }).click(); await page.getByRole("menuitem", { name: "Export…" }).click(); }],
  ["an update of many", "/tables/MediaLibrary/items", async (page) => { await page.getByRole("button", { name: "More", exact: true }).click(); await page.getByRole("menuitem", { name: "Update all that match…" }).click(); }],
  ["a menu", "/tables/MediaLibrary/items", (page) => page.getByRole("button", { name: "More", exact: true }).click()],
  ["code", "/tables/MediaLibrary/items", (page) => page.getByRole("button", { name: "As request, command and code" }).click()],
];

for (const dark of [false, true]) {
  const theme = dark ? "dark" : "light";
  const { page, go } = await open(server, { dark });
  await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
  for (const [name, path, ready] of pages) {
    test(`${name} has no barrier in the ${theme} theme`, async () => {
      await go(path);
      await page.waitForSelector(ready);
      assert.deepEqual(await violations(page), []);
    });
  }
  for (const [name, path, act] of dark ? dialogs.slice(0, 5) : dialogs) {
    test(`${name} has no barrier in the ${theme} theme`, async () => {
      await go(path);
      await page.waitForSelector(".grid-body [role=row], [data-index]");
      await act(page);
      await page.waitForSelector("dialog, [role=menu]");
      assert.deepEqual(await violations(page), []);
    });
  }
}
const phone = await open(server, { width: 390, height: 844 });
test("a phone has no barrier", async () => {
  await phone.go("/tables/MediaLibrary/items");
  await phone.page.waitForSelector(".grid-body [role=row]");
  assert.deepEqual(await violations(phone.page), []);
  await phone.page.getByRole("button", { name: "Menu" }).click();
  assert.deepEqual(await violations(phone.page), []);
});

await run();

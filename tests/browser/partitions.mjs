// The single-table view, with a model and without.
import assert from "node:assert/strict";
import { cells, createTable, open, putAll, run, start, test, waitForText } from "./browser.mjs";

const server = await start({ demo: true });
const { page, go } = await open(server);
const rows = () => page.waitForSelector(".grid-body [role=row]");

test("partitions are shown in order, coloured by the entities of the model", async () => {
  await go("/tables/MediaLibrary/partitions?pk=owner%23ADA");
  await rows();
  await waitForText(page, ".legend .hint", "by the model");
  const keys = await page.locator(".grid-body [role=row] code[title]").evaluateAll((all) => all.map((one) => one.title)); // long ones are cut in the middle
  assert.deepEqual(keys, [...keys].sort());
  const legend = await page.locator(".legend .entity").allTextContents();
  assert.ok(legend.some((text) => /^BOOK|^Book/i.test(text)), String(legend));
  await page.locator(".legend .entity").first().click();
  await page.waitForURL(/entity=/);
  assert.equal(new Set(await cells(page, "Entity")).size, 1);
});

test("a partition leads to itself, and the way back stays", async () => {
  await go("/tables/MediaLibrary/partitions");
  await rows();
  await page.getByRole("button", { name: "owner#CHLOE" }).first().click();
  await page.waitForURL(/pk=owner%23CHLOE/);
  await waitForText(page, ".trail", "owner#CHLOE");
  await page.getByRole("link", { name: "All partitions" }).click();
  await page.waitForURL((url) => !url.search.includes("pk="));
});

test("an item shows its entity, its parents and its rows in indexes, and they are links", async () => {
  await go("/tables/MediaLibrary/partitions?pk=owner%23ADA");
  await rows();
  await waitForText(page, ".legend .hint", "by the model");
  await page.locator(".grid-row", { hasText: "BOOK" }).first().locator("code").last().click();
  await page.waitForSelector(".relations");
  const text = await page.locator(".relations").textContent();
  assert.match(text, /Entity/);
  assert.match(text, /Parents/);
  assert.match(text, /Indexes.*GSI1/);
  await page.locator(".relations a", { hasText: "GSI1" }).first().click();
  await page.waitForURL(/index=GSI1/);
  await rows();
});

test("a parent shows its children", async () => {
  await go("/tables/MediaLibrary/partitions?pk=owner%23ADA");
  await rows();
  await waitForText(page, ".legend .hint", "by the model");
  await page.locator(".grid-row", { hasText: "LIBRARY" }).first().locator("code").last().click();
  await page.waitForFunction(() => document.querySelector(".relations")?.textContent.includes("Children"));
  await page.locator(".relations > div", { hasText: "Children" }).locator("a").first().click();
  await page.waitForFunction(() => document.querySelector(".relations")?.textContent.includes("Parents"));
});

test("without a model the type attribute counts, and without one the sort key", async () => {
  await createTable(server, "Plain");
  await putAll(server, "Plain", Array.from({ length: 20 }, (_, i) => ({ pk: { S: `user#${i % 2}` }, sk: { S: `${i % 3 ? "order" : "address"}#${i}` }, ...(i % 3 ? { total: { N: "5" } } : { street: { S: "x" } }) })));
  await go("/tables/Plain/partitions");
  await rows();
  assert.deepEqual((await page.locator(".legend .entity").allTextContents()).sort(), ["address 7", "order 13"]);
  await waitForText(page, ".legend .hint", "by the start of the sort key");
  await createTable(server, "Typed");
  await putAll(server, "Typed", Array.from({ length: 20 }, (_, i) => ({ pk: { S: `u${i}` }, sk: { S: "x" }, type: { S: i % 2 ? "A" : "B" } })));
  await go("/tables/Typed/partitions");
  await rows();
  assert.deepEqual((await page.locator(".legend .entity").allTextContents()).sort(), ["A 10", "B 10"]);
});

await run();

// Models: the picture, findings while one types, runs as any user, the document, the consistency manager, a plan.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { call, hostile, open, problems, run, start, test, waitForText } from "./browser.mjs";
import { violations } from "./axe.mjs";

const server = await start({ demo: true });
const { page, go } = await open(server, { width: 1440, height: 900 });
const editorText = () => page.locator(".editor-host").first().evaluate((host) => host.shadowRoot.querySelector(".cm-content").textContent);
// In the place of what is in the editor.
async function write(text) {
  await page.locator(".editor .cm-content").first().evaluate((content) => content.focus());
  await page.keyboard.press("Control+A");
  await page.evaluate((content) => navigator.clipboard.writeText(content), text);
  await page.keyboard.press("Control+V");
}

test("models are listed with what the checker says of them", async () => {
  await go("/models");
  await page.getByRole("heading", { name: "Media library" }).waitFor();
  assert.equal(await page.locator(".model-cards .card").count(), 5);
  assert.match(await page.locator(".model-cards .card").first().textContent(), /9 entities, 18 patterns, 12 actions/);
  assert.equal(await page.locator(".model-cards .badge.bad").count(), 0);
  assert.equal(await page.getByRole("link", { name: "Try the API" }).first().getAttribute("href"), "/systems/media-library/v1/");
});

test("a model is a picture of its entities, and a pattern shows what it reads", async () => {
  await page.getByRole("link", { name: "Media library" }).click();
  await page.locator(".drawing .node").first().waitFor();
  assert.equal(await page.locator(".drawing .node").count(), 9);
  assert.ok((await page.locator(".drawing .edge").count()) >= 8);
  await page.getByRole("button", { name: "items_in_library" }).click();
  assert.match(page.url(), /pattern=items_in_library/);
  assert.equal(await page.locator(".drawing .node.dim").count(), 6);
  assert.ok((await page.locator(".drawing .key.used").count()) >= 6);
  await waitForText(page, ".pattern-details", "GSI1PK = owner#{OwnerId}#library#{LibraryId}");
  await page.goBack();
  await page.waitForFunction(() => !document.querySelector(".drawing .node.dim"));
});

test("an entity shows its keys and attributes, by keyboard, too", async () => {
  const before = await page.locator(".drawing .edge").count();
  await page.getByLabel("copies").check();
  await page.waitForFunction((count) => document.querySelectorAll(".drawing .edge").length > count, before);
  await page.locator(".drawing .node", { hasText: "BOOK" }).focus();
  await page.keyboard.press("Enter");
  await waitForText(page, "aside .card", "A book within a library.");
  await waitForText(page, "aside table", "Title");
  assert.match(page.url(), /entity=BOOK/);
  await page.reload();
  await waitForText(page, "aside .card", "A book within a library.");
});

test("a pattern runs as any user, and shows its rows, its requests and their cost", async () => {
  await go("/models/media-library?tab=run&op=pattern:libraries");
  await page.waitForFunction(() => document.querySelector("input[list]")?.value === "ADA" || document.querySelectorAll("datalist option").length > 1);
  await page.getByLabel("As the user").fill("ADA");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await waitForText(page, ".rows", "Maison");
  assert.match(await page.locator("section[aria-label=Answer]").textContent(), /200.*1 request.*capacity units/);
  await page.getByRole("tab", { name: /Requests/ }).click();
  await waitForText(page, ".traced", "KeyConditionExpression");
  await page.getByLabel("As the user").fill("nobody-at-all");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByRole("tab", { name: "Rows (0)" }).click();
  await waitForText(page, "section[aria-label=Answer]", "no rows");
  assert.match(page.url(), /as=nobody-at-all/);
});

test("an action runs by a form, and a mistake is told", async () => {
  await go("/models/media-library?tab=run&op=entity:LIBRARY.create&as=EVE&answer=rows");
  await page.locator(".editor-host[data-ready=true]").waitFor();
  assert.match(await editorText(), /LibraryName/);
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await waitForText(page, "section[aria-label=Answer]", "400");
  await write(JSON.stringify({ LibraryName: "<b>Eve's</b>" }));
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await waitForText(page, "section[aria-label=Answer]", "201");
  await waitForText(page, "section[aria-label=Answer] pre", "<b>Eve's</b>");
  await page.getByRole("tab", { name: /Requests/ }).click();
  assert.ok((await page.locator(".traced li").count()) >= 1);
});

test("a model is edited with its findings beside it", async () => {
  await go("/models/media-library?tab=write");
  await page.locator(".editor-host[data-ready=true]").waitFor();
  await waitForText(page, ".notice.good", "The design is sound");
  await page.locator(".editor .cm-content").first().evaluate((content) => content.focus());
  await page.keyboard.press("Control+Home");
  await page.keyboard.type("colour: red\n");
  await waitForText(page, ".findings", "colour");
  await page.locator(".findings button", { hasText: "line 1" }).click();
  await page.getByRole("tab", { name: "Picture" }).last().click();
  await waitForText(page, ".notice.warn", "The text has errors");
  await page.getByRole("button", { name: "Undo all changes" }).click();
  await page.locator(".writing-side .drawing .node").first().waitFor();
});

test("the plan of a migration to the edited model is shown", async () => {
  const source = (await readFile(new URL("../../systems/media-library/model.yaml", import.meta.url), "utf8")).replace("  indexes:\n", "  indexes:\n    GSI9:\n      key: [GSI9PK, GSI9SK]\n");
  await go("/models/media-library?tab=write&side=plan");
  await page.locator(".editor-host[data-ready=true]").waitFor();
  await waitForText(page, ".writing-side", "Nothing to do");
  await write(source);
  await waitForText(page, ".writing-side .steps", "GSI9");
});

test("a new model begins with one that is sound", async () => {
  await go("/new-model");
  await waitForText(page, ".notice.good", "The design is sound");
});

test("the document is there as tables and headings", async () => {
  await go("/models/media-library?tab=document");
  await page.locator(".document h2", { hasText: "media-library" }).waitFor();
  assert.ok((await page.locator(".document table").count()) > 5);
  assert.ok(!(await page.locator(".document").textContent()).includes("| ---"));
});

test("the table is verified, and a difference is repaired", async () => {
  const { Items } = await call(server, "Query", {
    TableName: "MediaLibrary", KeyConditionExpression: "PK = :p AND begins_with(SK, :s)", FilterExpression: "EntityType = :t",
    ExpressionAttributeValues: { ":p": { S: "owner#ADA" }, ":s": { S: "library#" }, ":t": { S: "COLLECTION" } },
  });
  await call(server, "UpdateItem", {
    TableName: "MediaLibrary", Key: { PK: Items[0].PK, SK: Items[0].SK }, UpdateExpression: "SET GSI1SK = :x", ExpressionAttributeValues: { ":x": { S: "wrong" } },
  });
  await go("/models/media-library?tab=consistency");
  await waitForText(page, "section[aria-label='Consistency manager']", "running");
  await page.getByRole("button", { name: "Verify", exact: true }).click();
  await waitForText(page, "section[aria-label=Differences]", "GSI1SK");
  await page.getByRole("button", { name: "Verify and repair" }).click();
  await page.getByRole("button", { name: "Repair", exact: true }).click();
  await waitForText(page, "section[aria-label=Verification]", "1 repaired");
  await page.getByRole("button", { name: "Verify", exact: true }).click();
  await waitForText(page, "section[aria-label=Verification]", "0 differences");
});

test("text of the database stays text", async () => {
  const name = hostile().slice(0, 90);
  const made = await fetch(`${server.console}/console/models/stories/run`, {
    method: "POST", headers: { "X-Stator-Console": "1" },
    body: JSON.stringify({ method: "GET", path: "/nothing", query: { q: name }, body: null, as: { subject: name } }),
  });
  assert.equal((await made.json()).status, 404);
  await go(`/models/stories?tab=run&op=${encodeURIComponent("<script>window.hacked=1</script>")}&as=${encodeURIComponent(name)}`);
  assert.equal(await page.evaluate(() => window.hacked), undefined);
});

for (const dark of [false, true]) {
  test(`every part of a model is accessible, ${dark ? "dark" : "light"}`, async () => {
    const other = await open(server, { width: 1280, height: 800, dark });
    for (const path of ["/models", "/models/media-library", "/models/media-library?entity=BOOK&lines=copy,count,parent", "/models/worthwatch?pattern=me", "/models/media-library?tab=run&op=action:lend",
      "/models/shops?tab=findings", "/models/media-library?tab=write", "/models/media-library?tab=document", "/models/media-library?tab=consistency", "/new-model"]) {
      await other.go(path);
      await other.page.waitForFunction(() => !document.querySelector(".spinner") && !document.querySelector("textarea"));
      assert.deepEqual(await violations(other.page), [], path);
    }
    await other.context.close();
  });
}

test("a phone shows a model, too", async () => {
  const phone = await open(server, { width: 390, height: 844 });
  for (const path of ["/models", "/models/media-library", "/models/media-library?tab=run&op=pattern:libraries"]) {
    await phone.go(path);
    await phone.page.waitForFunction(() => !document.querySelector(".spinner"));
    assert.ok(await phone.page.evaluate(() => document.querySelector("main").scrollWidth <= document.querySelector("main").clientWidth), path);
  }
  await phone.context.close();
});

test("a model that is not there is told", async () => {
  await go("/models/none");
  await waitForText(page, ".notice.bad", "No model of that name");
  problems.splice(0, problems.length, ...problems.filter((one) => !one.includes("404")));
});

await run();

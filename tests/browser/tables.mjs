// Tables: the list, creating, settings, copying, emptying and deleting.
import assert from "node:assert/strict";
import { call, cells, createTable, open, putAll, run, start, test, waitForText } from "./browser.mjs";

const server = await start();
const { page, go } = await open(server);
const button = (name) => page.getByRole("button", { name, exact: true });
const describe = async (TableName) => (await call(server, "DescribeTable", { TableName })).Table;
const item = (i) => ({ pk: { S: `a#${i % 7}` }, sk: { S: String(i).padStart(5, "0") }, gsi1pk: { S: "g" }, gsi1sk: { S: String(i) }, other: { S: `o${i % 3}` } });

test("a database without tables says how to begin", async () => {
  await go("/");
  await waitForText(page, ".empty h2", "There is no table yet");
  await page.locator(".empty").getByRole("link", { name: "Create a table" }).click();
  await page.waitForURL(/new-table/);
});

test("a table is created by a form, which shows it as command and CloudFormation", async () => {
  await page.getByLabel("Table name").fill("Or ders");
  assert.match(await page.locator(".field-error").first().textContent(), /3 to 255 letters/);
  await page.getByLabel("Table name").fill("Orders");
  await button("Add an index").click();
  await page.getByLabel("Stream").selectOption("NEW_AND_OLD_IMAGES");
  await page.getByLabel("Time to live").fill("ends");
  await page.getByLabel("Tags").fill("team=shop, stage=test");
  await page.getByLabel("Tags").blur();
  await page.getByLabel("Protect the table").check();
  const text = () => page.locator(".code pre").textContent();
  assert.match(await text(), /aws dynamodb create-table[^]*--table-name Orders[^]*aws dynamodb update-time-to-live[^]*"AttributeName":"ends"/);
  assert.ok((await text()).includes(`--endpoint-url ${server.api}`));
  await page.getByRole("tab", { name: "CloudFormation" }).click();
  assert.match(await text(), /Type: "AWS::DynamoDB::Table"/);
  await button("Create the table").click();
  await page.waitForURL(/\/tables\/Orders\/items/);
  const table = await describe("Orders");
  assert.deepEqual([table.GlobalSecondaryIndexes[0].IndexName, table.StreamSpecification.StreamViewType, table.DeletionProtectionEnabled], ["gsi1", "NEW_AND_OLD_IMAGES", true]);
  assert.equal((await call(server, "DescribeTimeToLive", { TableName: "Orders" })).TimeToLiveDescription.AttributeName, "ends");
  assert.equal((await call(server, "ListTagsOfResource", { ResourceArn: table.TableArn })).Tags.length, 2);
});

test("a table is created by JSON", async () => {
  await go("/new-table?mode=json");
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(JSON.stringify({ TableName: "ByJson", BillingMode: "PAY_PER_REQUEST", KeySchema: [{ AttributeName: "id", KeyType: "HASH" }], AttributeDefinitions: [{ AttributeName: "id", AttributeType: "N" }] }));
  await page.getByRole("tab", { name: "Form", exact: true }).click();
  assert.equal(await page.getByLabel("Table name").inputValue(), "ByJson");
  await page.getByRole("tab", { name: "JSON", exact: true }).click();
  await button("Create the table").click();
  await page.waitForURL(/\/tables\/ByJson\/items/);
  assert.deepEqual((await describe("ByJson")).KeySchema, [{ AttributeName: "id", KeyType: "HASH" }]);
});

test("what the server refuses is shown", async () => {
  await go("/new-table?mode=json");
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText('{"TableName": "x"}');
  await button("Create the table").click();
  await page.waitForSelector(".notice.bad");
});

test("the list has counts, sizes, indexes, streams and time to live, and is searched and sorted", async () => {
  await createTable(server, "Books.v2");
  await putAll(server, "Books.v2", Array.from({ length: 30 }, (_, i) => item(i)));
  await go("/tables");
  await page.waitForFunction(() => [...document.querySelectorAll(".grid-body [role=row]")].filter((row) => row.textContent.includes("active")).length === 3);
  assert.deepEqual(await cells(page, "Name ↑"), ["Books.v2", "ByJson", "Orders"]);
  assert.deepEqual(await cells(page, "Items"), ["30", "0", "0"]);
  assert.deepEqual(await cells(page, "Indexes"), ["1 gsi1", "none", "1 gsi1"]);
  assert.deepEqual(await cells(page, "Stream"), ["off", "off", "new and old"]);
  assert.deepEqual(await cells(page, "Time to live"), ["off", "off", "ends"]);
  await page.locator(".grid-sort", { hasText: "Items" }).click();
  await page.waitForURL(/sort=items\.asc/);
  await page.locator(".grid-sort", { hasText: "Items" }).click();
  assert.deepEqual((await cells(page, "Name"))[0], "Books.v2");
  await page.locator("main").getByLabel("Find a table").fill("ord");
  assert.deepEqual(await cells(page, "Name"), ["Orders"]);
});

test("a table with a dot in its name has an address", async () => {
  await go("/tables/Books.v2");
  await page.waitForSelector("[data-index=gsi1]");
});

test("an index is added, filled while one looks, and removed", async () => {
  await button("Add an index").click();
  await page.getByLabel("Index", { exact: true }).fill("byOther");
  await page.getByLabel("Partition key", { exact: true }).fill("other");
  await page.getByLabel("Sort key", { exact: true }).fill("");
  await button("Add the index").click();
  await page.waitForFunction(() => {
    const row = document.querySelector("[data-index=byOther]")?.textContent ?? "";
    return row.includes("active") && row.includes("30");
  });
  await button("Remove the index byOther").click();
  assert.equal(await button("Remove the index").isDisabled(), true);
  await page.getByLabel("Type byOther to go on").fill("byOther");
  await button("Remove the index").click();
  await page.waitForSelector("[data-index=byOther]", { state: "detached" });
});

test("stream, time to live, protection and tags are changed", async () => {
  const settings = page.getByRole("region", { name: "Stream, time to live, protection" });
  const on = settings.getByRole("button", { name: "Turn on" });
  await on.nth(0).click();
  await waitForText(page, ".badge.good", "new and old images");
  await settings.getByLabel("Attribute with the second").fill("until");
  await on.nth(0).click();
  await waitForText(page, ".badge.good", "until");
  await on.nth(0).click();
  await waitForText(page, ".badge.good", "on");
  await page.getByLabel("Name of the tag").fill("owner");
  await page.getByLabel("Value of the tag").fill("kim@shop");
  await button("Add").click();
  await waitForText(page, ".tags", "kim@shop");
  const table = await describe("Books.v2");
  assert.deepEqual([table.StreamSpecification.StreamEnabled, table.DeletionProtectionEnabled], [true, true]);
  await button("Remove the tag owner").click();
  await waitForText(page, "section", "There are no tags.");
});

test("a protected table is not deleted, and the reason is shown", async () => {
  await button("Delete").click();
  await page.getByLabel("Type Books.v2 to go on").fill("Books.v2");
  await button("Delete the table").click();
  await page.waitForSelector("dialog .notice.bad");
  await button("Cancel").click();
  await page.getByRole("region", { name: "Stream, time to live, protection" }).getByRole("button", { name: "Turn off" }).last().click();
  await page.waitForFunction(() => document.body.textContent.includes("The table can be deleted."));
});

test("a table is copied with its items", async () => {
  await button("Copy the table").click();
  await page.waitForFunction(() => document.querySelector("h1")?.textContent === "Copy Books.v2");
  assert.equal(await page.getByLabel("Table name").inputValue(), "Books.v2-copy");
  await button("Copy the table").click();
  await page.waitForURL(/tables\/Books\.v2-copy\/items/);
  assert.equal((await call(server, "Scan", { TableName: "Books.v2-copy", Select: "COUNT" })).Count, 30);
  const copy = await describe("Books.v2-copy");
  assert.deepEqual([copy.GlobalSecondaryIndexes.length, copy.StreamSpecification.StreamEnabled], [1, true]);
});

test("a table is copied from another endpoint", async () => {
  const far = await start();
  await createTable(far, "Far");
  await putAll(far, "Far", Array.from({ length: 40 }, (_, i) => item(i)));
  await go("/new-table");
  await page.getByText("Copy a table from another endpoint").click();
  await page.getByLabel("Endpoint").fill("http://127.0.0.1:1");
  await button("List its tables").click();
  await page.waitForSelector("details .notice.bad");
  await page.getByLabel("Endpoint").fill(far.api);
  await button("List its tables").click();
  await button("Far").click();
  await page.waitForFunction(() => document.querySelector("h1")?.textContent === "Copy Far");
  await button("Copy the table").click();
  await page.waitForURL(/tables\/Far\/items/);
  assert.equal((await call(server, "Scan", { TableName: "Far", Select: "COUNT" })).Count, 40);
  assert.equal((await describe("Far")).GlobalSecondaryIndexes.length, 1);
  await far.stop();
});

test("a table is purged after its name was typed", async () => {
  await go("/tables/Books.v2-copy");
  await button("Purge").click();
  assert.equal(await button("Delete all items").isDisabled(), true);
  await page.getByLabel("Type Books.v2-copy to go on").fill("Books.v2-copy");
  await button("Delete all items").click();
  await waitForText(page, ".toast", "30 items were deleted");
  assert.equal((await call(server, "Scan", { TableName: "Books.v2-copy", Select: "COUNT" })).Count, 0);
});

test("a table is deleted after its name was typed", async () => {
  await go("/tables");
  await button("Actions for Books.v2-copy").click();
  await page.getByRole("menuitem", { name: "Delete the table" }).click();
  await page.getByLabel("Type Books.v2-copy to go on").fill("Books.v2-copy");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => ![...document.querySelectorAll(".grid-body [role=row]")].some((row) => row.textContent.includes("Books.v2-copy")));
  assert.ok(!(await call(server, "ListTables", {})).TableNames.includes("Books.v2-copy"));
});

await run();

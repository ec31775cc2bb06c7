// Live requests, charts and partitions; streams.
import assert from "node:assert/strict";
import { violations } from "./axe.mjs";
import { hostile, open, putAll, run, start, test, waitForText } from "./browser.mjs";

const server = await start();
const { page, go } = await open(server, { width: 1440, height: 900 });
// At the DynamoDB endpoint, as any client: the console's own calls are not shown.
async function dynamo(operation, body) {
  const service = ["DescribeStream", "GetRecords", "ListStreams", "GetShardIterator"].includes(operation) ? "DynamoDBStreams" : "DynamoDB";
  const answer = await fetch(server.api, {
    method: "POST", body: JSON.stringify(body),
    headers: { "Content-Type": "application/x-amz-json-1.0", "X-Amz-Target": `${service}_20120810.${operation}`, Authorization: "AWS4-HMAC-SHA256 Credential=secret-key-id/20260101/us-east-1/dynamodb/aws4_request" },
  });
  return answer.json();
}
const asked = (what) => page.waitForResponse((answer) => answer.url().includes(`/console/${what}`));
const item = (artist, more = {}) => ({ Artist: { S: artist }, Song: { S: "x" }, ...more });
await dynamo("CreateTable", {
  TableName: "Music", BillingMode: "PAY_PER_REQUEST", StreamSpecification: { StreamEnabled: true, StreamViewType: "NEW_AND_OLD_IMAGES" },
  KeySchema: [{ AttributeName: "Artist", KeyType: "HASH" }], AttributeDefinitions: [{ AttributeName: "Artist", AttributeType: "S" }],
});

test("requests appear as they come", async () => {
  await go("/live");
  await waitForText(page, ".empty", "Waiting for requests");
  await asked("live"); // the server begins to record when the page asks first
  await dynamo("PutItem", { TableName: "Music", Item: item("Can"), ReturnConsumedCapacity: "TOTAL" });
  await dynamo("GetItem", { TableName: "Missing", Key: { Artist: { S: "Can" } } });
  await waitForText(page, ".grid-row", "PutItem");
  const row = await page.locator(".grid-body .grid-row", { hasText: "PutItem" }).first().textContent();
  assert.match(row, /Music.*Can.*200/);
  await waitForText(page, ".grid-row.failed", "ResourceNotFoundException");
  assert.ok(!(await page.content()).includes("secret-key-id"), "headers are never shown");
});

test("they are filtered, and the filter is in the URL", async () => {
  await page.getByLabel("only errors").check();
  await page.waitForFunction(() => document.querySelectorAll(".grid-body .grid-row").length === 1);
  assert.match(page.url(), /failed=1/);
  await page.reload();
  await page.waitForFunction(() => document.querySelector("input[type=checkbox]")?.checked);
  await page.getByLabel("only errors").uncheck();
  await page.getByLabel("Find in requests").fill("Can");
  await waitForText(page, ".grid-row", "PutItem");
  await page.getByLabel("Find in requests").fill("");
});

test("they can be paused", async () => {
  await page.getByRole("button", { name: "Pause" }).click();
  await asked("metrics");
  await dynamo("DeleteItem", { TableName: "Music", Key: { Artist: { S: "Paused" } } });
  for (let i = 0; i < 2; i++) await asked("metrics"); // which is asked for as often as requests
  assert.equal(await page.locator(".grid-row", { hasText: "DeleteItem" }).count(), 0);
  await page.getByRole("button", { name: "Go on" }).click();
  await waitForText(page, ".grid-row", "DeleteItem");
});

test("one can be replayed; a write only after a question", async () => {
  await dynamo("Query", { TableName: "Music", KeyConditionExpression: "Artist = :a", ExpressionAttributeValues: { ":a": { S: "Can" } } });
  await page.locator(".grid-body .grid-row", { hasText: "Query" }).first().click();
  await waitForText(page, "dialog", "KeyConditionExpression");
  assert.match(page.url(), /open=\d+/);
  await page.locator("dialog").getByRole("button", { name: "Replay" }).click();
  await waitForText(page, "dialog", '"Count": 1');
  await page.locator("dialog").getByRole("button", { name: "Close" }).first().click();
  await page.locator(".grid-body .grid-row", { hasText: "PutItem" }).first().click();
  await page.locator("dialog").getByRole("button", { name: "Replay" }).click();
  await waitForText(page, "dialog", "This request changes data");
  await page.locator("dialog").last().getByRole("button", { name: "Replay" }).click();
  await waitForText(page, "dialog", "Answer of the replay");
  await page.keyboard.press("Escape");
});

test("a hostile item stays text", async () => {
  await dynamo("PutItem", { TableName: "Music", Item: item(hostile().slice(0, 300), { Text: { S: hostile(20_000) } }) });
  await waitForText(page, ".grid-row", "<script>");
  await page.locator(".grid-body .grid-row", { hasText: "<script>" }).first().click();
  await waitForText(page, "dialog", "cannot be replayed");
  await page.keyboard.press("Escape");
  assert.equal(await page.evaluate(() => window.hacked), undefined);
});

test("two thousand requests are bounded, and only those in sight are in the document", async () => {
  await Promise.all(Array.from({ length: 10 }, async () => {
    for (let i = 0; i < 300; i++) await dynamo("GetItem", { TableName: "Music", Key: { Artist: { S: "Hot" } } });
  }));
  await waitForText(page, ".grid-foot", "2,000");
  assert.ok((await page.locator(".grid-body .grid-row").count()) < 100);
});

test("the hottest partition is the first", async () => {
  await page.getByRole("tab", { name: "Hottest partitions" }).click();
  await waitForText(page, "tbody tr:first-child", "Hot");
  assert.match(await page.locator("tbody tr").first().textContent(), /Music/);
});

test("charts are drawn, with their values as text", async () => {
  await page.getByRole("tab", { name: "Charts" }).click();
  await page.locator(".chart canvas").first().waitFor();
  assert.equal(await page.locator(".chart canvas").count(), 6);
  assert.match(await page.locator(".chart", { hasText: "Memory of the process" }).textContent(), /\d+ MB/);
  await waitForText(page, "table", "GetItem");
});

test("a database server that keeps the data has a tab", async () => {
  assert.equal(await page.getByRole("tab", { name: "Store" }).count(), 0);
  const store = {
    host: "db1:5432", reachable: false, since: "2026-01-15T10:00:00.000Z", connections: 7, connectionsUsed: 2, mostConnections: 25, roundTripMicros: 250, epoch: 12,
    conflicts: 3, retries: 1, lockWaitMicros: 1500, statements: [{ kind: "read", roundTrips: 10, statements: 10, rows: 9, micros: 2000 }],
  };
  await page.route("**/console/metrics", async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, json: { ...(await answer.json()), store } });
  });
  await page.getByRole("tab", { name: "Store" }).click();
  await waitForText(page, ".facts", "db1:5432");
  assert.match(await page.locator(".facts").textContent(), /unreachable since 2026-01-15 10:00:00 UTC.*250 µs.*2 in use, 7 open, at most 25/);
  assert.match(await page.locator("tbody tr").first().textContent(), /read.*200 µs/);
  assert.deepEqual(await violations(page), []);
  await page.unrouteAll({ behavior: "wait" }); // a request may be on its way through the route
});

test("a stream shows old and new side by side", async () => {
  await dynamo("PutItem", { TableName: "Music", Item: item("Can", { Year: { N: "1968" } }) });
  await dynamo("PutItem", { TableName: "Music", Item: item("Can", { Year: { N: "12345678901234567890123456789012345678" }, Text: { S: hostile() } }) });
  await dynamo("DeleteItem", { TableName: "Music", Key: { Artist: { S: "Can" } } });
  await go("/streams");
  await page.getByRole("link", { name: "Music", exact: true }).last().click();
  const modified = page.locator(".change", { hasText: "modify" }).filter({ hasText: "1968" }).filter({ hasText: "12345678901234567890123456789012345678" });
  await modified.first().waitFor();
  assert.deepEqual(await modified.first().locator("th").allTextContents(), ["Attribute", "Old", "New"]);
  await page.locator(".change .badge.bad", { hasText: "remove" }).first().waitFor();
  assert.equal(await page.evaluate(() => window.hacked), undefined);
});

test("changes appear as they come, and are filtered", async () => {
  await go("/streams/Music?from=now");
  await waitForText(page, ".empty", "No change yet");
  await page.waitForResponse((answer) => answer.url().endsWith("/api/GetRecords"));
  await dynamo("PutItem", { TableName: "Music", Item: item("Neu!") });
  await waitForText(page, ".change", "Neu!");
  assert.equal(await page.locator(".change").count(), 1);
  await page.getByLabel("Kind of change").selectOption("REMOVE");
  await page.waitForFunction(() => document.querySelectorAll(".change").length === 0);
  await page.getByLabel("Kind of change").selectOption("");
});

test("a stream is read from any point", async () => {
  await page.locator(".change .link").first().click();
  assert.match(page.url(), /from=at%3A\d+/);
  assert.match(await page.getByLabel("Sequence number").inputValue(), /^\d+$/);
  await waitForText(page, ".change", "Neu!");
  await dynamo("PutItem", { TableName: "Music", Item: item("Harmonia") });
  await waitForText(page, ".change", "Harmonia");
  await page.getByLabel("From").selectOption("After a sequence number");
  assert.match(page.url(), /from=after%3A\d+/);
  await page.waitForFunction(() => document.querySelectorAll(".change").length === 1);
  assert.match(await page.locator(".change").textContent(), /Harmonia/);
  await page.getByLabel("Sequence number").fill("x");
  await waitForText(page, ".notice", "made of digits");
  await page.getByLabel("From").selectOption("From the oldest change");
  await waitForText(page, ".change", "1968");
});

const secondsOf = (text) => Date.parse(`${text.replace(" ", "T")}Z`) / 1000;
const fromTime = (seconds) => `/streams/Music?from=time:${new Date(seconds * 1000).toISOString().slice(0, 19)}`;
test("a stream is read from a time", async () => {
  const all = await page.locator(".change").count();
  const times = await page.locator(".change .time").allTextContents();
  const newer = times.filter((text) => secondsOf(text) >= secondsOf(times[0])).length;
  assert.ok(newer < all);
  await go(fromTime(secondsOf(times[0])));
  await waitForText(page, ".hint", `${all - newer} older change`);
  assert.equal(await page.locator(".change").count(), newer);
  await go(fromTime(Date.now() / 1000 + 3600));
  await waitForText(page, ".empty", "No change since then");
  await page.getByLabel("Time (UTC)").fill("2020-01-01T00:00:01");
  await page.getByLabel("Time (UTC)").press("Tab");
  await page.waitForFunction((count) => document.querySelectorAll(".change").length === count, all);
});

test("the way to that time is shown, and can be stopped", async () => {
  await putAll(server, "Music", Array.from({ length: 6000 }, (_, i) => item(`Artist ${i}`)));
  let answers = 0; // four shards, each with more records than one answer has
  await page.route("**/api/GetRecords", (route) => ++answers <= 4 && route.continue());
  await go(fromTime(Date.now() / 1000 + 3600));
  await waitForText(page, ".notice", "Reading on to that time: 4,000 older changes left out, now at 20");
  await page.getByRole("button", { name: "Stop" }).click();
  await waitForText(page, ".notice", "Stopped on the way");
  assert.match(page.url(), /paused=1/);
  await page.unroute("**/api/GetRecords");
  await page.getByRole("button", { name: "Go on" }).click();
  await waitForText(page, ".empty", "No change since then");
  assert.ok(Number(await page.locator("[data-skipped]").getAttribute("data-skipped")) > 6000);
});

for (const dark of [false, true]) {
  test(`live and streams are accessible, ${dark ? "dark" : "light"}`, async () => {
    const other = await open(server, { dark });
    for (const [path, sign] of [["/live", ".grid-row"], ["/live?tab=charts", "canvas"], ["/live?tab=partitions", "tbody tr"], ["/streams", "tbody tr"], ["/streams/Music", ".change"], [fromTime(Date.now() / 1000 - 60), ".change"]]) {
      await other.go(path);
      // Requests are recorded only while somebody looks, and the page may not have asked for them yet.
      for (const deadline = Date.now() + 20_000; ; ) {
        await dynamo("GetItem", { TableName: "Music", Key: { Artist: { S: "Hot" } } });
        const shown = other.page.locator(sign).first().waitFor({ timeout: 1000 });
        if (await shown.then(() => true, (error) => Date.now() > deadline && Promise.reject(error))) break;
      }
      assert.deepEqual(await violations(other.page), [], path);
    }
    await other.context.close();
  });
}

await run();

// The AWS SDK for JavaScript v3: the plain client, and the document client that most applications use.
import assert from "node:assert/strict";
import * as sdk from "@aws-sdk/client-dynamodb";
import * as lib from "@aws-sdk/lib-dynamodb";

const options = {
  endpoint: process.env.STATOR_ENDPOINT,
  region: "us-east-1",
  credentials: { accessKeyId: "local", secretAccessKey: "local" },
  maxAttempts: 1,
};
const client = new sdk.DynamoDBClient(options);
const documents = lib.DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
const tests = [];
const test = (name, run) => tests.push({ name, run });
const all = async (pages) => { const found = []; for await (const page of pages) found.push(page); return found; };
const rejected = async (promise) => { try { await promise; } catch (e) { return e; } throw new Error("it was not refused"); };

test("a table is created and waited for", async () => {
  const { TableDescription } = await client.send(new sdk.CreateTableCommand({
    TableName: "Orders", BillingMode: "PAY_PER_REQUEST",
    KeySchema: [{ AttributeName: "pk", KeyType: "HASH" }, { AttributeName: "sk", KeyType: "RANGE" }],
    AttributeDefinitions: ["pk", "sk", "status"].map((AttributeName) => ({ AttributeName, AttributeType: "S" })),
    GlobalSecondaryIndexes: [{
      IndexName: "ByStatus", Projection: { ProjectionType: "INCLUDE", NonKeyAttributes: ["total"] },
      KeySchema: [{ AttributeName: "status", KeyType: "HASH" }, { AttributeName: "sk", KeyType: "RANGE" }],
    }],
  }));
  assert.ok(TableDescription.CreationDateTime instanceof Date && Math.abs(Date.now() - TableDescription.CreationDateTime) < 600e3);
  await sdk.waitUntilTableExists({ client, maxWaitTime: 60, minDelay: 1, maxDelay: 1 }, { TableName: "Orders" });
  const { Table } = await client.send(new sdk.DescribeTableCommand({ TableName: "Orders" }));
  assert.equal(Table.TableStatus, "ACTIVE");
  assert.equal(Table.GlobalSecondaryIndexes[0].IndexStatus, "ACTIVE");
  assert.match(Table.TableId, /^[0-9a-f-]{36}$/);
});

test("attribute values come back", async () => {
  const Item = {
    pk: { S: "types" }, sk: { S: "é😀" }, n: { N: "-1.5" }, b: { B: new Uint8Array([0, 255]) }, t: { BOOL: true }, z: { NULL: true },
    l: { L: [{ S: "" }, { M: {} }] }, ss: { SS: ["a"] }, ns: { NS: ["1"] }, bs: { BS: [new Uint8Array([1])] },
  };
  await client.send(new sdk.PutItemCommand({ TableName: "Orders", Item }));
  const got = await client.send(new sdk.GetItemCommand({ TableName: "Orders", Key: { pk: Item.pk, sk: Item.sk }, ConsistentRead: true }));
  const bytes = (v) => JSON.parse(JSON.stringify(v, (_, x) => (x instanceof Uint8Array ? [...x] : x)));
  assert.deepEqual(bytes(got.Item), bytes(Item));
  assert.match(got.$metadata.requestId, /^[A-Za-z0-9-]{36,52}$/);
});

test("documents come back", async () => {
  const Item = { pk: "doc", sk: "1", total: 12.5, list: [1, "two", null, { deep: true }], set: new Set(["a", "b"]), status: "open", none: undefined };
  await documents.send(new lib.PutCommand({ TableName: "Orders", Item }));
  const got = await documents.send(new lib.GetCommand({ TableName: "Orders", Key: { pk: "doc", sk: "1" } }));
  delete Item.none;
  assert.deepEqual(got.Item, Item);
  assert.equal((await documents.send(new lib.GetCommand({ TableName: "Orders", Key: { pk: "doc", sk: "?" } }))).Item, undefined);
});

test("large numbers stay exact", async () => {
  const exact = lib.DynamoDBDocumentClient.from(new sdk.DynamoDBClient(options), { unmarshallOptions: { wrapNumbers: true } });
  await exact.send(new lib.PutCommand({ TableName: "Orders", Item: { pk: "big", sk: "1", n: 12345678901234567890n } }));
  const got = await exact.send(new lib.GetCommand({ TableName: "Orders", Key: { pk: "big", sk: "1" } }));
  assert.equal(got.Item.n.value, "12345678901234567890");
});

test("updates return what they changed", async () => {
  const update = (ReturnValues) => documents.send(new lib.UpdateCommand({
    TableName: "Orders", Key: { pk: "up", sk: "1" }, ReturnValues,
    UpdateExpression: "SET #n = if_not_exists(#n, :zero) + :one, tags = list_append(if_not_exists(tags, :none), :tag)",
    ExpressionAttributeNames: { "#n": "count" }, ExpressionAttributeValues: { ":zero": 0, ":one": 1, ":none": [], ":tag": ["x"] },
  }));
  assert.deepEqual((await update("ALL_NEW")).Attributes, { pk: "up", sk: "1", count: 1, tags: ["x"] });
  assert.deepEqual((await update("UPDATED_OLD")).Attributes, { count: 1, tags: ["x"] });
  assert.deepEqual((await update("UPDATED_NEW")).Attributes, { count: 3, tags: ["x", "x", "x"] });
});

test("failed conditions are typed errors with the old item", async () => {
  await documents.send(new lib.PutCommand({ TableName: "Orders", Item: { pk: "cond", sk: "1", n: 1 } }));
  const error = await rejected(documents.send(new lib.PutCommand({
    TableName: "Orders", Item: { pk: "cond", sk: "1" }, ConditionExpression: "attribute_not_exists(pk)", ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  })));
  assert.ok(error instanceof sdk.ConditionalCheckFailedException, String(error));
  assert.equal(error.message, "The conditional request failed");
  assert.equal(error.$metadata.httpStatusCode, 400);
  const deleted = await documents.send(new lib.DeleteCommand({
    TableName: "Orders", Key: { pk: "cond", sk: "1" }, ConditionExpression: "n = :one", ExpressionAttributeValues: { ":one": 1 }, ReturnValues: "ALL_OLD",
  }));
  assert.deepEqual(deleted.Attributes, { pk: "cond", sk: "1", n: 1 });
  const missing = await rejected(client.send(new sdk.DescribeTableCommand({ TableName: "Nowhere" })));
  assert.ok(missing instanceof sdk.ResourceNotFoundException, String(missing));
  const invalid = await rejected(documents.send(new lib.GetCommand({ TableName: "Orders", Key: { pk: "x" } })));
  assert.equal(invalid.name, "ValidationException");
});

test("batches write and read", async () => {
  const items = Array.from({ length: 100 }, (_, i) => ({ pk: "batch", sk: String(i).padStart(3, "0"), total: i, status: i % 10 ? "open" : "closed" }));
  for (let i = 0; i < items.length; i += 25) {
    const requests = items.slice(i, i + 25).map((Item) => ({ PutRequest: { Item } }));
    const { UnprocessedItems } = await documents.send(new lib.BatchWriteCommand({ RequestItems: { Orders: requests } }));
    assert.deepEqual(UnprocessedItems, {});
  }
  const Keys = items.map(({ pk, sk }) => ({ pk, sk }));
  const { Responses, UnprocessedKeys } = await documents.send(new lib.BatchGetCommand({ RequestItems: { Orders: { Keys, ConsistentRead: true } } }));
  assert.deepEqual(UnprocessedKeys, {});
  assert.deepEqual(Responses.Orders.sort((a, b) => (a.sk < b.sk ? -1 : 1)), items);
  const double = await rejected(documents.send(new lib.BatchGetCommand({ RequestItems: { Orders: { Keys: [Keys[0], Keys[0]] } } })));
  assert.equal(double.message, "Provided list of item keys contains duplicates");
});

test("queries and their pages", async () => {
  const query = {
    TableName: "Orders", KeyConditionExpression: "pk = :p AND begins_with(sk, :s)", ExpressionAttributeValues: { ":p": "batch", ":s": "0" },
  };
  const pages = await all(lib.paginateQuery({ client: documents, pageSize: 9 }, { ...query }));
  assert.deepEqual(pages.flatMap((p) => p.Items.map((i) => i.total)), [...Array(100).keys()]);
  assert.equal(pages.length, 12);
  const back = await documents.send(new lib.QueryCommand({ ...query, ScanIndexForward: false, Limit: 3 }));
  assert.deepEqual(back.Items.map((i) => i.sk), ["099", "098", "097"]);
  assert.deepEqual(back.LastEvaluatedKey, { pk: "batch", sk: "097" });
  const index = await documents.send(new lib.QueryCommand({
    TableName: "Orders", IndexName: "ByStatus", KeyConditionExpression: "#s = :s AND sk > :k", FilterExpression: "#t < :t",
    ExpressionAttributeNames: { "#s": "status", "#t": "total" }, ExpressionAttributeValues: { ":s": "closed", ":k": "010", ":t": 50 },
  }));
  assert.deepEqual(index.Items.map((i) => i.total), [20, 30, 40]);
  assert.deepEqual([index.Count, index.ScannedCount], [3, 8]);
});

test("pages of a megabyte", async () => {
  const text = "x".repeat(100_000);
  for (let i = 0; i < 30; i += 5) {
    const requests = Array.from({ length: 5 }, (_, k) => ({ PutRequest: { Item: { pk: "large", sk: String(i + k).padStart(2, "0"), text } } }));
    await documents.send(new lib.BatchWriteCommand({ RequestItems: { Orders: requests } }));
  }
  const pages = await all(lib.paginateQuery({ client: documents }, {
    TableName: "Orders", KeyConditionExpression: "pk = :p", ExpressionAttributeValues: { ":p": "large" },
  }));
  assert.equal(pages.flatMap((p) => p.Items).length, 30);
  assert.ok(pages.length === 3 && pages.every((p) => p.Count <= 11), String(pages.map((p) => p.Count)));
});

test("scans, whole and in segments", async () => {
  const keys = (pages) => pages.flatMap((p) => p.Items.map((i) => `${i.pk}/${i.sk}`)).sort();
  const whole = keys(await all(lib.paginateScan({ client: documents, pageSize: 50 }, { TableName: "Orders" })));
  const segments = await Promise.all([0, 1, 2].map((Segment) => all(lib.paginateScan({ client: documents }, { TableName: "Orders", Segment, TotalSegments: 3 }))));
  assert.deepEqual(keys(segments.flat()), whole);
  assert.equal(new Set(whole).size, whole.length);
});

test("many requests at once", async () => {
  await Promise.all(Array.from({ length: 200 }, () => documents.send(new lib.UpdateCommand({
    TableName: "Orders", Key: { pk: "counter", sk: "1" }, UpdateExpression: "ADD n :one", ExpressionAttributeValues: { ":one": 1 },
  }))));
  assert.equal((await documents.send(new lib.GetCommand({ TableName: "Orders", Key: { pk: "counter", sk: "1" }, ConsistentRead: true }))).Item.n, 200);
});

test("tables are listed and deleted", async () => {
  const names = (await all(sdk.paginateListTables({ client, pageSize: 1 }, {}))).flatMap((p) => p.TableNames);
  assert.ok(names.includes("Orders"));
  await client.send(new sdk.DeleteTableCommand({ TableName: "Orders" }));
  await sdk.waitUntilTableNotExists({ client, maxWaitTime: 60, minDelay: 1, maxDelay: 1 }, { TableName: "Orders" });
});

for (const { name, run } of tests) {
  try {
    await run();
    console.log(`ok ${name}`);
  } catch (error) {
    console.log(`not ok ${name}: ${String(error?.stack ?? error).split("\n").slice(0, 12).join(" | ").slice(0, 700)}`);
  }
}

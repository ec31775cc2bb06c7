// TypeDORM: organisations and users with unique e-mail addresses, on the AWS SDK v3 and again on the SDK v2 that it grew up with.
// A CommonJS program, because the package's ES modules are made for bundlers; decorators are called as the compiler would.
require("reflect-metadata");
const assert = require("node:assert/strict");
const { Attribute, AutoGenerateAttribute, AUTO_GENERATE_ATTRIBUTE_STRATEGY, Entity, INDEX_TYPE, QUERY_ORDER, Table } = require("@typedorm/common");
const { createConnection, ReadBatch, ReadTransaction, WriteBatch, WriteTransaction } = require("@typedorm/core");
const { DocumentClientV2, DocumentClientV3 } = require("@typedorm/document-client");

function decorate(target, options, attributes) {
  for (const [name, [type, decorator = Attribute()]] of Object.entries(attributes)) {
    Reflect.defineMetadata("design:type", type, target.prototype, name);
    decorator(target.prototype, name);
  }
  return Entity(options)(target);
}
const make = (type, fields) => Object.assign(new type(), fields);
const gsi1 = (partitionKey, sortKey) => ({ gsi1: { type: INDEX_TYPE.GSI, partitionKey, sortKey } });

const Organisation = decorate(class Organisation {}, {
  name: "organisation", primaryKey: { partitionKey: "ORG#{{id}}", sortKey: "ORG#{{id}}" },
}, { id: [String], name: [String], seats: [Number], settings: [Object], updatedAt: [Number, AutoGenerateAttribute({
  strategy: AUTO_GENERATE_ATTRIBUTE_STRATEGY.EPOCH_DATE, autoUpdate: true })] });
const User = decorate(class User {}, {
  name: "user", primaryKey: { partitionKey: "ORG#{{org}}", sortKey: "USER#{{id}}" }, indexes: gsi1("STATUS#{{status}}", "USER#{{name}}"),
}, { org: [String], id: [String], email: [String, Attribute({ unique: true })], name: [String], status: [String, Attribute({ default: "active" })],
  points: [Number], roles: [Array] });
const Note = decorate(class Note {}, {
  name: "note", primaryKey: { partitionKey: "ORG#{{org}}", sortKey: "NOTE#{{id}}" }, indexes: gsi1("NOTE#{{topic}}", "NOTE#{{id}}"),
}, { org: [String], id: [String], topic: [String], weight: [Number] });

const noteId = (i) => `n${String(i).padStart(3, "0")}`;

function define({ options, client, createTable, rejected, test }, version) {
  const name = `typedorm-v${version}`;
  const documentClient = version === 3 ? new DocumentClientV3(client) : new DocumentClientV2(new (require("aws-sdk").DynamoDB.DocumentClient)({
    endpoint: options.endpoint, region: options.region, ...options.credentials, maxRetries: 0 }));
  const connection = createConnection({
    name, documentClient, entities: [Organisation, User, Note],
    table: new Table({ name, partitionKey: "pk", sortKey: "sk", indexes: { gsi1: { type: INDEX_TYPE.GSI, partitionKey: "gsi1pk", sortKey: "gsi1sk" } } }),
  });
  const { entityManager: entities, transactionManger: transactions, batchManager: batches, scanManager: scans } = connection;
  const it = (sentence, run) => test(`${sentence} (SDK v${version})`, run);
  const failure = (error) => [error.name, error.code, error.message].join(" ");

  it("an organisation is created once and comes back", async () => {
    await createTable(name);
    const acme = make(Organisation, { id: "acme", name: "Acme", seats: 2, settings: { colour: "red", list: [1, "a", null] } });
    await entities.create(acme);
    assert.match(failure(await rejected(entities.create(acme))), /ConditionalCheckFailed/);
    const got = await entities.findOne(Organisation, { id: "acme" }, { consistentRead: true });
    assert.ok(got instanceof Organisation);
    assert.deepEqual([got.name, got.seats, got.settings], ["Acme", 2, acme.settings]);
    assert.equal(await entities.exists(Organisation, { id: "nobody" }), false);
    assert.equal(await entities.findOne(Organisation, { id: "nobody" }), undefined);
  });

  it("a unique e-mail address is taken by a transaction", async () => {
    await entities.create(make(User, { org: "acme", id: "1", email: "ann@example.com", name: "Ann", points: 1, roles: ["admin"] }));
    const second = make(User, { org: "acme", id: "2", email: "ann@example.com", name: "Bob" });
    const error = await rejected(entities.create(second));
    assert.match(failure(error), /TransactionCancell?ed/);
    assert.equal(await entities.findOne(User, { org: "acme", id: "2" }), undefined);
    assert.equal(await entities.exists(User, { email: "ann@example.com" }), true);
    const moved = await entities.update(User, { org: "acme", id: "1" }, { email: "ann@example.org", name: "Ann B." });
    assert.deepEqual([moved.email, moved.name], ["ann@example.org", "Ann B."]);
    await entities.create(second);
    assert.equal(await entities.exists(User, { email: "ann@example.org" }), true);
  });

  it("an update keeps to its condition", async () => {
    const take = (seats) => entities.update(Organisation, { id: "acme" }, { seats: { DECREMENT_BY: seats }, settings: { IF_NOT_EXISTS: {} } },
      { where: { AND: { seats: { GE: seats }, name: { BEGINS_WITH: "Ac" } } } });
    assert.equal((await take(1)).seats, 1);
    assert.match(failure(await rejected(take(5))), /ConditionalCheckFailed/);
    const note = (weight) => entities.create(make(Note, { org: "acme", id: "once", topic: "t", weight }), { overwriteIfExists: true, where: { id: "ATTRIBUTE_NOT_EXISTS" } });
    await note(1);
    assert.match(failure(await rejected(note(2))), /ConditionalCheckFailed/);
    assert.match(failure(await rejected(entities.delete(Note, { org: "acme", id: "once" }, { where: { weight: { EQ: 7 } } }))), /ConditionalCheckFailed/);
    assert.deepEqual(await entities.delete(Note, { org: "acme", id: "once" }), { success: true });
  });

  it("a batch writes and reads more than one request holds", async () => {
    const batch = new WriteBatch();
    for (let i = 0; i < 60; i++) batch.addCreateItem(make(Note, { org: "acme", id: noteId(i), topic: i % 2 ? "odd" : "even", weight: i }));
    batch.addDeleteItem(Note, { org: "acme", id: "never" });
    assert.deepEqual(await batches.write(batch), { unprocessedItems: [], failedItems: [] });
    const reading = new ReadBatch();
    for (let i = 0; i < 120; i++) reading.addGet(Note, { org: "acme", id: noteId(i) });
    const read = await batches.read(reading);
    assert.deepEqual(read.items.map((n) => n.weight).sort((a, b) => a - b), [...Array(60).keys()]);
    assert.deepEqual([read.unprocessedItems, read.failedItems], [[], []]);
  });

  it("pages follow their cursor, in either order", async () => {
    const found = [];
    let cursor;
    do {
      const page = await entities.find(Note, { org: "acme" }, { keyCondition: { BEGINS_WITH: "NOTE#" }, limit: 25, cursor });
      found.push(...page.items.map((n) => n.weight));
      cursor = page.cursor;
    } while (cursor);
    assert.deepEqual(found, [...Array(60).keys()]);
    const last = await entities.find(Note, { org: "acme" }, { keyCondition: { LE: "NOTE#n010" }, orderBy: QUERY_ORDER.DESC, limit: 3, select: ["weight"] });
    assert.deepEqual(last.items.map((n) => n.weight), [10, 9, 8]);
    assert.equal(await entities.count(Note, { org: "acme" }, { keyCondition: { BEGINS_WITH: "NOTE#" }, where: { weight: { LT: 30 } } }), 30);
  });

  it("the index answers for two kinds of entity", async () => {
    const odd = await entities.find(Note, { topic: "odd" }, { queryIndex: "gsi1", where: { weight: { BETWEEN: [10, 20] } } });
    assert.deepEqual(odd.items.map((n) => n.weight), [11, 13, 15, 17, 19]);
    const active = await entities.find(User, { status: "active" }, { queryIndex: "gsi1", keyCondition: { BEGINS_WITH: "USER#A" } });
    assert.deepEqual(active.items.map((u) => u.name), ["Ann B."]);
  });

  it("a scan runs in segments", async () => {
    const { items } = await scans.find(Note, { totalSegments: 4 });
    assert.equal(items.length, 60);
    assert.equal(await scans.count(User, {}), 2);
  });

  it("a transaction writes all of its parts, and reads them", async () => {
    await transactions.write(new WriteTransaction()
      .addCreateItem(make(Note, { org: "acme", id: "tx", topic: "odd", weight: 100 }))
      .addUpdateItem(Organisation, { id: "acme" }, { seats: { INCREMENT_BY: 10 } }, { where: { seats: { EQ: 1 } } })
      .addDeleteItem(Note, { org: "acme", id: noteId(0) }));
    const [organisation, note, gone] = await transactions.read(new ReadTransaction()
      .addGetItem(Organisation, { id: "acme" }).addGetItem(Note, { org: "acme", id: "tx" }).addGetItem(Note, { org: "acme", id: noteId(0) }));
    assert.deepEqual([organisation.seats, note.weight, gone ?? null], [11, 100, null]);
  });

  it("a cancelled transaction gives its reasons and writes nothing", async () => {
    const error = await rejected(transactions.write(new WriteTransaction()
      .addUpdateItem(Organisation, { id: "acme" }, { seats: { INCREMENT_BY: 10 } })
      .addCreateItem(make(Note, { org: "acme", id: "tx", topic: "odd", weight: 1 }))));
    assert.match(failure(error), /TransactionCancell?ed/);
    assert.deepEqual(error.cancellationReasons.map((r) => r.code), ["None", "ConditionalCheckFailed"]);
    assert.equal((await entities.findOne(Organisation, { id: "acme" })).seats, 11);
  });
}

(async () => {
  const check = await import("./check.mjs");
  define(check, 3);
  define(check, 2);
  await check.run();
})();

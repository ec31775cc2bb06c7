// DynamoDB-OneTable: accounts, users with unique e-mail addresses, and invoices, in a table that it creates itself.
import assert from "node:assert/strict";
import { Table } from "dynamodb-onetable";
import { client, rejected, run, test } from "./check.mjs";

const table = new Table({
  client, name: "onetable", partial: true, logger: () => {},
  schema: {
    format: "onetable:1.1.0", version: "0.0.1",
    indexes: {
      primary: { hash: "pk", sort: "sk" },
      gs1: { hash: "gs1pk", sort: "gs1sk", project: "all" },
      ls1: { type: "local", sort: "rank", project: ["number"] },
    },
    models: {
      Account: {
        pk: { type: String, value: "account#${name}" },
        sk: { type: String, value: "account#" },
        name: { type: String, required: true },
        plan: { type: String, enum: ["free", "paid"], default: "free" },
        users: { type: Number, default: 0 },
        settings: { type: Object, default: {}, schema: { theme: { type: String }, flags: { type: Array, default: [] } } },
      },
      User: {
        pk: { type: String, value: "account#${account}" },
        sk: { type: String, value: "user#${id}" },
        gs1pk: { type: String, value: "user#${email}" },
        gs1sk: { type: String, value: "user#" },
        account: { type: String, required: true },
        id: { type: String, generate: "ulid" },
        email: { type: String, required: true, unique: true },
        roles: { type: Set, default: new Set(["reader"]) },
        born: { type: Date },
        photo: { type: Buffer },
      },
      Invoice: {
        pk: { type: String, value: "account#${account}" },
        sk: { type: String, value: "invoice#${number}" },
        gs1pk: { type: String, value: "invoice#${status}" },
        gs1sk: { type: String, value: "${account}#${number}" },
        rank: { type: String },
        account: { type: String, required: true },
        number: { type: String, required: true },
        status: { type: String, enum: ["due", "paid"], default: "due" },
        amount: { type: Number },
      },
    },
    params: { isoDates: true, timestamps: true },
  },
});
const [Account, User, Invoice] = ["Account", "User", "Invoice"].map((name) => table.getModel(name));
const number = (i) => String(i).padStart(4, "0");

test("the table is created with its indexes, described and listed", async () => {
  assert.equal(await table.exists(), false);
  await table.createTable();
  assert.equal(await table.exists(), true);
  const { Table: described } = await table.describeTable();
  assert.equal(described.TableStatus, "ACTIVE");
  assert.deepEqual(described.GlobalSecondaryIndexes.map((i) => i.IndexName), ["gs1"]);
  assert.deepEqual(described.LocalSecondaryIndexes[0].Projection, { ProjectionType: "INCLUDE", NonKeyAttributes: ["number"] });
});

test("an account is created once", async () => {
  const acme = await Account.create({ name: "Acme", settings: { theme: "dark", flags: ["a"] } });
  assert.deepEqual([acme.plan, acme.users], ["free", 0]);
  const error = await rejected(Account.create({ name: "Acme" }));
  assert.equal(error.code, "ConditionalCheckFailedException");
  await Account.create({ name: "Acme", plan: "paid", settings: { theme: "dark", flags: ["a"] } }, { exists: null });
  const got = await Account.get({ name: "Acme" }, { consistent: true });
  assert.equal(got.plan, "paid");
  assert.deepEqual(got.settings, { theme: "dark", flags: ["a"] });
  assert.ok(got.created instanceof Date);
});

test("an e-mail address is taken by one user, and free again after its removal", async () => {
  const born = new Date("1990-05-01T00:00:00Z"), photo = Buffer.from([1, 2, 255]);
  const ann = await User.create({ account: "Acme", email: "ann@example.com", born, photo, roles: new Set(["admin", "reader"]) });
  const error = await rejected(User.create({ account: "Acme", email: "ann@example.com" }));
  assert.equal(error.code, "UniqueError");
  const got = await User.get({ email: "ann@example.com" }, { index: "gs1", follow: true });
  assert.deepEqual([got.id, got.born, Buffer.from(got.photo), [...got.roles].sort()], [ann.id, born, photo, ["admin", "reader"]]);
  await User.update({ account: "Acme", id: ann.id, email: "ann@example.org" }, { return: "get" });
  const other = await User.create({ account: "Acme", email: "ann@example.com" });
  await User.remove({ account: "Acme", id: other.id });
  const again = await User.create({ account: "Acme", email: "ann@example.com" });
  assert.notEqual(again.id, other.id);
});

test("updates set, add, push, remove and keep to their condition", async () => {
  const updated = await Account.update({ name: "Acme" }, { add: { users: 2 }, set: { "settings.theme": "light" }, push: { "settings.flags": ["b"] } });
  assert.deepEqual([updated.users, updated.settings], [2, { theme: "light", flags: ["a", "b"] }]);
  assert.deepEqual((await Account.update({ name: "Acme" }, { remove: ["settings.theme"] })).settings, { flags: ["a", "b"] });
  const error = await rejected(Account.update({ name: "Acme", plan: "free" }, { where: "${users} < {2}" }));
  assert.equal(error.code, "ConditionalCheckFailedException");
  assert.equal((await rejected(Account.update({ name: "Nobody", plan: "free" }))).code, "ConditionalCheckFailedException");
  assert.equal((await Account.upsert({ name: "New", plan: "paid" })).plan, "paid");
  assert.equal((await Account.get({ name: "Acme" })).plan, "paid");
});

test("a batch writes and reads", async () => {
  for (let i = 0; i < 75; i += 25) {
    const batch = {};
    for (let k = i; k < i + 25; k++)
      await Invoice.create({ account: "Acme", number: number(k), rank: number(100 - k), amount: k, status: k % 5 ? "due" : "paid" }, { batch });
    assert.deepEqual(await table.batchWrite(batch), true);
  }
  const batch = {};
  for (const k of [3, 1, 999]) await Invoice.get({ account: "Acme", number: number(k) }, { batch });
  const found = await table.batchGet(batch, { parse: true, hidden: false });
  assert.deepEqual(found.map((i) => i.amount).sort(), [1, 3]);
});

test("pages go forward and back", async () => {
  const amounts = [], pages = [];
  let next;
  do {
    const page = await Invoice.find({ account: "Acme" }, { limit: 20, next });
    pages.push(page);
    amounts.push(...page.map((i) => i.amount));
    next = page.next;
  } while (next);
  assert.deepEqual(amounts, [...Array(75).keys()]);
  const back = await Invoice.find({ account: "Acme" }, { limit: 20, prev: pages[2].prev });
  assert.deepEqual(back.map((i) => i.amount), Array.from({ length: 20 }, (_, i) => 20 + i));
  const last = await Invoice.find({ account: "Acme" }, { limit: 2, reverse: true });
  assert.deepEqual(last.map((i) => i.amount), [74, 73]);
});

test("the global index answers with a filter and a count", async () => {
  const due = await Invoice.find({ status: "paid" }, { index: "gs1", where: "${amount} >= {50}" });
  assert.deepEqual(due.map((i) => i.amount), [50, 55, 60, 65, 70]);
  const some = await Invoice.find({ status: "due", gs1sk: { begins: "Acme#000" } }, { index: "gs1" });
  assert.deepEqual(some.map((i) => i.amount), [1, 2, 3, 4, 6, 7, 8, 9]);
  const counted = await Invoice.find({ status: "due" }, { index: "gs1", count: true });
  assert.equal(counted.count, 60);
});

test("the local index sorts by its own key", async () => {
  const items = await table.queryItems({ pk: "account#Acme", rank: { "<": number(30) } }, { index: "ls1", parse: true, hidden: true });
  assert.deepEqual(items.map((i) => [i.rank, i.number]), [26, 27, 28, 29].map((i) => [number(i), number(100 - i)]));
});

test("a scan finds every item of a model, in segments too", async () => {
  const all = await Invoice.scan();
  assert.equal(all.length, 75);
  const parts = await Promise.all([0, 1, 2].map((segment) => Invoice.scan({}, { segment, segments: 3 })));
  assert.deepEqual(parts.flat().map((i) => i.number).sort(), all.map((i) => i.number).sort());
  const { Account: accounts, Invoice: invoices } = await table.fetch(["Account", "Invoice"], { pk: "account#Acme" });
  assert.deepEqual([accounts.length, invoices.length], [1, 75]);
});

test("a transaction writes all of its parts", async () => {
  const transaction = {};
  await Account.update({ name: "Acme" }, { add: { users: 1 }, where: "${users} = {2}", transaction });
  await Invoice.create({ account: "Acme", number: "tx", amount: 1000 }, { transaction });
  await Invoice.remove({ account: "Acme", number: number(0) }, { transaction });
  await Account.check({ name: "New" }, { exists: true, transaction });
  await table.transact("write", transaction);
  assert.equal((await Account.get({ name: "Acme" })).users, 3);
  assert.equal(await Invoice.get({ account: "Acme", number: number(0) }), undefined);
  const reading = {};
  await Account.get({ name: "Acme" }, { transaction: reading });
  await Invoice.get({ account: "Acme", number: "tx" }, { transaction: reading });
  const read = await table.transact("get", reading, { parse: true, hidden: true });
  assert.deepEqual([read[0].users, read[1].amount], [3, 1000]);
});

test("a cancelled transaction writes nothing and gives its reasons", async () => {
  const transaction = {};
  await Account.update({ name: "Acme" }, { add: { users: 1 }, transaction });
  await Invoice.create({ account: "Acme", number: "tx" }, { transaction });
  const error = await rejected(table.transact("write", transaction));
  assert.equal(error.code, "TransactionCanceledException");
  assert.deepEqual(error.context.err.CancellationReasons.map((r) => r.Code), ["None", "ConditionalCheckFailed"]);
  assert.equal((await Account.get({ name: "Acme" })).users, 3);
});

test("an index is added to and removed from the table in use", async () => {
  await table.updateTable({ create: { name: "gs2", hash: "number", sort: "account", project: "keys" } });
  const index = async () => (await table.describeTable()).Table.GlobalSecondaryIndexes.find((i) => i.IndexName === "gs2");
  while ((await index()).IndexStatus !== "ACTIVE");
  assert.equal((await index()).ItemCount, 75);
  await table.updateTable({ remove: { name: "gs2" } });
  while (await index());
});

test("the table is deleted", async () => {
  await table.deleteTable("DeleteTableForever");
  while (await table.exists());
});

await run();

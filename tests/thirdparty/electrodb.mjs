// ElectroDB: a web shop with customers, orders and order lines as one service in one table.
import assert from "node:assert/strict";
import electrodb from "electrodb";
import { client, createTable, rejected, run, test } from "./check.mjs";

const { Entity, Service } = electrodb;
const table = "electrodb";
const configuration = { client, table };
const index = (n, pk, sk, collection) => ({
  ...(n ? { index: `gsi${n}` } : {}),
  ...(collection ? { collection } : {}),
  pk: { field: n ? `gsi${n}pk` : "pk", composite: pk },
  sk: { field: n ? `gsi${n}sk` : "sk", composite: sk },
});
const Customer = new Entity({
  model: { entity: "customer", service: "shop", version: "1" },
  attributes: {
    customerId: { type: "string", required: true },
    email: { type: "string", required: true },
    name: { type: "string" },
    credit: { type: "number", default: 0 },
    tags: { type: "set", items: "string" },
    address: { type: "map", properties: { city: { type: "string" }, zip: { type: "string" } } },
    notes: { type: "list", items: { type: "string" } },
    createdAt: { type: "number", default: () => Date.now(), readOnly: true },
  },
  indexes: { byId: index(0, ["customerId"], [], "account"), byEmail: index(1, ["email"], []) },
}, configuration);
const Order = new Entity({
  model: { entity: "order", service: "shop", version: "1" },
  attributes: {
    customerId: { type: "string", required: true },
    orderId: { type: "string", required: true },
    status: { type: ["open", "paid", "sent"], default: "open" },
    total: { type: "number", required: true },
  },
  indexes: { byId: index(0, ["customerId"], ["orderId"], "account"), byStatus: index(2, ["status"], ["orderId"]) },
}, configuration);
const shop = new Service({ customer: Customer, order: Order }, configuration);
const orderId = (i) => `o${String(i).padStart(3, "0")}`;

test("a customer is created once", async () => {
  await createTable(table, { indexes: 2 });
  const ann = { customerId: "ann", email: "ann@example.com", name: "Ann", credit: 100, tags: ["new", "eu"],
    address: { city: "Graz", zip: "8010" }, notes: ["first"] };
  const { data } = await Customer.create(ann).go();
  assert.deepEqual({ ...data, createdAt: 0 }, { ...ann, createdAt: 0 });
  await Customer.create({ customerId: "bob", email: "bob@example.com", credit: 5 }).go();
  const error = await rejected(Customer.create(ann).go());
  assert.equal(error.code, 4001);
  assert.equal(error.cause.name, "ConditionalCheckFailedException");
  const got = await Customer.get({ customerId: "ann" }).go({ consistent: true });
  assert.deepEqual({ ...got.data, tags: got.data.tags.sort() }, { ...data, tags: data.tags.sort() });
});

test("an update changes what it names and returns it", async () => {
  const { data } = await Customer.update({ customerId: "ann" })
    .set({ name: "Ann B." }).add({ credit: 20 }).delete({ tags: ["new"] })
    .append({ notes: ["second"] }).data(({ address }, { set }) => set(address.city, "Wien"))
    .go({ response: "all_new" });
  assert.deepEqual([data.name, data.credit, data.tags.sort(), data.notes, data.address],
    ["Ann B.", 120, ["eu"], ["first", "second"], { city: "Wien", zip: "8010" }]);
  const { data: old } = await Customer.patch({ customerId: "ann" }).remove(["notes"]).go({ response: "updated_old" });
  assert.deepEqual(old.notes, ["first", "second"]);
});

test("a patch of nobody fails, and an upsert does not", async () => {
  assert.equal((await rejected(Customer.patch({ customerId: "nobody" }).set({ name: "?" }).go())).code, 4001);
  assert.equal((await Customer.get({ customerId: "nobody" }).go()).data, null);
  const { data } = await Customer.upsert({ customerId: "cy", email: "cy@example.com", name: "Cy" }).go({ response: "all_new" });
  assert.equal(data.name, "Cy");
  assert.equal((await rejected(Customer.remove({ customerId: "nobody" }).go())).code, 4001);
});

test("a failed condition says so, and returns the old item when it is asked to", async () => {
  const spend = (amount) => Customer.patch({ customerId: "ann" }).subtract({ credit: amount })
    .where(({ credit }, { gte }) => gte(credit, amount));
  assert.equal((await spend(20).go({ response: "all_new" })).data.credit, 100);
  assert.equal((await rejected(spend(1000).go())).cause.name, "ConditionalCheckFailedException");
  const result = await spend(1000).go({ returnOnConditionCheckFailure: "all_old" });
  assert.equal(result.rejected, true);
  assert.equal(result.data.credit, 100);
});

test("a batch of orders is put and got", async () => {
  const orders = Array.from({ length: 60 }, (_, i) => (
    { customerId: "ann", orderId: orderId(i), total: i, status: i % 3 ? "open" : "paid" }));
  const { unprocessed } = await Order.put(orders).go({ concurrent: 2 });
  assert.deepEqual(unprocessed, []);
  const keys = [...orders.map(({ customerId, orderId }) => ({ customerId, orderId })), { customerId: "ann", orderId: "none" }];
  const got = await Order.get(keys).go({ preserveBatchOrder: true });
  assert.deepEqual(got.data, [...orders, null]);
  assert.deepEqual(got.unprocessed, []);
});

test("pages follow their cursor to the end", async () => {
  const seen = [];
  let cursor = null, pages = 0;
  do {
    const page = await Order.query.byId({ customerId: "ann" }).go({ cursor, limit: 7 });
    assert.ok(page.data.length <= 7);
    seen.push(...page.data.map((o) => o.orderId));
    cursor = page.cursor;
    pages += 1;
  } while (cursor);
  assert.deepEqual(seen, Array.from({ length: 60 }, (_, i) => orderId(i)));
  assert.equal(pages, 9);
  const some = await Order.query.byId({ customerId: "ann" }).between({ orderId: "o010" }, { orderId: "o019" }).go({ order: "desc" });
  assert.deepEqual(some.data.map((o) => o.total), [19, 18, 17, 16, 15, 14, 13, 12, 11, 10]);
});

test("an index answers with filters, in pages, and forgets what moved", async () => {
  const paid = (options) => Order.query.byStatus({ status: "paid" }).where(({ total }, { gt }) => gt(total, 30)).go(options);
  const { data } = await paid({ pages: "all" });
  assert.deepEqual(data.map((o) => o.total), [33, 36, 39, 42, 45, 48, 51, 54, 57]);
  const counted = await paid({ count: 4 });
  assert.deepEqual(counted.data.map((o) => o.total), [33, 36, 39, 42]);
  assert.deepEqual((await paid({ cursor: counted.cursor, pages: "all" })).data.map((o) => o.total), [45, 48, 51, 54, 57]);
  await Order.patch({ customerId: "ann", orderId: orderId(33) }).set({ status: "sent" }).go();
  assert.equal((await paid({ pages: "all" })).data.length, 8);
  assert.equal((await Order.query.byStatus({ status: "sent" }).go()).data[0].total, 33);
  assert.equal((await Customer.query.byEmail({ email: "bob@example.com" }).go()).data[0].customerId, "bob");
});

test("a collection returns the customer and the orders in one query", async () => {
  const { data } = await shop.collections.account({ customerId: "ann" }).go({ pages: "all" });
  assert.equal(data.customer.length, 1);
  assert.equal(data.order.length, 60);
  const scanned = await Order.scan.where(({ total }, { lt }) => lt(total, 5)).go({ pages: "all" });
  assert.deepEqual(scanned.data.map((o) => o.total).sort(), [0, 1, 2, 3, 4]);
});

test("a transaction writes all of its parts", async () => {
  const { canceled, data } = await shop.transaction.write(({ customer, order }) => [
    customer.check({ customerId: "bob" }).where(({ credit }, { eq }) => eq(credit, 5)).commit(),
    customer.patch({ customerId: "ann" }).subtract({ credit: 40 }).where(({ credit }, { gte }) => gte(credit, 40)).commit(),
    order.create({ customerId: "ann", orderId: "tx1", total: 40 }).commit(),
    order.delete({ customerId: "ann", orderId: orderId(0) }).commit(),
  ]).go({ token: "0b1e2a5c-once" });
  assert.equal(canceled, false, JSON.stringify(data));
  assert.equal((await Customer.get({ customerId: "ann" }).go()).data.credit, 60);
  assert.equal((await Order.get({ customerId: "ann", orderId: orderId(0) }).go()).data, null);
});

test("a cancelled transaction says which part failed and writes nothing", async () => {
  const result = await shop.transaction.write(({ customer, order }) => [
    order.create({ customerId: "ann", orderId: "tx2", total: 500 }).commit(),
    customer.patch({ customerId: "ann" }).subtract({ credit: 500 }).where(({ credit }, { gte }) => gte(credit, 500))
      .commit({ response: "all_old" }),
    order.create({ customerId: "ann", orderId: "tx1", total: 1 }).commit(),
  ]).go();
  assert.equal(result.canceled, true);
  assert.deepEqual(result.data.map((d) => [d.rejected, d.code]),
    [[false, "None"], [true, "ConditionalCheckFailed"], [true, "ConditionalCheckFailed"]]);
  assert.equal(result.data[1].item.credit, 60);
  const { data } = await shop.transaction.get(({ customer, order }) => [
    customer.get({ customerId: "ann" }).commit(),
    order.get({ customerId: "ann", orderId: "tx2" }).commit(),
    order.get({ customerId: "ann", orderId: "tx1" }).commit(),
  ]).go();
  assert.deepEqual(data.map((d) => d.item && (d.item.credit ?? d.item.total)), [60, null, 40]);
});

test("a batch of deletions leaves the others", async () => {
  const keys = Array.from({ length: 30 }, (_, i) => ({ customerId: "ann", orderId: orderId(i + 1) }));
  assert.deepEqual((await Order.delete(keys).go()).unprocessed, []);
  assert.equal((await Order.query.byId({ customerId: "ann" }).go({ pages: "all" })).data.length, 30);
});

await run();

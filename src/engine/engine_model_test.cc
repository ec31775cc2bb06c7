// Random writes against the engine and against a simple reference; after each phase everything the engine keeps must
// follow from the reference: items, index entries, statistics, collection sizes, change log.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <future>
#include <map>
#include <thread>

#include "stator/base/mutex.h"
#include "stator/engine/engine.h"
#include "stator/engine/index/index_entry.h"
#include "stator/engine/test_postgres.h"
#include "stator/engine/test_support.h"
#include "stator/storage/memory/memory_store.h"
#include "stator/storage/testing/contract.h"
#include "stator/storage/testing/faulty_store.h"
#ifndef __SANITIZE_THREAD__  // Debian's RocksDB is not instrumented
#include "stator/storage/rocksdb/rocksdb_store.h"
#include "stator/storage/testing/temporary_folder.h"
#endif

namespace stator::engine {
namespace {

using namespace testing;
using storage::KeyRange;
using storage::testing::entries;
using storage::testing::FaultyStore;
using storage::testing::seeds;
using value::Item;
using value::StoredItem;

Table model_table(StreamView view) {
  Table t = table("Model", keys({"pk:S"}, {"sk:N"}));
  t.stream = {.enabled = true, .view = view, .label = "now"};
  add_index(t, "all", IndexKind::Global, keys({"g:S"}, {"h:N"}));
  add_index(t, "sparse", IndexKind::Global, keys({"h:N"}), {ProjectionKind::KeysOnly, {}});
  add_index(t, "several", IndexKind::Global, keys({"g:S", "l:S"}, {"b:B", "h:N"}),
            {ProjectionKind::Include, {"n", "x"}});
  add_index(t, "local", IndexKind::Local, keys({"pk:S"}, {"l:S"}), {ProjectionKind::KeysOnly, {}});
  add_index(t, "local_all", IndexKind::Local, keys({"pk:S"}, {"h:N"}));
  return t;
}

// A change as the log shall have it.
struct Change {
  std::optional<Item> before;
  std::optional<Item> after;
};

// The expected result of the writes of one thread.  Threads write different items, so each knows its own.
struct Reference {
  std::map<KeyBytes, Item> items;
  std::map<KeyBytes, std::vector<Change>> changes;

  std::optional<Item> find(const KeyBytes& key) const {
    const auto found = items.find(key);
    return found == items.end() ? std::nullopt : std::optional(found->second);
  }
  void set(const KeyBytes& key, std::optional<Item> after) {
    const auto before = find(key);
    if (before == after) return;  // a write without effect leaves no trace
    changes[key].push_back({before, after});
    if (after) {
      items.insert_or_assign(key, std::move(*after));
    } else {
      items.erase(key);
    }
  }
};

class Model {
 public:
  explicit Model(std::uint64_t seed) : random_(seed) {}

  void open(storage::Store& store) {
    engine_.reset();
    store_ = &store;
    auto opened = Engine::open(store, clock_, random_);
    ASSERT_TRUE(opened) << opened.error().message;
    engine_ = std::move(*opened);
  }
  void close() { engine_.reset(); }

  void create_tables(StreamView view) {
    for (auto t : {model_table(view), table("Probe", keys({"pk:S"}))}) {
      std::promise<Result<TablePtr>> answer;
      engine_->create_table(std::move(t), [&](Result<TablePtr> made) { answer.set_value(std::move(made)); });
      ASSERT_TRUE(answer.get_future().get());
    }
  }

  void run(std::size_t threads, int writes) {
    table_ = engine_->find_table("Model").value();
    references_.resize(std::max(references_.size(), threads));
    std::vector<std::thread> running;
    for (std::size_t t = 0; t < threads; ++t) {
      running.emplace_back([&, t, seed = random_.next()] {
        Random random(seed);
        for (int i = 0; i < writes && !::testing::Test::HasFatalFailure(); ++i) write_something(t, random);
      });
    }
    for (auto& thread : running) thread.join();
  }

  void expect_agreement() const {
    const auto t = engine_->find_table("Model").value();
    std::map<KeyBytes, Bytes> items;
    std::map<std::uint16_t, TableStatistics> statistics;
    std::map<Bytes, std::int64_t> collections;
    for (const auto& reference : references_) {
      for (const auto& [key, item] : reference.items) {
        const auto stored = StoredItem::from(item);
        const auto count = [&](IndexId index, const StoredItem& entry) {
          ++statistics[index.value].items;
          statistics[index.value].bytes += static_cast<std::int64_t>(entry.item_size_bytes());
        };
        auto& collection = collections[collection_size_key(t->id, *item.find("pk"))];
        items.emplace(key, stored.bytes());
        count(kBaseIndex, stored);
        collection += static_cast<std::int64_t>(stored.item_size_bytes());
        for (const auto& index : t->indexes) {
          const auto entry = index_entry(*t, index, item, stored);
          if (!entry) continue;
          items.emplace(entry->key, entry->item.bytes());
          count(index.id, entry->item);
          if (index.kind == IndexKind::Local) collection += static_cast<std::int64_t>(entry->item.item_size_bytes());
        }
      }
    }
    const auto snapshot = engine_->snapshot();
    const auto found = entries(*snapshot, table_items(t->id));
    EXPECT_EQ((std::map<KeyBytes, Bytes>(found.begin(), found.end())), items);
    for (std::uint16_t index = 0; index <= t->indexes.size(); ++index) {
      const auto exact = engine_->statistics(t->id, {index}).value();
      EXPECT_EQ(exact.items, statistics[index].items) << "index " << index;
      EXPECT_EQ(exact.bytes, statistics[index].bytes) << "index " << index;
    }
    for (const auto& [key, bytes] : entries(*snapshot, table_collection_sizes(t->id))) {
      EXPECT_EQ(storage::decode_counter(bytes).value(), collections[key]) << hex(key);
      collections.erase(key);
    }
    for (const auto& [key, bytes] : collections) EXPECT_EQ(bytes, 0) << hex(key);
    expect_changes(*t, *snapshot);
  }

  ManualClock& clock() { return clock_; }
  CommitterStatistics commits() const { return engine_->commit_statistics(); }

 private:
  // -- writing

  struct Key {
    Item item;
    KeyBytes bytes;
  };
  Key random_key(std::size_t thread, Random& random) const {
    Item item{{"pk", S(fmt::format("{}/{}", thread, random.below(3)))}, {"sk", N(random.below(5))}};
    auto bytes = item_key(*table_, item);
    return {std::move(item), std::move(bytes)};
  }

  static void set_random_attributes(Item& item, Random& random) {
    if (random.below(2) == 0) item.set("g", S(fmt::format("g{}", random.below(3))));
    if (random.below(2) == 0) item.set("h", N(random.below(4)));
    if (random.below(2) == 0) item.set("l", S(fmt::format("l{}", random.below(3))));
    if (random.below(2) == 0) item.set("b", B(random.below(2) == 0 ? std::string_view("\0", 1) : "b"));
    if (random.below(2) == 0) item.set("n", N(random.below(10)));
    if (random.below(4) == 0) item.set("x", value::random_value(random, 2));
    if (random.below(30) == 0) item.set("long_text", S(std::string(random.below(20'000), 'x')));
  }

  static expr::Update random_update(Random& random) {
    static constexpr std::string_view kUpdates[] = {
        "SET g = :g, h = :h",
        "SET l = :g REMOVE b",
        "REMOVE g",
        "ADD n :h",
        "REMOVE h, l SET b = :b",
        "SET n = if_not_exists(n, :h)",
        "SET x = :g REMOVE long_text",
        "ADD n :h SET h = :h",
    };
    const auto text = kUpdates[random.below(std::size(kUpdates))];
    expr::Values values;
    for (auto& [name, value] :
         {std::pair<std::string, value::AttributeValue>{":g", S(fmt::format("g{}", random.below(3)))},
          {":h", N(random.below(4))},
          {":b", B(random.below(2) == 0 ? "b" : "c")}}) {
      if (text.find(name) != std::string_view::npos) values.emplace(name, value);
    }
    return update(text, values.empty() ? std::nullopt : std::optional(values));
  }

  static std::optional<expr::Condition> random_condition(Random& random) {
    switch (random.below(6)) {
      case 0: return condition("attribute_exists(pk)");
      case 1: return condition("attribute_not_exists(pk)");
      case 2: return condition("n < :n", expr::Values{{":n", N(5)}});
      default: return std::nullopt;
    }
  }

  WriteAction random_action(const Key& key, const Reference& reference, Random& random) const {
    switch (random.below(10)) {
      case 0:
      case 1: return erase(table_, key.item, random_condition(random)).actions[0];
      case 2:
      case 3:
      case 4: {
        const bool bare = random.below(8) == 0;
        return change(table_, key.item, bare ? std::nullopt : std::optional(random_update(random)),
                      random_condition(random))
            .actions[0];
      }
      case 5: return put(table_, reference.find(key.bytes).value_or(key.item), random_condition(random)).actions[0];
      default: {
        Item item = key.item;
        set_random_attributes(item, random);
        return put(table_, std::move(item), random_condition(random)).actions[0];
      }
    }
  }

  // The expected effect of an action on an item: the item afterwards, or an error, or nothing when its condition fails.
  struct Expected {
    bool condition_failed = false;
    bool error = false;
    std::optional<Item> after;
  };
  static Expected expect(const WriteAction& action, const std::optional<Item>& before) {
    if (action.condition && !action.condition->matches(before.value_or(Item())))
      return {.condition_failed = true, .after = before};
    switch (action.kind) {
      case WriteAction::Kind::Put: return {.after = action.item};
      case WriteAction::Kind::Delete: return {.after = std::nullopt};
      case WriteAction::Kind::Check: return {.after = before};
      case WriteAction::Kind::Update: break;
    }
    if (!action.update) return {.after = before.value_or(action.item)};
    auto after = before ? action.update->apply(*before) : action.update->create(action.item);
    if (!after) return {.error = true, .after = before};
    if (!before && *after == action.item) return {.after = std::nullopt};  // only took away: creates nothing
    return {.after = std::move(*after)};
  }

  Result<WriteOutcome> write(WriteRequest request) {
    std::promise<Result<WriteOutcome>> answer;
    engine_->write(std::move(request), [&](Result<WriteOutcome> outcome) { answer.set_value(std::move(outcome)); });
    return answer.get_future().get();
  }

  void write_something(std::size_t thread, Random& random) {
    auto& reference = references_[thread];
    // One item, a batch that stands for itself item by item, or a transaction.
    WriteRequest request;
    std::vector<KeyBytes> keys_written;
    const auto many = random.below(4) == 0;
    request.atomic = !many || random.below(2) == 0;
    for (auto actions = many ? 1 + random.below(5) : 1; actions > 0; --actions) {
      auto key = random_key(thread, random);
      if (std::ranges::find(keys_written, key.bytes) != keys_written.end()) continue;
      auto action = random_action(key, reference, random);
      if (!request.atomic) {  // a batch has puts and deletes, without conditions
        if (action.kind == WriteAction::Kind::Update) action = put(table_, action.item).actions[0];
        action.condition.reset();
      } else if (many && random.below(4) == 0) {
        action = erase(table_, key.item, random_condition(random)).actions[0];
        action.kind = WriteAction::Kind::Check;
      }
      keys_written.push_back(key.bytes);
      request.actions.push_back(std::move(action));
    }

    std::vector<std::optional<Item>> before;
    std::vector<Expected> expected;
    bool error = false, condition_failed = false;
    for (std::size_t i = 0; i < keys_written.size(); ++i) {
      before.push_back(reference.find(keys_written[i]));
      expected.push_back(expect(request.actions[i], before.back()));
      error = error || expected.back().error;
      condition_failed = condition_failed || expected.back().condition_failed;
    }
    // Of a batch over several lanes, one part can be written where another fails.
    const bool whole = request.atomic || store_->capabilities().lanes == 1;
    const auto outcome = write(std::move(request));
    const bool is_partial = !whole && !outcome && outcome.error().code == ErrorCode::Busy;
    if (is_partial || (!outcome && outcome.error().code == ErrorCode::ReadOnly)) {
      return find_out(reference, keys_written, expected, whole);
    }
    ASSERT_TRUE(outcome) << outcome.error().message;
    ASSERT_EQ(outcome->written, !condition_failed && !error);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const auto& action = outcome->actions[i];
      ASSERT_EQ(action.condition_failed, expected[i].condition_failed);
      ASSERT_EQ(action.error.has_value(), expected[i].error);
      if (action.error) {
        ASSERT_EQ(action.error->code, ErrorCode::Validation) << action.error->message;
      }
      ASSERT_EQ(action.before.exists(), before[i].has_value());
      if (before[i]) {
        ASSERT_EQ(*action.before.item().value(), *before[i]);
      }
      if (outcome->written) reference.set(keys_written[i], expected[i].after);
    }
  }

  // The store failed.  Waits until it works again, then looks whether the write took effect; as `whole`, it never does
  // in part.
  void find_out(Reference& reference, const std::vector<KeyBytes>& keys_written, const std::vector<Expected>& expected,
                bool whole) {
    const auto probe = engine_->find_table("Probe").value();
    do {
      clock_.advance(std::chrono::seconds{1});
    } while (!write(put(probe, {{"pk", S("p")}, {"n", N(++probes_)}})));
    bool none = true, all = true;
    for (std::size_t i = 0; i < keys_written.size(); ++i) {
      const auto bytes = store_->get(keys_written[i]).value();
      std::optional<Item> now;
      if (bytes) now = StoredItem::from_bytes(*bytes).value().parse().value();
      const bool not_this = now == reference.find(keys_written[i]);
      const bool this_too = now == expected[i].after;
      ASSERT_TRUE(not_this || this_too) << "neither what was there nor what was written";
      none = none && not_this;
      all = all && this_too;
      if (!whole && !not_this) reference.set(keys_written[i], expected[i].after);
    }
    if (!whole) return;
    ASSERT_TRUE(none || all) << "half applied";
    if (none) return;
    for (std::size_t i = 0; i < keys_written.size(); ++i) reference.set(keys_written[i], expected[i].after);
  }

  // -- comparing

  void expect_changes(const Table& t, const storage::Snapshot& snapshot) const {
    std::map<KeyBytes, std::vector<ChangeRecord>> found;
    for (const auto& [key, bytes] : entries(snapshot, KeyRange::prefix(change_log_prefix()))) {
      auto record = ChangeRecord::decode(bytes);
      ASSERT_TRUE(record) << record.error().message;
      const auto item_bytes = item_key(t, record->keys.parse().value());
      EXPECT_TRUE(key.starts_with(
          change_partition_prefix(t.id, change_partition(hash_of_key(item_bytes), engine_->change_partitions()))));
      found[item_bytes].push_back(std::move(*record));
    }
    for (const auto& reference : references_) {
      for (const auto& [key, changes] : reference.changes) {
        const auto& records = found[key];
        ASSERT_EQ(records.size(), changes.size());
        for (std::size_t i = 0; i < records.size(); ++i) expect_record(t, records[i], changes[i]);
        found.erase(key);
      }
    }
    EXPECT_TRUE(found.empty()) << "changes of items that were never written";
  }

  void expect_record(const Table& t, const ChangeRecord& record, const Change& change) const {
    const auto kind = !change.before ? ChangeKind::Insert : change.after ? ChangeKind::Modify : ChangeKind::Remove;
    EXPECT_EQ(record.kind, kind);
    EXPECT_EQ(record.by, ChangeBy::User);
    EXPECT_GT(record.time, WallTime{});
    EXPECT_LE(record.time, clock_.now());
    const Item& any = change.after ? *change.after : *change.before;
    EXPECT_EQ(record.keys.parse().value(), (Item{{"pk", *any.find("pk")}, {"sk", *any.find("sk")}}));
    const auto view = t.stream.view;
    const bool with_new = view == StreamView::NewImage || view == StreamView::NewAndOldImages;
    const bool with_old = view == StreamView::OldImage || view == StreamView::NewAndOldImages;
    ASSERT_EQ(record.new_image.has_value(), with_new && change.after);
    ASSERT_EQ(record.old_image.has_value(), with_old && change.before);
    if (record.new_image) {
      EXPECT_EQ(record.new_image->parse().value(), *change.after);
    }
    if (record.old_image) {
      EXPECT_EQ(record.old_image->parse().value(), *change.before);
    }
  }

  Random random_;
  ManualClock clock_;
  storage::Store* store_ = nullptr;
  std::unique_ptr<Engine> engine_;
  TablePtr table_;
  std::vector<Reference> references_;
  std::atomic<std::int64_t> probes_{0};
};

StreamView view_for(std::uint64_t seed) { return static_cast<StreamView>(seed % 4); }

TEST(EngineModel, AgreesWithTheReference) {
  for (const auto seed : seeds(8)) {
    SCOPED_TRACE(seed);
    const auto store = storage::open_memory_store();
    Model model(seed);
    model.open(*store);
    model.create_tables(view_for(seed));
    for (int phase = 0; phase < 3; ++phase) {
      model.run(1, 150);
      model.expect_agreement();
    }
    model.open(*store);
    model.expect_agreement();
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(EngineModel, AgreesWithTheReferenceWhenManyWrite) {
  for (const bool durable : {false, true}) {
    for (const auto seed : seeds(4)) {
      SCOPED_TRACE(seed);
      FaultyStore store(storage::open_memory_store());
      store.report_durable(durable);
      Model model(seed);
      model.open(store);
      model.create_tables(view_for(seed));
      for (int phase = 0; phase < 2; ++phase) {
        model.run(4, 100);
        model.expect_agreement();
      }
      if (::testing::Test::HasFailure()) return;
    }
  }
}

// Breaks the store while the model runs, by a seed: now and then a commit fails in one of three ways, or conflicts.
// `found_late`: some take effect at the next recovery only.
void run_with_faults(FaultyStore& store, Model& model, std::uint64_t seed, std::size_t threads, bool conflicts,
                     bool found_late = true) {
  // Several committers commit at once.
  struct Draws {
    explicit Draws(std::uint64_t seed) : random(seed) {}
    std::uint64_t below(std::uint64_t bound) {
      MutexLock lock(mutex);
      return random.below(bound);
    }
    Mutex mutex;
    Random random;
  };
  auto draws = std::make_shared<Draws>(seed + 1);
  store.before_commit([&store, draws, conflicts, found_late](const storage::Batch&) {
    switch (draws->below(40)) {
      case 0: return store.fail_commits(1);
      case 1: return store.fail_commits_after_the_fact(1);
      case 2: return found_late ? store.fail_commits_found_at_recovery(1) : store.fail_commits_after_the_fact(1);
      case 3:
      case 4:
      case 5:
        if (conflicts) store.conflict_commits(1 + draws->below(4));
        return;
      default: return;
    }
  });
  model.run(threads, 100);
  store.before_commit({});
  store.fail_commits(0);
  store.conflict_commits(0);
}

TEST(EngineModel, AgreesWithTheReferenceWhenTheStoreFails) {
  for (const bool shared : {false, true}) {
    for (const std::size_t threads : {1U, 3U}) {
      for (const auto seed : seeds(4)) {
        SCOPED_TRACE(fmt::format("seed {} threads {} shared {}", seed, threads, shared));
        FaultyStore store(storage::open_memory_store());
        store.report_shared(shared);
        store.report_durable(seed % 2 == 0);
        Model model(seed);
        model.open(store);
        model.create_tables(view_for(seed));
        for (int phase = 0; phase < 2; ++phase) {
          run_with_faults(store, model, seed + static_cast<std::uint64_t>(phase), threads, shared);
          model.expect_agreement();
        }
        EXPECT_GT(model.commits().failures, 0U);
        model.open(store);
        model.expect_agreement();
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

#ifndef __SANITIZE_THREAD__

std::unique_ptr<storage::Store> open_rocksdb(const storage::testing::TemporaryFolder& folder) {
  auto opened = storage::open_rocksdb_store({.path = folder.path() + "/data",
                                             .durability = storage::Durability::Relaxed,
                                             .block_cache_bytes = 1 << 20,
                                             .write_buffer_bytes = 64 << 10});
  EXPECT_TRUE(opened) << opened.error().message;
  return opened ? std::move(*opened) : nullptr;
}

TEST(EngineModel, AgreesWithTheReferenceAfterReopening) {
  for (const auto seed : seeds(2)) {
    SCOPED_TRACE(seed);
    const storage::testing::TemporaryFolder folder;
    Model model(seed);
    for (int phase = 0; phase < 3; ++phase) {
      const auto store = open_rocksdb(folder);
      ASSERT_NE(store, nullptr);
      model.open(*store);
      if (phase == 0) model.create_tables(view_for(seed));
      model.expect_agreement();
      model.run(3, 100);
      model.expect_agreement();
      model.close();
    }
    if (::testing::Test::HasFailure()) return;
  }
}

#endif

#ifdef STATOR_TEST_POSTGRES

void expect_agreement_on_postgres(storage::PostgresSharing sharing, std::uint32_t lanes, std::uint64_t seed) {
  SCOPED_TRACE(fmt::format("{} lanes, seed {}", lanes, seed));
  const bool shared = sharing == storage::PostgresSharing::Shared;
  auto options = postgres_options(fmt::format("model_{}_{}", seed, shared ? "shared" : "exclusive"), lanes);
  options.sharing = sharing;
  Model model(seed);
  for (int phase = 0; phase < 2; ++phase) {
    const auto store = storage::open_postgres_store(options);
    ASSERT_TRUE(store) << store.error().message;
    model.open(**store);
    if (phase == 0) model.create_tables(view_for(seed));
    model.expect_agreement();
    model.run(4, 60);
    model.expect_agreement();
    model.close();
  }
}

TEST(EngineModel, AgreesWithTheReferenceOnPostgres) {
  using storage::PostgresSharing;
  for (const auto seed : seeds(2)) {
    expect_agreement_on_postgres(PostgresSharing::Exclusive, 1, seed);
    expect_agreement_on_postgres(PostgresSharing::Shared, 1, seed);
    expect_agreement_on_postgres(PostgresSharing::Exclusive, 4, seed);
    expect_agreement_on_postgres(PostgresSharing::Shared, 4, seed);
    if (::testing::Test::HasFailure()) return;
  }
}

// With several lanes, PostgreSQL keeps the lanes of a commit whose outcome is not known, and the faulty store does not:
// nothing is found late there.
TEST(EngineModel, AgreesWithTheReferenceWhenPostgresFails) {
  for (const std::uint32_t lanes : {1U, 4U}) {
    SCOPED_TRACE(lanes);
    auto opened = storage::open_postgres_store(postgres_options("model_failing", lanes));
    ASSERT_TRUE(opened) << opened.error().message;
    FaultyStore store(std::move(*opened));
    store.report_shared(true);
    store.report_durable(true);
    Model model(1);
    model.open(store);
    model.create_tables(view_for(1));
    run_with_faults(store, model, 1, 3, true, lanes == 1);
    model.expect_agreement();
    if (::testing::Test::HasFailure()) return;
  }
}

#endif

}  // namespace
}  // namespace stator::engine

#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "stator/storage/postgres/connection.h"
#include "stator/storage/postgres/postgres_store.h"
#include "stator/storage/testing/contract.h"
#include "stator/storage/testing/postgres_server.h"

namespace stator::storage::postgres::testing {

using storage::testing::PostgresServer;

// A schema is a place.
inline std::string new_schema() {
  static int made = 0;
  return fmt::format("place{}", ++made);
}

class PostgresPlace final : public storage::testing::StorePlace {
 public:
  explicit PostgresPlace(PostgresOptions options) : options_(std::move(options)) {
    if (options_.url.empty()) options_.url = PostgresServer::shared().url();
    options_.schema = new_schema();
  }
  std::unique_ptr<Store> open() override {
    auto store = try_open();
    EXPECT_TRUE(store) << store.error().message;
    return store ? std::move(*store) : nullptr;
  }
  Result<std::unique_ptr<Store>> try_open() const { return open_postgres_store(options_); }
  const PostgresOptions& options() const { return options_; }

 private:
  PostgresOptions options_;
};

inline storage::testing::NewPlace postgres_place(const PostgresOptions& options) {
  return [options] { return std::make_unique<PostgresPlace>(options); };
}

inline Result<CommitSequence> put_at(Store& store, Bytes key, Bytes value) {
  Batch batch;
  batch.put(std::move(key), std::move(value));
  return store.commit(std::move(batch));
}

inline std::string got(const Store& store, BytesView key) {
  const auto value = store.get(key);
  if (!value) return "error: " + value.error().message;
  return value->has_value() ? **value : "(missing)";
}

inline void run_sql(const std::string& sql) {
  const auto connection =
      Connection::open(Libpq::load().value(), {.url = PostgresServer::shared().url(), .settings = {sql}});
  ASSERT_TRUE(connection) << connection.error().message;
}

// Ends the sessions that commit, as a network that forgets a connection does.
inline void end_lock_sessions() {
  run_sql("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND pid <> pg_backend_pid()");
}

}  // namespace stator::storage::postgres::testing

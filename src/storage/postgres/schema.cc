#include "stator/storage/postgres/schema.h"

#include <fmt/format.h>

#include "stator/storage/postgres/lanes.h"

namespace stator::storage::postgres {
namespace {

constexpr std::string_view kInsufficientPrivilege = "42501";

// The lock lasts as long as the transaction, so that first starts at the same time take turns.
std::string schema_lock(std::string_view schema) {
  return fmt::format("SELECT pg_advisory_xact_lock(hashtext('stator schema {}'))", schema);
}

// Format 1 had no epochs.
Result<void> add_epochs(Connection& connection, std::string_view schema) {
  connection.add_once("BEGIN");
  connection.add_once(schema_lock(schema));
  connection.add_once(
      fmt::format("ALTER TABLE {}.lanes ADD COLUMN IF NOT EXISTS epoch bigint NOT NULL DEFAULT 0", schema));
  connection.add_once(fmt::format("UPDATE {}.store SET format = 2 WHERE format = 1", schema));
  connection.add_once("COMMIT");
  auto changed = connection.run();
  if (changed) return {};
  const auto state = connection.sql_state();
  connection.add_once("ROLLBACK");
  ignore_error(connection.run(), "without a connection there is no transaction either");
  if (state == kInsufficientPrivilege) {
    return usage_error(fmt::format(
        "the tables in the schema {} have an older form, and the role {} may not change it: run `stator store init` "
        "with the role that made them",
        schema, connection.user()));
  }
  return std::move(changed).error();
}

}  // namespace

std::vector<std::string> schema_statements(std::string_view schema, std::uint32_t lanes) {
  std::vector<std::string> statements{
      "CREATE SCHEMA IF NOT EXISTS {0}",
      "CREATE TABLE {0}.store (\n"
      "  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),\n"
      "  format integer NOT NULL,\n"
      "  lanes integer NOT NULL,\n"
      "  made timestamptz NOT NULL DEFAULT now())",
      // Each commit updates one row: free space beside it keeps the new versions on its page.
      "CREATE TABLE {0}.lanes (\n"
      "  lane integer PRIMARY KEY,\n"
      "  sequence bigint NOT NULL,\n"
      "  fence bigint NOT NULL,\n"
      "  holder text NOT NULL,\n"
      "  erasures_from bigint NOT NULL,\n"
      "  epoch bigint NOT NULL DEFAULT 0) WITH (fillfactor = 10)",
      "CREATE TABLE {0}.writers (\n"
      "  lane integer NOT NULL,\n"
      "  writer bytea NOT NULL,\n"
      "  number bigint NOT NULL,\n"
      "  sequence bigint NOT NULL,\n"
      "  seen timestamptz NOT NULL,\n"
      "  PRIMARY KEY (lane, writer)) WITH (fillfactor = 10)",
      "CREATE TABLE {0}.entries (\n"
      "  lane integer NOT NULL,\n"
      "  head bytea NOT NULL,\n"
      "  digest bytea NOT NULL,\n"
      "  tail bytea NOT NULL,\n"
      "  value bytea NOT NULL,\n"
      "  changed bigint NOT NULL,\n"
      "  PRIMARY KEY (lane, head, digest)) WITH (fillfactor = 90)",
      "CREATE TABLE {0}.erasures (\n"
      "  lane integer NOT NULL,\n"
      "  sequence bigint NOT NULL,\n"
      "  begins bytea NOT NULL,\n"
      "  ends bytea NOT NULL)",
      "CREATE INDEX erasures_by_sequence ON {0}.erasures (lane, sequence)",
      fmt::format("INSERT INTO {{0}}.lanes (lane, sequence, fence, holder, erasures_from) "
                  "SELECT lane, 0, 0, '', 0 FROM generate_series(0, {}) AS lane",
                  Lanes(lanes, nullptr).rows() - 1),
      fmt::format("INSERT INTO {{0}}.store (format, lanes) VALUES ({}, {})", kSchemaFormat, lanes),
  };
  for (auto& statement : statements) statement = fmt::format(fmt::runtime(statement), schema);
  return statements;
}

Result<std::uint32_t> ensure_schema(Connection& connection, std::string_view schema, std::uint32_t lanes) {
  if (connection.server_version() < kOldestServer) {
    return usage_error(fmt::format("the PostgreSQL at the store's address is version {}; Stator needs {} or newer",
                                   connection.server_version() / 10000, kOldestServer / 10000));
  }
  // Not to_regclass(): after waiting for the lock, it still says what was so before.
  const auto found = fmt::format(
      "SELECT EXISTS (SELECT FROM pg_catalog.pg_tables WHERE schemaname = '{}' AND tablename = 'store')", schema);
  const auto may_not_use = [&] {
    return usage_error(fmt::format(
        "the role {0} may not use Stator's tables in the database {1}: grant it USAGE on the schema {2} and "
        "SELECT, INSERT, UPDATE, DELETE on its tables",
        connection.user(), connection.database(), schema));
  };
  connection.add_once(found);
  auto looked = connection.run();
  if (!looked && connection.sql_state() == kInsufficientPrivilege) return may_not_use();
  const auto there = TRY(std::move(looked));
  if (there[0].integer(0, 0) == 0) {
    connection.add_once("BEGIN");
    connection.add_once(schema_lock(schema));
    connection.add_once(found);
    auto locked = connection.run();
    if (locked && (*locked)[2].integer(0, 0) == 0) {
      for (const auto& statement : schema_statements(schema, lanes)) connection.add_once(statement);
      locked = connection.run();
    }
    const auto state = connection.sql_state();
    connection.add_once(locked ? "COMMIT" : "ROLLBACK");
    auto ended = connection.run();
    if (!locked && state == kInsufficientPrivilege) {
      return usage_error(fmt::format(
          "the role {0} may not make Stator's tables in the database {1} ({2}): run `stator store init` with the "
          "address and a role that may, then grant {0} their use; `stator store init --print` prints the statements",
          connection.user(), connection.database(), locked.error().message));
    }
    TRY(std::move(locked));
    TRY(std::move(ended));
  }
  connection.add_once(fmt::format("SELECT format, lanes FROM {}.store", schema));
  auto rows = connection.run();
  if (!rows && connection.sql_state() == kInsufficientPrivilege) return may_not_use();
  const auto stored = TRY(std::move(rows));
  if (stored[0].count() != 1) {
    return Error{ErrorCode::Corruption,
                 fmt::format("the table {}.store has {} rows instead of one", schema, stored[0].count())};
  }
  auto format = stored[0].integer(0, 0);
  if (format == 1) {
    TRY(add_epochs(connection, schema));
    format = 2;
  }
  if (format != kSchemaFormat) {
    return usage_error(fmt::format("the store has format {}, and this Stator knows format {}: use a newer Stator",
                                   format, kSchemaFormat));
  }
  const auto stored_lanes = stored[0].integer(0, 1);
  if (!Lanes::is_valid(stored_lanes)) {
    return usage_error(
        fmt::format("the store has {} lanes, and this Stator knows stores with 1, 2, 4, 8, 16, 32 or 64: use a newer "
                    "Stator",
                    stored_lanes));
  }
  return static_cast<std::uint32_t>(stored_lanes);
}

}  // namespace stator::storage::postgres

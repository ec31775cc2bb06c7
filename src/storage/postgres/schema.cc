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

// Changes the tables in one transaction.
Result<void> change_tables(Connection& connection, std::string_view schema,
                           const std::vector<std::string>& statements) {
  connection.add_once("BEGIN");
  connection.add_once(schema_lock(schema));
  for (const auto& statement : statements) connection.add_once(fmt::format(fmt::runtime(statement), schema));
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

// Format 1 had no epochs.
Result<void> add_epochs(Connection& connection, std::string_view schema) {
  return change_tables(connection, schema,
                       {"ALTER TABLE {0}.lanes ADD COLUMN IF NOT EXISTS epoch bigint NOT NULL DEFAULT 0",
                        "UPDATE {0}.store SET format = 2 WHERE format = 1"});
}

}  // namespace

Statement format_statement(std::string_view schema) {
  // Older tables have no column readable_by.
  return {"format", fmt::format("SELECT s.format, coalesce((to_jsonb(s) ->> 'readable_by')::int4, s.format), s.lanes "
                                "FROM {}.store s",
                                schema)};
}

Result<StoreFormat> read_format(const Rows& rows) {
  if (rows.count() != 1) {
    return Error{ErrorCode::Corruption, fmt::format("the table store has {} rows instead of one", rows.count())};
  }
  return StoreFormat{.format = rows.integer(0, 0), .readable_by = rows.integer(0, 1), .lanes = rows.integer(0, 2)};
}

std::string objection_to(const StoreFormat& store, std::int64_t own) {
  if (store.readable_by > own) {
    return fmt::format(
        "the store has format {}, for Stators that know format {}, and this one knows format {}: use a newer Stator",
        store.format, store.readable_by, own);
  }
  if (store.format < own) {
    return fmt::format("the store has format {}, and this Stator knows format {}: run `stator store upgrade`",
                       store.format, own);
  }
  if (!Lanes::is_valid(store.lanes)) {
    return fmt::format(
        "the store has {} lanes, and this Stator knows stores with 1, 2, 4, 8, 16, 32 or 64: use a newer Stator",
        store.lanes);
  }
  return {};
}

std::vector<std::string> schema_statements(std::string_view schema, std::uint32_t lanes) {
  std::vector<std::string> statements{
      "CREATE SCHEMA IF NOT EXISTS {0}",
      "CREATE TABLE {0}.store (\n"
      "  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),\n"
      "  format integer NOT NULL,\n"
      "  lanes integer NOT NULL,\n"
      "  made timestamptz NOT NULL DEFAULT now(),\n"
      "  readable_by integer NOT NULL)",
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
      fmt::format("INSERT INTO {{0}}.store (format, lanes, readable_by) VALUES ({}, {}, {})", kSchemaFormat, lanes,
                  kReadableBy),
  };
  for (auto& statement : statements) statement = fmt::format(fmt::runtime(statement), schema);
  return statements;
}

Result<StoreFormat> ensure_tables(Connection& connection, std::string_view schema, std::uint32_t lanes,
                                  bool must_exist) {
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
  if (there[0].integer(0, 0) == 0 && must_exist) {
    return usage_error(fmt::format("there is no store in the database {}", connection.database()));
  }
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
  connection.add(format_statement(schema));
  auto rows = connection.run();
  if (!rows && connection.sql_state() == kInsufficientPrivilege) return may_not_use();
  const auto stored = TRY(read_format(TRY(std::move(rows))[0]));
  auto updated = stored;
  if (stored.format == 1) updated.format = updated.readable_by = 2;
  if (auto objection = objection_to(updated); !objection.empty()) return usage_error(std::move(objection));
  return stored;
}

Result<void> update_tables(Connection& connection, std::string_view schema, const StoreFormat& stored) {
  if (stored.format == 1) TRY(add_epochs(connection, schema));
  return {};
}

Result<std::uint32_t> ensure_schema(Connection& connection, std::string_view schema, std::uint32_t lanes) {
  const auto stored = TRY(ensure_tables(connection, schema, lanes));
  TRY(update_tables(connection, schema, stored));
  return static_cast<std::uint32_t>(stored.lanes);
}

Result<StoreFormat> finish_upgrade(Connection& connection, std::string_view schema) {
  connection.add(format_statement(schema));
  const auto before = TRY(read_format(TRY(connection.run())[0]));
  const auto& format = before.format;  // a newer program's format stays
  if (before.readable_by == format) return before;
  // The new epoch lets all programs that run look at the format before they read or write anything else.
  TRY(change_tables(connection, schema,
                    {"ALTER TABLE {0}.store ADD COLUMN IF NOT EXISTS readable_by integer",
                     "SELECT lane FROM {0}.lanes ORDER BY lane FOR UPDATE", "UPDATE {0}.store SET readable_by = format",
                     // The next number of lane 0, as Lanes::next() has it.
                     "UPDATE {0}.lanes SET sequence = next.number, epoch = next.number "
                     "FROM (SELECT max(sequence) + count(*) - (max(sequence) + count(*)) % count(*) AS number "
                     "FROM {0}.lanes) AS next"}));
  return before;
}

}  // namespace stator::storage::postgres

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stator/base/result.h"
#include "stator/storage/postgres/connection.h"

// The tables of a store on PostgreSQL.  docs/formats/postgres.md describes them.
namespace stator::storage::postgres {

constexpr int kSchemaFormat = 2;
// The oldest format whose programs can use the tables that this program makes.  A new format that older programs can
// use names theirs here, until `stator store upgrade` ends that.
constexpr int kReadableBy = 2;
constexpr int kOldestServer = 130000;  // its sorts can use the order that an index already gives

// The statements that make the tables, in one transaction's order.
std::vector<std::string> schema_statements(std::string_view schema, std::uint32_t lanes);

// The contents of the table `store`.
struct StoreFormat {
  std::int64_t format = kSchemaFormat;
  std::int64_t readable_by = kSchemaFormat;  // programs of this format and newer ones can use it
  std::int64_t lanes = 1;
};
// Reads it; the columns are those of StoreFormat.
Statement format_statement(std::string_view schema);
Result<StoreFormat> read_format(const Rows& rows);  // Errors: Corruption
// Why a program of format `own` cannot use a store, in one line; empty: it can.
std::string objection_to(const StoreFormat& store, std::int64_t own = kSchemaFormat);

// Makes the tables, for so many lanes, unless they are there, and looks whether this program can use them, or could
// after update_tables().  Answers their format.  Errors: Usage: the role may not make them; they must exist, and do
// not; the server is too old; a newer Stator made them.  Storage.
Result<StoreFormat> ensure_tables(Connection& connection, std::string_view schema, std::uint32_t lanes,
                                  bool must_exist = false);
// Changes tables of an older format to the format of this program.  Programs of the older format cannot use them any
// more, so none may have them open.  Errors: Usage: the role may not.  Storage.
Result<void> update_tables(Connection& connection, std::string_view schema, const StoreFormat& stored);
// Both, for commands.  Answers how many lanes the tables have.
Result<std::uint32_t> ensure_schema(Connection& connection, std::string_view schema, std::uint32_t lanes);

// Gives the tables, which ensure_schema() has seen, the newest format for good: older programs stop, also those that
// run.  Answers the format before.  Errors: Usage: the role may not.  Storage.
Result<StoreFormat> finish_upgrade(Connection& connection, std::string_view schema);

}  // namespace stator::storage::postgres

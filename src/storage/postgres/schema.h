#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stator/base/result.h"
#include "stator/storage/postgres/connection.h"

// The tables of a store on PostgreSQL.  docs/formats/postgres.md describes them.
namespace stator::storage::postgres {

constexpr int kSchemaFormat = 2;
constexpr std::string_view kDefaultSchema = "stator";
constexpr int kOldestServer = 130000;  // its sorts can use the order that an index already gives

// The statements that make the tables, in one transaction's order.
std::vector<std::string> schema_statements(std::string_view schema, std::uint32_t lanes);

// Makes the tables, for so many lanes, unless they are there, and looks whether this program can use them.  Answers how
// many lanes they have.  Errors: Usage: the role may not make them; the server is too old; a newer Stator made them.
// Storage.
Result<std::uint32_t> ensure_schema(Connection& connection, std::string_view schema, std::uint32_t lanes);

}  // namespace stator::storage::postgres

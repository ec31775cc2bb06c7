#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "stator/api/tables/table_operations.h"
#include "stator/engine/schema.h"

namespace stator::api {

inline constexpr std::size_t kMaxGlobalIndexes = 20;

// Reads the key schemas and projections of a table and its indexes against the attribute definitions.
// Errors: Validation, with DynamoDB's texts.  Confined to one request.
class SchemaReader {
 public:
  // Definitions that are there already, of a table that an index is added to.
  void know(const std::vector<engine::KeyAttribute>& definitions);
  Result<void> read_definitions(const std::vector<AttributeDefinition>& definitions);

  // `max_per_part`: how many attributes the partition key and the sort key may each have.
  Result<engine::KeySchema> read_keys(const std::vector<KeyElement>& elements, std::size_t max_per_part);
  Result<engine::IndexProjection> read_projection(const IndexProjection& asked);
  // A whole global index; `mode` is its table's.
  Result<engine::Index> read_global_index(const IndexDefinition& asked, engine::BillingMode mode);

  // A table without indexes: the definitions are exactly its key.
  Result<void> check_all_used() const;
  // A table with indexes: every definition is part of some key.
  Result<void> check_all_used_by_indexes() const;
  std::vector<engine::KeyAttribute> take_definitions() { return std::move(definitions_); }

 private:
  void add(engine::KeyAttribute definition);
  const engine::KeyAttribute* find(std::string_view name) const;

  std::vector<engine::KeyAttribute> definitions_;
  std::map<std::string, std::size_t, std::less<>> positions_;  // in definitions_, by name
  std::set<std::string> used_;
  std::size_t included_ = 0;
};

// Gives the index its id.  Errors: Validation, for a name that is taken.
Result<void> add_index(engine::Table& table, engine::Index index);

}  // namespace stator::api

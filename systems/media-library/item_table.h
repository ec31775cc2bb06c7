#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stator/model/model.h"
#include "stator/model/validate.h"
#include "stator/runtime/repository.h"
#include "stator/value/attribute_value.h"

namespace stator::systems::media_library {

// Books and videos as lines of a CSV file.  The first line names the columns, which are attributes, except `Type`
// (BOOK, also for an empty cell, or VIDEO) and `Collection` (its name).  Case makes no difference in the names of
// columns and types, nor do spaces, dashes and underscores in names: "release year" is ReleaseYear.  Lists are
// separated by ; and a \ in front takes a ; for itself.  An empty cell is no value.  Pure.
class ItemTable {
 public:
  // The columns of an export, in their order.
  static const std::vector<std::string>& columns();
  static std::vector<std::string> fields_of(const runtime::Object& item);

  // A line: an item as in the body of a POST, and the name of its collection, if it has one.
  struct Line {
    const model::Entity* entity = nullptr;  // null: its type is wrong
    value::Item attributes;
    std::string collection;
  };

  // Takes the first line of a file.  Adds to `problems` columns that are unknown, or there twice, and a missing Title.
  ItemTable(const model::Model& model, const std::vector<std::string>& header,
            std::vector<model::ValueProblem>& problems);
  // Adds to `problems` cells that cannot be read.  The repository checks the values.
  Line read(const std::vector<std::string>& fields, std::vector<model::ValueProblem>& problems) const;

 private:
  const model::Model& model_;  // outlives it
  std::vector<std::string> header_;
};

// A list in one cell, and back.
std::string join_list(const value::List& members);
value::List split_list(std::string_view cell);

}  // namespace stator::systems::media_library

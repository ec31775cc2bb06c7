#pragma once

#include <string>
#include <utility>
#include <vector>

#include "stator/base/result.h"
#include "stator/model/model.h"
#include "stator/model/row_keys.h"
#include "stator/model/rows.h"

namespace stator::model {

// Keys that another model has for an entity's rows, in indexes that this model does not have.  A program also writes
// these keys, so that the programs of the other model find its rows.
struct AddedKeys {
  // The keys of one record.
  struct OfRecord {
    struct Design {
      KeyDesign key;
      KeyPart part = KeyPart::Partition;
    };
    std::string name;
    std::vector<Design> designs;
    Record rules;  // only its keys; one without a rule is the attribute of that name
  };
  // The values that the other model computes before the keys: defaults of absent attributes, and derived attributes,
  // each after the attributes that it is derived from.
  value::Item defaults;
  std::vector<std::pair<std::string, Expression>> derived;
  std::vector<OfRecord> records;

  bool empty() const { return records.empty(); }
  // The attributes that the keys are made of: a set of names for each key.  A name in `derived` is replaced by the
  // attributes that it is derived from.
  std::vector<std::vector<std::string>> inputs() const;
  // Sets the keys in rows of an entity with these attributes.  `main_key` is the primary key of its main row.
  // Errors: Validation: a key would be too long, or an attribute does not fit into it.
  Result<void> set_in(const TableDesign& table, const value::Item& attributes, const value::Item& main_key,
                      std::vector<Row>& rows) const;

  // The form in which it is stored in a row, and back.  Errors: Validation, when a newer program has written it.
  value::Item to_item() const;
  static Result<AddedKeys> from_item(const value::Item& item);
};

}  // namespace stator::model

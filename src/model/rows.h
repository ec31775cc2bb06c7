#pragma once

#include <string>
#include <vector>

#include "stator/base/result.h"
#include "stator/model/model.h"
#include "stator/model/validate.h"

// Converts entities to rows of the table, and back.  Pure: no time, no randomness, no table.
namespace stator::model {

// The attribute names of a row's primary key with their values.
value::Item primary_key_of(const TableDesign& table, const value::Item& row);

// One row of an entity.
struct Row {
  const Record* record = nullptr;
  value::Item key;   // the primary key
  value::Item item;  // everything, the key included
};

// Computes the derived attributes of `attributes` in place; sources come before the attributes derived from them.
Result<void> derive(const Entity& entity, value::Item& attributes);
// The same for attributes that are computed when the entity is read.
Result<void> derive_when_read(const Entity& entity, value::Item& attributes);

// Every row in which an entity with these attributes (its logical ones, derived included) lives: keys from templates,
// the type attribute, the attributes of the record, the version when it has one, and its TTL.  A record other than the
// first has no row if its key lacks an attribute.  An index key that is an attribute as it is, and is empty or of
// another type than the index has, is left out, because DynamoDB would refuse the row. Errors: Validation: an attribute
// of the main key is missing, or a key would exceed 2048 or 1024 bytes.
Result<std::vector<Row>> rows_of(const Model& model, const Entity& entity, const value::Item& attributes);
// The same where key_of(attributes) is known already.
Result<std::vector<Row>> rows_of(const Model& model, const Entity& entity, const value::Item& attributes,
                                 const value::Item& main_key);

// The primary key of the main record from the attributes that name it.  nullopt when one is missing.
Result<std::optional<value::Item>> key_of(const Model& model, const Entity& entity, const value::Item& attributes);
Result<std::optional<value::Item>> key_of(const Model& model, const Entity& entity, const Record& record,
                                          const value::Item& attributes);

// Whether a row of the record can have the primary key of `row`, by the attributes that `row` has.  For a row from an
// index without the type attribute, this tells whether it belongs to the record: the rows of different records never
// have the same primary key.
bool could_be(const Model& model, const Entity& entity, const Record& record, const value::Item& row);

// The logical attributes of a row: without keys made from templates, type, and the TTL that `expires` gives.  The
// version stays.
value::Item attributes_of(const Model& model, const Entity& entity, const Record& record, value::Item row);

// The primary key of the parent that `parent` points to from these attributes; nullopt when the relation does not hold.
Result<std::optional<value::Item>> parent_key(const Model& model, const Entity& child, const Parent& parent,
                                              const value::Item& attributes);

// The reservation rows of an entity's unique values.  The type attribute says "unique"; `Of` holds the owner's primary
// key in DynamoDB's JSON.  Values are escaped, or folded and escaped; of several each has its own #.
//   partition: unique#<model>#<ENTITY>.<attributes>@<scope attributes>#<scope values>#<values>   sort: unique
//              unique#media#COLLECTION.Name@LibraryId#l1#crime   unique#media#USER.email@#ann@example.com   (no scope)
// The model's name is there because models can share a table, and have entities of one name.
struct Reservation {
  const Unique* rule = nullptr;
  value::Item key;
  value::Item item;
};
Result<std::vector<Reservation>> reservations_of(const Model& model, const Entity& entity,
                                                 const value::Item& attributes);
// The same where key_of(attributes) is known already.
Result<std::vector<Reservation>> reservations_of(const Model& model, const Entity& entity,
                                                 const value::Item& attributes, const value::Item& main_key);

// The front of the partition keys of an entity's reservations. No other keys begin with it.
std::string reservation_prefix(const Model& model, const Entity& entity);

// How to find the children of one parent: by the table or the index whose key has the longest front that the parent
// determines.  The range can hold other rows, so the relation's attributes have to be compared.
struct ChildPlan {
  const Entity* child = nullptr;
  const Parent* relation = nullptr;
  const IndexDesign* index = nullptr;  // null: the table, which is preferred because it can be read consistently
  value::Item partition;               // the values of the partition key attributes
  std::string sort_prefix;             // empty: the whole partition
};
// Errors: Validation, when no key leads to the children (Parent::found_by); the checker says so beforehand.
Result<ChildPlan> plan_children(const Model& model, const Entity& child, const Parent& relation,
                                const value::Item& parent_attributes);

}  // namespace stator::model

#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stator/model/expression/expression_tree.h"
#include "stator/model/model.h"
#include "stator/model/report.h"
#include "stator/model/syntax/yaml_reader.h"

// A model file as it is written: the first stage of the compiler.
//
// Each struct holds a part of the model as it is written, and the names in it with their places.  The meaning of a name
// is known only after the whole file is read: resolve/ looks names up.
namespace stator::model {

// "/libraries/{LibraryId}/items?status={status}".
struct RouteSyntax {
  Text text;
  std::vector<std::string> parameters;  // in the order of the path, then of the query
};

// Two attributes, one of them of another entity.
using NamePairs = std::vector<std::pair<Text, Text>>;

// A word of a map, and where its value is.
struct WordSyntax {
  Text word;
  Position value;
};

struct IndexSyntax {
  std::optional<Position> partition, sort;  // the two parts of `key`
  std::optional<Position> local;            // the word, although the index has `key`
  bool has_key = true;                      // false: it has neither `key` nor `local`
};

struct TableSyntax {
  TableDesign design;
  std::vector<IndexSyntax> indexes;  // as many as the table has
  std::vector<Text> included;        // attributes in the projections of indexes
};

// A type that is described by more words than its name.
struct TypeSyntax {
  Type type;                      // as written; a copy gets the type of its source later
  std::vector<WordSyntax> words;  // words that limit the values; a word that is for other types is not read
  std::vector<Text> values;       // of an enum
};

struct DefaultSyntax {
  std::string attribute;
  Type type;                    // as it is written
  value::AttributeValue value;  // as it is written
  Position position;
};

// An access list.
struct AccessSyntax {
  Access access;
  std::optional<Written<Expression>> anyone_when;
  std::vector<Text> grants;
};

// A copy of an attribute of a parent, or a number that a parent gives.
struct FromParentSyntax {
  std::size_t attribute = 0;  // which of the entity's
  Text relation;
  Text source;               // attribute of the parent
  std::optional<Type> type;  // that the file gives a copy; otherwise it gets that of its source
};

struct SumSyntax {
  std::size_t attribute = 0;  // which of the entity's
  Text summed;                // attribute of the children
};

struct AttributeSyntax {
  std::vector<Text> sources;         // words that decide its value; the first one does
  std::optional<Position> type;      // the type's name
  bool internal = false;             // it says so itself
  std::optional<Position> fold;      // the word, without `unique_within`
  std::optional<Position> order;     // the word `in` of a number that a parent gives
  std::optional<Position> distinct;  // the same
};

struct ParentSyntax {
  std::optional<Text> entity;
  NamePairs by;  // attribute of the parent, and of this entity
  std::vector<Text> clear;
};

// An attribute that the model sets and no request.
struct TakenOverSyntax {
  Text attribute;
  Kind kind = Kind::Boolean;
  std::string_view purpose;  // "a soft deletion"
};

struct OperationsSyntax {
  Position position;        // of the word
  bool is_empty = false;    // an empty list
  std::vector<Text> names;  // that operations have
};

struct EntitySyntax {
  // An attribute of the entity itself, or an expression over its attributes.
  template <typename T>
  struct Use {
    T what;
    std::string_view stored_for = {};  // the part that reads it from the stored row: "a key"; empty: none does
  };

  // An access list, and the members of the entity that it is for.
  struct Granted {
    std::vector<Access Entity::*> to;
    std::vector<Text> grants;
    std::optional<Position> condition;  // of `public`
  };

  Entity entity;
  bool is_map = true;                       // false: it is something else, which has been reported
  std::vector<AttributeSyntax> attributes;  // as many as the entity has
  std::vector<Text> beside_records;         // words of a record, although the entity has `records`
  std::vector<Text> of_first_record;        // words of the first record that only the others have
  std::optional<Position> soft_delete;      // the word
  std::optional<Position> keep;             // the word, in `soft_delete`
  std::optional<OperationsSyntax> operations;
  std::vector<Use<Text>> names;
  std::vector<Use<Written<Expression>>> expressions;
  std::vector<Written<Expression>> checks;
  std::vector<Written<Template>> keys;
  std::vector<Text> key_attributes;       // words of `keys`; those that the table does not have are left out
  std::vector<Position> callers_in_keys;  // {me} in templates of keys; these are left out
  std::vector<SumSyntax> sums;
  std::vector<FromParentSyntax> copies, numbers;
  std::vector<ParentSyntax> parents;  // as many as the entity has
  std::vector<TakenOverSyntax> taken_over;
  std::vector<Position> expires;  // the word, in the records that have it
  std::vector<Granted> granted;   // a later one replaces an earlier one
  std::optional<RouteSyntax> path;
};

// A name in a route, key or filter of a pattern: a parameter.
struct ParameterUse {
  enum class Where : std::uint8_t { Route, Partition, Elsewhere };

  std::string name;
  Position position;
  Where where = Where::Elsewhere;
};

// A half-open range of which only one bound is given: `from` or `before`.
struct LoneBoundSyntax {
  Position condition;
  std::string_view given;
};

struct NestSyntax {
  std::optional<Text> parent, relation, as;
  std::vector<Text> children;
};

struct JoinSyntax {
  std::optional<Text> relation;
  std::vector<Text> attributes;
};

struct PatternSyntax {
  Pattern pattern;
  std::vector<ParameterUse> uses;
  std::optional<Text> index;         // that the query names; if the table has none, the rest is not read
  std::vector<Text> key_attributes;  // words of the query; those that its key does not have are left out
  std::optional<Position> query;     // its map, if the index in it is known
  std::vector<Text> partition;       // attributes of the partition key that the query gives, in the key's order
  std::vector<Text> sort;            // the same of the sort key
  std::vector<Text> ranges;          // attributes of `partition` that have a condition, at its place; they are left out
  std::vector<Position> overloaded;  // conditions of a sort key that compare it several times; they are left out
  std::vector<LoneBoundSyntax> lone_bounds;  // conditions of a sort key; they are left out
  std::optional<Position> page;              // the default of its size
  NamePairs returns;                         // an entity, and its record; without a text: the first
  std::vector<Text> sorted_by;
  std::vector<Written<Expression>> row_conditions;  // over returned rows: the filter first, then access
  std::optional<NestSyntax> nest;
  std::vector<JoinSyntax> joins;  // as many as the pattern has
  std::optional<Text> within;
  std::vector<Text> grants;
  std::optional<Position> consistent;  // the word
  bool has_access = false;             // otherwise it follows from the returned entities
};

struct AssignmentSyntax {
  Text attribute;
  Written<Expression> value;
};

struct StepSyntax {
  Step step;
  std::vector<Text> others;    // words of a second step in it
  std::vector<Text> entities;  // Read, Create
  std::optional<Text> as;      // Read, Create: the name of the step; Update, Delete: the step whose row changes
  std::vector<AssignmentSyntax> key;
  std::vector<AssignmentSyntax> set;
  std::vector<Written<Expression>> conditions;  // `that` and `when`
  bool appends = false;                         // Create, written as `append`
};

struct ActionSyntax {
  Action action;
  std::vector<StepSyntax> steps;
  std::optional<RouteSyntax> route;
  std::vector<Text> other_routes;     // their words
  std::vector<Text> not_native;       // words that are for actions with steps only
  std::optional<Position> accepts;    // the word
  std::vector<Position> no_bodies;    // `none` in `accepts`, although there are other types
  std::optional<Position> condition;  // of `public`
  std::optional<Text> result;
  std::optional<Text> within;
  std::vector<Text> grants;
  bool has_access = false;  // otherwise it follows from its steps
};

struct GrantSyntax {
  Grant grant;
  std::optional<Text> pointer;
  NamePairs key;    // attribute of the pointer, and of the row that is asked for
  NamePairs gives;  // attribute of the row that is asked for, and of the pointer
};

// A name that means something else where it could stand.
struct ReservedSyntax {
  Text name;
  std::string what;  // that is called so: "an attribute"
};

// A path into an attribute, such as address.city.  resolve() adds them, since it knows the attributes.
struct PathUse {
  std::string what;                      // "address of BOOK"
  const Attribute* attribute = nullptr;  // null: it is a step of an action, so an entity
  std::vector<PathStep> steps;           // into it
  Position position;
};

struct Syntax {
  std::string name;
  std::string description;
  TableSyntax table;
  std::vector<GrantSyntax> grants;
  std::vector<EntitySyntax> entities;
  std::vector<PatternSyntax> patterns;
  std::vector<ActionSyntax> actions;
  std::vector<Acceptance> accepted;
  // Wherever they are in the file:
  std::vector<TypeSyntax> types;
  std::vector<DefaultSyntax> defaults;
  std::vector<Position> binary_defaults;  // defaults of binary values; they are not read
  std::vector<PathUse> paths;
  std::vector<ReservedSyntax> reserved;  // attributes and grants; they are left out
};

// Reads the tree of a file.  The table is read first: the attributes of its keys are words of `keys` and `query`.
Syntax parse(const YamlNode& root, Report& report);

// Shows `visit` every path and every input of an expression, with its place.
void visit_names(const Written<Expression>& expression,
                 const std::function<void(const Expression::Node& name, Position position)>& visit);
// Shows `visit` every call of now(), uuid() and ulid(), which only steps of actions may have.
void visit_generators(const Written<Expression>& expression,
                      const std::function<void(Function generator, Position position)>& visit);

// The word of the language for a type: "string".
std::string_view kind_name(Kind kind);
bool is_number(Kind kind);

// A word that says more of the values of some types: `min`.
struct TypeWord {
  std::string_view word;
  std::string_view meant_for;  // "numbers"
  bool (*fits)(Kind);
};
const TypeWord& type_word(std::string_view word);

// The type that follows from the word which decides the value of an attribute: `count` is an integer.  nullopt: the
// file must say the type.
std::optional<Kind> implied_kind(const Attribute& attribute);

// All operations of entities, in the order of documents.
inline constexpr std::array<std::string_view, 7> kOperations{"create", "get",     "put",  "update",
                                                             "delete", "restore", "purge"};

// A route without the names of its parameters.  Two routes of one shape would answer the same requests.
std::string route_shape(std::string_view method, std::string_view path);

template <typename T>
std::vector<std::string_view> names_of(const std::vector<T>& list) {
  std::vector<std::string_view> names;
  for (const auto& element : list) names.push_back(element.name);
  return names;
}

// Shows `visit` each key attribute of the table and its indexes once.
void for_each_key(const TableDesign& table, const std::function<void(const KeyDesign&)>& visit);

}  // namespace stator::model

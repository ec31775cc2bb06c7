#pragma once

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
// Each struct holds a part of the model as far as its text alone says it, and the names in it, with their places.  What
// a name stands for is not known before everything is read: resolve/ looks names up.
namespace stator::model {

// "/libraries/{LibraryId}/items?status={status}".
struct Route {
  Text text;
  std::vector<std::string> parameters;  // in the order of the path, then of the query
};

// Two attributes, one of them of another entity.
using NamePairs = std::vector<std::pair<Text, Text>>;

struct TableSyntax {
  TableDesign design;
  std::vector<Text> included;  // attributes in the projections of indexes
};

// A list of who may do something.
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

struct EntitySyntax {
  // An attribute, or what an expression makes of attributes, of the entity itself.
  template <typename T>
  struct Use {
    T what;
    std::string_view stored_for = {};  // who reads it again from what is stored: "a key"; empty: nobody
  };

  // A list of who may do something, and what that is.
  struct Granted {
    std::vector<Access Entity::*> to;
    std::vector<Text> grants;
  };

  Entity entity;
  bool is_map = true;  // false: it is something else, which has been reported
  std::vector<Use<Text>> names;
  std::vector<Use<Written<Expression>>> expressions;
  std::vector<Written<Expression>> checks;
  std::vector<Written<Template>> keys;
  std::vector<SumSyntax> sums;
  std::vector<FromParentSyntax> copies, numbers;
  std::vector<ParentSyntax> parents;  // as many as the entity has
  std::vector<TakenOverSyntax> taken_over;
  std::vector<Position> expires;  // the word, in the records that have it
  std::vector<Granted> granted;   // a later one replaces an earlier one
  std::optional<Route> path;
};

// A name in a route, key or filter of a pattern: a parameter.
struct ParameterUse {
  enum class Where : std::uint8_t { Route, Partition, Elsewhere };

  std::string name;
  Position position;
  Where where = Where::Elsewhere;
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
  NamePairs returns;  // an entity, and its record; without a text: the first
  std::vector<Text> sorted_by;
  std::vector<Written<Expression>> row_conditions;  // over what is returned: the filter, and who may see it
  std::optional<NestSyntax> nest;
  std::vector<JoinSyntax> joins;  // as many as the pattern has
  std::optional<Text> within;
  std::vector<Text> grants;
  std::optional<Position> consistent;  // the word
  bool has_access = false;             // otherwise it follows from what is returned
};

struct AssignmentSyntax {
  Text attribute;
  Written<Expression> value;
};

struct StepSyntax {
  Step step;
  std::vector<Text> entities;  // Read, Create
  std::optional<Text> as;      // Read, Create: what it is called; Update, Delete: what it changes
  std::vector<AssignmentSyntax> key;
  std::vector<AssignmentSyntax> set;
  std::vector<Written<Expression>> conditions;  // `that` and `when`
  bool appends = false;                         // Create, written as `append`
};

struct ActionSyntax {
  Action action;
  std::vector<StepSyntax> steps;
  std::optional<Route> route;
  std::optional<Text> result;
  std::optional<Text> within;
  std::vector<Text> grants;
  bool has_access = false;  // otherwise it follows from its steps
};

struct GrantSyntax {
  Grant grant;
  std::optional<Text> pointer;
  NamePairs key;    // attribute of the pointer, and of what is asked for
  NamePairs gives;  // attribute of what is asked for, and of the pointer
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

// A route without the names of its parameters: what requests are told apart by.
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

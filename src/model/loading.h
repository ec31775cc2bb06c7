#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stator/model/expression_tree.h"
#include "stator/model/model.h"
#include "stator/model/yaml_reader.h"

// What the parts of the loader share.
namespace stator::model {

// A model while it is read.
//
// Names may be used before they are defined, so a file is read in rounds: what it says is taken as it stands, and what
// depends on a name is put off until all names are there.
class Loading {
 public:
  explicit Loading(std::string file, WordListener listener = nullptr) : report(file, std::move(listener)) {
    model.file = std::move(file);
  }
  Loading(const Loading&) = delete;
  Loading& operator=(const Loading&) = delete;

  Report report;
  Model model;

  // Types: what other constructs look at (the type of a copy, what a relation goes by).  Names: everything else.
  enum class Round : bool { Types, Names };
  void later(Round round, std::function<void()> work) {
    (round == Round::Types ? types_ : names_).push_back(std::move(work));
  }
  void later(std::function<void()> work) { later(Round::Names, std::move(work)); }
  void run_rounds();

  // Look a name up, and report when it is not there.
  const Entity* need_entity(const Text& name);
  const Attribute* need_attribute(const Entity& entity, const Text& name);
  // What is inside an attribute: address.city, authors[0].
  void need_path(const Entity& entity, const std::string& attribute, const std::vector<PathStep>& steps,
                 Position position);
  void need_attributes(const Entity& entity, const Written<Template>& text);
  // For an expression over one entity's own attributes, which has no inputs and, since it is computed again and again, generates nothing.
  void need_attributes(const Entity& entity, const Written<Expression>& expression);

  // Reports what is not stored; `user` ("a key") would look at it again in what is.
  void need_stored(const Entity& entity, const Text& name, std::string_view user);
  void need_stored(const Entity& entity, const Written<Expression>& expression, std::string_view user);

  // What has been read under that name.
  Entity& entity(std::string_view name);
  Pattern& pattern(std::string_view name);
  Action& action(std::string_view name);

 private:
  std::vector<std::function<void()>> types_;
  std::vector<std::function<void()>> names_;
};

// Whether rows hold the attribute.
inline bool is_stored(const Attribute& attribute) { return !attribute.transient && !attribute.when_read; }

// Whether `names` give an attribute that names an entity: it is among them, or all that it is derived from; or it is the owner, who is
// the caller.
bool gives(const std::vector<std::string_view>& names, const Entity& entity, std::string_view attribute);

// Shows `visit` every path and every input of an expression, with its place.
void visit_names(const Written<Expression>& expression,
                 const std::function<void(const Expression::Node& name, Position position)>& visit);

// Shows `visit` every call of now(), uuid() and ulid(), which only steps of actions may have.
void visit_generators(const Written<Expression>& expression,
                      const std::function<void(Function generator, Position position)>& visit);

void load_table(const YamlNode& node, Loading& loading);
void load_entity(const YamlNode& node, Loading& loading);
// An attribute of `entity`, added to it.
void load_attribute(const YamlNode& node, Entity& entity, Loading& loading);
// The value of `next`, which makes an attribute count in the order of a pattern.
void load_next(const YamlNode& node, Attribute& attribute, Report& report);
// An input, a parameter or a member of a map: it has a type, `required` and `default`, and nothing computes it.
std::optional<Attribute> load_plain_attribute(const YamlNode& node, std::string_view what, Loading& loading);
void load_pattern(const YamlNode& node, Loading& loading);
void load_action(const YamlNode& node, Loading& loading);
void load_grant(const YamlNode& node, Loading& loading);

// A list of who may do something.
struct AccessList {
  Access access;
  std::optional<Written<Expression>> anyone_when;  // its names are the caller's to look up
};
AccessList load_access(const YamlNode& node, Loading& loading);
// Who may do both.
Access intersection(const Access& a, const Access& b);

// Takes `description` from `words`.
std::string load_description(Words& words, Report& report);

// A route: "/libraries/{LibraryId}/items?status={status}".
struct Route {
  Text text;
  std::vector<std::string> parameters;  // in the order of the path, then of the query
};
enum class QueryString : bool { Refused, Allowed };
std::optional<Route> load_route(const YamlNode& node, QueryString query, Loading& loading);
// Reports an entity that a construct works `within` and that its parameters do not name.
void check_within(const Text& entity, const std::vector<Attribute>& parameters, Loading& loading);
// Reports attributes that are computed from themselves, by way of whatever rows.
void check_cycles(Loading& loading);
// Reports attributes that count in an order in which they are not, once everything else is there.
void check_next(Loading& loading);
// Lets bounds of patterns that end where a key goes on stand for all keys that begin with them, once everything else is there.
void complete_bounds(Model& model);
// Reports two constructs that answer the same requests.
void check_routes(Loading& loading);

template <typename T>
std::vector<std::string_view> names_of(const std::vector<T>& list) {
  std::vector<std::string_view> names;
  for (const auto& element : list) names.push_back(element.name);
  return names;
}

}  // namespace stator::model

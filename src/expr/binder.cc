#include "stator/expr/binder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "stator/expr/bindings.h"
#include "stator/expr/check.h"
#include "stator/expr/parser.h"

namespace stator::expr {

namespace {

// A sigil, then letters, digits and underscores.
bool is_placeholder(std::string_view key, char sigil) {
  const auto belongs = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return key.size() > 1 && key[0] == sigil && std::ranges::all_of(key.substr(1), belongs);
}

template <typename Map>
Result<void> check_keys(const Map& map, std::string_view parameter, char sigil) {
  if (map.empty()) return validation_error(fmt::format("{} must not be empty", parameter));
  for (const auto& [key, value] : map) {
    if (!is_placeholder(key, sigil)) {
      return validation_error(fmt::format("{} contains invalid key: Syntax error; key: \"{}\"", parameter, key));
    }
  }
  return {};
}

// `used` points at the values of `map` that expressions refer to.
template <typename Map>
Result<void> check_used(const Map& map, std::string_view parameter,
                        std::vector<const typename Map::mapped_type*> used) {
  std::ranges::sort(used);
  std::vector<std::string_view> unused;
  for (const auto& [key, value] : map) {
    if (!std::ranges::binary_search(used, &value)) unused.push_back(key);
  }
  if (unused.empty()) return {};
  return validation_error(
      fmt::format("Value provided in {} unused in expressions: keys: {{{}}}", parameter, fmt::join(unused, ", ")));
}

}  // namespace

Binder::Binder(std::optional<Names> names, std::optional<Values> values, Cache& cache)
    : Binder(std::move(names), std::move(values)) {
  cache_ = &cache;
}

Binder::Binder(std::optional<Names> names, std::optional<Values> values)
    : has_names_(names.has_value()), has_values_(values.has_value()) {
  placeholders_ = std::make_shared<const Placeholders>(
      Placeholders{std::move(names).value_or(Names()), std::move(values).value_or(Values())});
}

Result<void> Binder::check_placeholders() const {
  if (has_names_) TRY(check_keys(placeholders_->names, "ExpressionAttributeNames", '#'));
  for (const auto& [key, name] : placeholders_->names) {
    if (!name.empty()) continue;
    return validation_error(
        fmt::format("ExpressionAttributeNames contains invalid value: Empty attribute name for key {}", key));
  }
  if (has_values_) TRY(check_keys(placeholders_->values, "ExpressionAttributeValues", ':'));
  return {};
}

Result<std::shared_ptr<const Bindings>> Binder::bind(Kind kind, std::string_view text) {
  auto tree = cache_ != nullptr ? cache_->find(kind, text) : nullptr;
  if (tree == nullptr) {
    tree = TRY(parse(kind, text));
    if (cache_ != nullptr) cache_->insert(text, tree);
  }
  auto bindings = expr::bind(std::move(tree), placeholders_);
  used_names_.insert(used_names_.end(), bindings->names.begin(), bindings->names.end());
  used_values_.insert(used_values_.end(), bindings->values.begin(), bindings->values.end());
  return bindings;
}

Result<Condition> Binder::condition(Kind kind, std::string_view text) {
  auto bindings = TRY(bind(kind, text));
  TRY(check_condition(*bindings));
  return Condition(std::move(bindings));
}

Result<KeyCondition> Binder::key_condition(std::string_view text) {
  return to_key_condition(TRY(condition(Kind::KeyCondition, text)));
}

Result<Projection> Binder::projection(std::string_view text) {
  const auto bindings = TRY(bind(Kind::Projection, text));
  TRY(check_names(*bindings));
  std::vector<Path> paths;
  paths.reserve(bindings->tree->paths.size());
  for (const NodeIndex index : bindings->tree->paths) paths.push_back(bindings->path(bindings->node(index)));
  TRY(check_paths(Kind::Projection, paths));
  return Projection(std::move(paths));
}

Result<Update> Binder::update(std::string_view text) {
  auto bindings = TRY(bind(Kind::Update, text));
  TRY(check_names(*bindings));
  TRY(check_values(*bindings));
  std::vector<Path> paths;
  paths.reserve(bindings->tree->actions.size());
  for (const Action& action : bindings->tree->actions) paths.push_back(bindings->path(bindings->node(action.path)));
  TRY(check_paths(Kind::Update, paths));
  TRY(check_update(*bindings));
  return Update(std::move(bindings), std::move(paths));
}

Result<void> Binder::check_all_used() const {
  TRY(check_used(placeholders_->names, "ExpressionAttributeNames", used_names_));
  return check_used(placeholders_->values, "ExpressionAttributeValues", used_values_);
}

}  // namespace stator::expr

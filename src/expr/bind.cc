#include "stator/expr/bind.h"

#include <optional>
#include <utility>

#include "stator/expr/binder.h"

namespace stator::expr {
namespace {

template <typename Map>
std::optional<Map> unless_empty(Map map) {
  if (map.empty()) return std::nullopt;
  return map;
}

// `bind_text` binds one expression with the binder that it is given.
template <typename BindText>
auto bind_alone(Placeholders placeholders, BindText bind_text) -> decltype(bind_text(std::declval<Binder&>())) {
  Binder binder(unless_empty(std::move(placeholders.names)), unless_empty(std::move(placeholders.values)));
  TRY(binder.check_placeholders());
  auto bound = TRY(bind_text(binder));
  TRY(binder.check_all_used());
  return bound;
}

}  // namespace

Result<Condition> bind_condition(std::string_view text, Placeholders placeholders) {
  return bind_alone(std::move(placeholders), [&](Binder& binder) { return binder.condition(Kind::Condition, text); });
}

Result<Condition> bind_filter(std::string_view text, Placeholders placeholders) {
  return bind_alone(std::move(placeholders), [&](Binder& binder) { return binder.condition(Kind::Filter, text); });
}

Result<KeyCondition> bind_key_condition(std::string_view text, Placeholders placeholders) {
  return bind_alone(std::move(placeholders), [&](Binder& binder) { return binder.key_condition(text); });
}

Result<Projection> bind_projection(std::string_view text, Placeholders placeholders) {
  return bind_alone(std::move(placeholders), [&](Binder& binder) { return binder.projection(text); });
}

Result<Update> bind_update(std::string_view text, Placeholders placeholders) {
  return bind_alone(std::move(placeholders), [&](Binder& binder) { return binder.update(text); });
}

}  // namespace stator::expr

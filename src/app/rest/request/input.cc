#include "stator/app/rest/request/input.h"

#include <utility>

#include "stator/runtime/rules/rules.h"
#include "stator/value/json.h"

namespace stator::app {
namespace {

using model::Kind;
using value::AttributeValue;

std::optional<AttributeValue> read_number(std::string_view text) {
  auto number = value::Number::parse(text);
  if (!number) return std::nullopt;
  return AttributeValue(std::move(*number));
}

std::optional<AttributeValue> read_binary(std::string_view text) {
  std::string bytes;
  if (!value::decode_base64(text, bytes)) return std::nullopt;
  return AttributeValue::binary(bytes);
}

std::optional<AttributeValue> read_boolean(std::string_view text) {
  if (text != "true" && text != "false") return std::nullopt;
  return AttributeValue::boolean(text == "true");
}

const model::Entity* what_is_read(const EntityTarget& target) {
  return target.operation == EntityOperation::Get ? target.entity : nullptr;
}
template <typename PatternOrAction>
const model::Entity* what_is_read(const PatternOrAction* target) {
  return target->within;
}

}  // namespace

std::optional<AttributeValue> read_url_value(const model::Type& type, std::string_view name, std::string_view text,
                                             std::vector<model::ValueProblem>& problems) {
  const auto refuse = [&](std::string_view problem) {
    problems.push_back({.attribute = std::string(name), .problem = std::string(problem)});
    return std::nullopt;
  };
  std::optional<AttributeValue> value;
  switch (type.kind) {
    case Kind::Number:
    case Kind::Integer:
      if (!(value = read_number(text))) return refuse("must be a number");
      break;
    case Kind::Boolean:
      if (!(value = read_boolean(text))) return refuse("must be true or false");
      break;
    case Kind::Binary:
      if (!(value = read_binary(text))) return refuse("must be base64");
      break;
    case Kind::List:
    case Kind::Set:
    case Kind::Map: return refuse("cannot be given in a URL");
    default: value = AttributeValue::string(text);
  }
  const auto before = problems.size();
  model::check_value(type, name, *value, problems);
  return problems.size() == before ? std::move(value) : std::nullopt;
}

bool takes_raw_body(const model::Action& action) { return !action.accepts.empty() && action.accepts.front() != "none"; }

bool takes_files(const Route& route) {
  const auto* const* action = std::get_if<const model::Action*>(&route.target);
  return action != nullptr && takes_raw_body(**action);
}

bool takes_include_deleted(const Route& route) {
  if (route.method != "GET") return false;
  const auto* read = std::visit([&](const auto& target) { return what_is_read(target); }, route.target);
  return read != nullptr && runtime::can_be_hidden(*read);
}

bool inputs_from_query(const model::Action& action) {
  return action.method == "GET" || action.method == "DELETE" || !action.accepts.empty();
}

}  // namespace stator::app

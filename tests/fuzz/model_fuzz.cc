// Feeds arbitrary text to what the authors of models and their users write: templates, expressions and plain JSON.
// Never a crash; escaped text holds no separator, a condition means to DynamoDB what it means here, and JSON that is
// written reads back as the same.  The first byte chooses, the rest is the text.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "stator/expr/binder.h"
#include "stator/expr/unbinder.h"
#include "stator/model/expression/expression_condition.h"
#include "stator/model/expression/template.h"
#include "stator/model/validate.h"
#include "stator/value/json.h"

namespace {

using namespace stator;
using value::AttributeValue;
using value::Item;

void require(bool condition) {
  if (!condition) std::abort();
}

const Item& sample() {
  static const Item item = [] {
    value::JsonParser parser;
    return *value::decode_item(*parser.parse(
        R"({"a":{"N":"7"},"b":{"S":"É #%"},"c":{"L":[{"N":"1"},{"M":{"a":{"SS":["p","q"]}}}]},"d":{"M":{"a":{"BOOL":true}}},
            "e":{"S":"2026-01-15T10:00:00.000Z"}})"));
  }();
  return item;
}

void check_template(std::string_view text) {
  const auto parsed = model::Template::parse(text);
  if (!parsed) return;
  require(parsed->text() == text && !parsed->parts().empty());
  const auto whole = parsed->render(model::lookup_in(sample()), 3);
  const auto front = parsed->render_prefix(model::lookup_in(sample()), 3);
  if (whole && front) require(front->complete == whole->has_value() && (!*whole || front->text == **whole));
  for (const char c : model::escape(text)) require(static_cast<unsigned char>(c) >= '%');
  if (const auto folded = model::fold(text)) require(*model::fold(*folded) == *folded);
}

// The result of DynamoDB's own evaluator; it refuses no text that we wrote, unless it is too long.
bool matches(const expr::Condition& condition) {
  expr::Unbinder unbinder;
  const auto text = unbinder.text(condition);
  const auto& names = unbinder.names();
  const auto& values = unbinder.values();
  expr::Binder binder(names.empty() ? std::nullopt : std::optional(names),
                      values.empty() ? std::nullopt : std::optional(values));
  const auto bound = binder.condition(expr::Kind::Filter, text);
  constexpr std::size_t kLong = 2000;  // DynamoDB limits the length of a text, and the number of its operators
  if (!bound.ok() && text.size() > kLong) return condition.matches(sample());
  require(bound.ok() && binder.check_all_used().ok() && bound->matches(sample()) == condition.matches(sample()));
  return condition.matches(sample());
}

void check_expression(std::string_view text) {
  const auto expression = model::Expression::parse(text);
  if (!expression) return;
  auto scope = model::scope_of(sample());
  scope.input = [](std::string_view name) { return sample().find(name); };
  const auto holds = expression->holds(scope);
  const auto bound = model::bind_condition(*expression, scope);
  if (bound) require(expression->is_dynamodb());
  if (!holds || !bound) return;
  const auto* decided = std::get_if<bool>(&*bound);
  require(*holds == (decided != nullptr ? *decided : matches(std::get<expr::Condition>(*bound))));
}

void check_json(std::string_view text) {
  std::vector<model::Attribute> attributes(3);
  attributes[0].name = "a";
  attributes[0].type.kind = model::Kind::Any;
  attributes[1].name = "s";
  attributes[1].type.kind = model::Kind::Set;
  attributes[2].name = "t";
  attributes[2].type.kind = model::Kind::Timestamp;
  std::vector<model::ValueProblem> problems;
  auto object = model::read_plain_json(text, attributes, problems);
  if (!object || !problems.empty()) return;
  for (const auto& attribute : attributes) {
    AttributeValue* value = object->values.find(attribute.name);
    if (value != nullptr) model::check_value(attribute.type, attribute.name, *value, problems);
  }
  if (!problems.empty()) return;
  std::string written;
  model::append_plain_json(written, AttributeValue(object->values));
  const auto again = model::read_plain_json(written, attributes, problems);
  require(again.ok() && problems.empty() && again->values == object->values);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  switch (data[0] % 3) {
    case 0: check_template(text); break;
    case 1: check_expression(text); break;
    default: check_json(text);
  }
  return 0;
}

// Feeds arbitrary text to the expression parser, and what it accepts to binding and evaluation: never a crash, and a
// tree that is printed parses as the same tree.  The first byte chooses the kind of expression, the rest is its text.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "stator/expr/binder.h"
#include "stator/expr/parser.h"
#include "stator/value/json.h"

namespace {

using namespace stator;
using namespace stator::expr;

value::Item document() {
  value::JsonParser parser;
  return *value::decode_item(*parser.parse(
      R"({"a":{"N":"1"},"b":{"S":"x"},"c":{"L":[{"N":"1"},{"M":{"a":{"SS":["p","q"]}}}]},"d":{"M":{"a":{"L":[]}}},"e":{"NS":["1"]}})"));
}

// Every placeholder the text could mean is defined, so that most texts get past the names.
void define_placeholders(const Tree& tree, Names& names, Values& values) {
  static const value::Item samples = document();
  std::size_t next = 0;
  for (const Name& name : tree.names) {
    if (name.is_placeholder) names.emplace(name.text, std::string(1, static_cast<char>('a' + next++ % 5)));
  }
  for (const std::string& value : tree.values)
    values.emplace(value, (samples.begin() + static_cast<long>(next++ % 5))->value);
}

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto kind = static_cast<Kind>(data[0] % 5);
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);

  const auto tree = parse(kind, text);
  if (!tree) return 0;
  const std::string printed = print(**tree);
  if (printed.size() <= 4096) {
    const auto again = parse(kind, printed);
    require(again.ok() && print(**again) == printed);
  }

  static const value::Item item = document();
  Cache cache(16);
  Names names;
  Values values;
  define_placeholders(**tree, names, values);
  Binder binder(names, values, cache);
  switch (kind) {
    case Kind::Update:
      if (const auto update = binder.update(text)) {
        for (const auto& result : {update->apply(item), update->create({})}) {
          if (result) (void)project(*result, update->paths());
        }
      }
      break;
    case Kind::Projection:
      if (const auto projection = binder.projection(text)) (void)projection->apply(item);
      break;
    default:
      if (const auto condition = binder.condition(kind, text)) {
        (void)condition->matches(item);
        ignore_error(to_key_condition(*condition), "only whether it crashes");
      }
  }
  return 0;
}

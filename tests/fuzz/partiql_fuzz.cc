#include <cstdint>
#include <string_view>

#include "stator/expr/partiql/binding.h"
#include "stator/expr/partiql/parser.h"

// A statement from anywhere: it parses or is refused, and what parses can be printed and bound.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stator::expr::partiql;
  const auto statement = parse({reinterpret_cast<const char*>(data), size});
  if (!statement) return 0;
  (void)print(*statement);
  std::vector<stator::value::AttributeValue> parameters(statement->parameters,
                                                        stator::value::AttributeValue::string("x"));
  const auto binding = Binding::make(*statement, std::move(parameters));
  if (const auto* select = std::get_if<Select>(&statement->body); select != nullptr && select->where) {
    if (const auto where = binding->where(*select->where)) (void)where->matches({});
  } else if (const auto* insert = std::get_if<Insert>(&statement->body)) {
    stator::ignore_error(binding->item(*insert), "only that it returns matters");
  } else if (const auto* update = std::get_if<Update>(&statement->body)) {
    if (const auto bound = binding->update(*update))
      stator::ignore_error(bound->apply({}), "only that it returns matters");
  }
  return 0;
}

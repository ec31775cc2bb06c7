#include "stator/expr/unbinder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stator/expr/bindings.h"

namespace stator::expr {

std::string Unbinder::name(const std::string& attribute) {
  const auto [known, is_new] = known_.try_emplace(attribute, fmt::format("#{}", known_.size()));
  if (is_new) placeholders_.names.emplace(known->second, attribute);
  return known->second;
}

std::string Unbinder::value(const value::AttributeValue& value) {
  auto placeholder = fmt::format(":{}", placeholders_.values.size());
  placeholders_.values.emplace(placeholder, value);
  return placeholder;
}

std::string Unbinder::text(const Bindings& bindings) {
  Tree tree = *bindings.tree;
  for (std::size_t i = 0; i < tree.names.size(); ++i) tree.names[i].text = name(*bindings.names[i]);
  for (std::size_t i = 0; i < tree.values.size(); ++i) tree.values[i] = value(*bindings.values[i]);
  return print(tree);
}

std::string Unbinder::text(const Condition& condition) { return text(*condition.bindings_); }
std::string Unbinder::text(const Update& update) { return text(*update.bindings_); }

std::string Unbinder::text(const KeyCondition& condition) {
  const auto term_text = [&](const KeyTerm& term) {
    const auto attribute = name(term.attribute);
    const auto compare = [&](std::string_view op) { return fmt::format("{} {} {}", attribute, op, value(term.low)); };
    switch (term.op) {
      case KeyTerm::Op::Equal: return compare("=");
      case KeyTerm::Op::Less: return compare("<");
      case KeyTerm::Op::LessEqual: return compare("<=");
      case KeyTerm::Op::Greater: return compare(">");
      case KeyTerm::Op::GreaterEqual: return compare(">=");
      case KeyTerm::Op::BeginsWith: return fmt::format("begins_with({}, {})", attribute, value(term.low));
      case KeyTerm::Op::Between: break;
    }
    const auto low = value(term.low);
    return fmt::format("{} BETWEEN {} AND {}", attribute, low, value(term.high));
  };
  std::vector<std::string> terms;
  for (const auto& term : condition.terms) terms.push_back(term_text(term));
  return fmt::format("{}", fmt::join(terms, " AND "));
}

std::string Unbinder::text(const Path& path) {
  auto text = name(path.attribute);
  for (const auto& element : path.elements) {
    if (const auto* inner = std::get_if<std::string>(&element)) {
      text += '.' + name(*inner);
    } else {
      text += fmt::format("[{}]", std::get<std::uint32_t>(element));
    }
  }
  return text;
}

std::string Unbinder::text(const Projection& projection) {
  std::vector<std::string> paths;
  for (const auto& path : projection.paths()) paths.push_back(text(path));
  return fmt::format("{}", fmt::join(paths, ", "));
}

}  // namespace stator::expr

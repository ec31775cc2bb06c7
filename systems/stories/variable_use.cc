#include "stator/systems/stories/variable_use.h"

#include <algorithm>

#include "stator/model/expression/expression.h"
#include "stator/systems/stories/response_rules.h"

namespace stator::systems::stories {
namespace {

using model::Expression;
using value::AttributeValue;

constexpr std::size_t kMostNames = 10'000;
constexpr std::size_t kMostComputedBytes = std::size_t{256} << 10;

std::vector<std::string> names_in(std::string_view text) {
  const auto expression = Expression::parse(text);
  return expression ? expression->paths() : std::vector<std::string>();
}

}  // namespace

std::vector<VariableRead> reads_of(const value::List& responses) {
  std::vector<VariableRead> reads;
  for (std::size_t i = 0; i < responses.size(); ++i) {
    const auto* response = responses[i].as_map();
    if (response == nullptr) continue;
    for (auto& name : names_in(response->text("condition"))) reads.push_back({i, std::move(name), "condition"});
    for (const auto& [name, content] : map_of(*response, "set")) {
      const auto* text = computed(content);
      if (text == nullptr) continue;
      for (auto& read : names_in(text->substr(1))) reads.push_back({i, std::move(read), "set." + name});
    }
  }
  return reads;
}

VariableUse::VariableUse(const value::Item& at_start) {
  for (const auto& [name, content] : at_start) set_.insert(name);
}

void VariableUse::add(const value::List& responses) {
  for (auto& read : reads_of(responses)) {
    if (read_.size() < kMostNames) read_.insert(std::move(read.variable));
  }
  for (const auto& response : responses) {
    if (response.as_map() == nullptr) continue;
    for (const auto& [name, content] : map_of(*response.as_map(), "set")) assign(name, content);
  }
}

void VariableUse::assign(const std::string& name, const AttributeValue& content) {
  if (set_.contains(name) || set_.size() > kMostNames) return;
  const auto* text = computed(content);
  const bool is_full = computed_.size() >= kMostNames || computed_bytes_ > kMostComputedBytes;
  if (text == nullptr || is_full || gives_value(text->substr(1), {})) {
    set_.insert(name);
  } else if (computed_.emplace(name, text->substr(1)).second) {
    computed_bytes_ += text->size();
  }
}

// Whether an expression has a result when these variables have a value.  What that is, is not known: what cannot be
// computed with a number may be possible with a text.
bool VariableUse::gives_value(const std::string& text, const Names& known) {
  const auto expression = Expression::parse(text);
  if (!expression) return true;
  const auto one = AttributeValue::number(1);
  const auto result =
      expression->evaluate({.attribute = [&](std::string_view name) { return known.contains(name) ? &one : nullptr; },
                            .input = [](std::string_view) { return nullptr; },
                            .generate = {}});
  return !result || result->has_value();
}

// Each variable that turns out to be set is looked up in the expressions that read it, and in no others.
std::set<std::string> VariableUse::unset() const {
  using Computed = std::pair<std::string, std::string>;
  std::map<std::string, std::vector<const Computed*>> readers;
  for (const auto& one : computed_) {
    for (const auto& name : names_in(one.second)) readers[name].push_back(&one);
  }
  auto known = set_;
  std::vector<std::string> open(known.begin(), known.end());
  while (!open.empty()) {
    const auto name = std::move(open.back());
    open.pop_back();
    for (const auto* reader : readers[name]) {
      if (known.contains(reader->first) || !gives_value(reader->second, known)) continue;
      known.insert(reader->first);
      open.push_back(reader->first);
    }
  }
  std::set<std::string> unset;
  std::ranges::set_difference(read_, known, std::inserter(unset, unset.end()));
  return unset;
}

}  // namespace stator::systems::stories

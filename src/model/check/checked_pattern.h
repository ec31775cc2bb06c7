#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stator/model/check/findings.h"
#include "stator/model/check/proof/keys.h"
#include "stator/model/check/rules.h"

// Types and functions that the rules about patterns share.
namespace stator::model {

inline const Reading kOrdinary{.text = Reading::Text::Ordinary, .forged = std::nullopt};
inline const Reading kAsItIs{.text = Reading::Text::AsItIs, .forged = std::nullopt};

// A pattern with the rows that it can read and the rows that it returns.
struct CheckedPattern {
  const Model& model;
  const Pattern& pattern;
  DesignKey space;
  std::vector<KeyedRow> returned;
  Steps& steps;  // of the proofs about it

  Report::About about(std::string_view code) const {
    return {.code = code, .subject = pattern.name, .position = pattern.position};
  }
  bool returns(const KeyedRow& row) const {
    return std::any_of(returned.begin(), returned.end(),
                       [&](const KeyedRow& each) { return each.record == row.record; });
  }
  const PatternCondition* condition(const std::string& attribute) const {
    for (const auto* conditions : {&pattern.partition, &pattern.sort}) {
      for (const auto& each : *conditions) {
        if (each.attribute == attribute) return &each;
      }
    }
    return nullptr;
  }
  bool fixes(const KeyDesign& key) const {
    const auto* found = condition(key.name);
    return found != nullptr && found->comparison == Comparison::Equal;
  }
};

std::vector<KeyedRow> returned_rows(const Pattern& pattern);

// The keys that the conditions match, for each attribute of the key.
std::vector<Language> conditions(const CheckedPattern& query, const Reading& reading);
// A key of `row` that the conditions match.
std::optional<std::vector<std::string>> match(const CheckedPattern& query, const KeyedRow& row,
                                              const std::vector<Language>& wanted, const Reading& reading);

// Whether all rows of that record with equal values of `keys` are one row, because the values determine its identity or
// a unique value.  Looks only at values that the conditions match.
bool names_one(const CheckedPattern& query, const KeyedRow& row, const std::vector<KeyDesign>& keys);

bool is_range(Comparison comparison);

// Lists of names.
bool contains(const std::vector<std::string>& names, const std::string& name);
bool includes(const std::vector<std::string>& all, const std::vector<std::string>& some);
void add_name(std::vector<std::string>& names, const std::string& name);
std::string listed(const std::vector<std::string>& names);

// The rules about one pattern, each group in its file.
void check_conditions(const CheckedPattern& query, Findings& findings);  // the keys that its conditions match
void check_answer(const CheckedPattern& query,
                  Findings& findings);                                // the answer: complete, unique, allowed
void check_order(const CheckedPattern& query, Findings& findings);    // whether the promised order is that of the key
void check_nesting(const CheckedPattern& query, Findings& findings);  // whether children stand behind their parents

}  // namespace stator::model

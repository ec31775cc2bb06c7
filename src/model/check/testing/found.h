#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "stator/model/check/check.h"
#include "stator/model/testing/load_or_fail.h"

// For tests of the checker's findings.
namespace stator::model {

using Lines = std::vector<std::string>;

inline constexpr std::string_view kTable = R"yaml(
table:
  name: Things
  key: [PK, SK]
  indexes:
    GSI1: { key: [GSI1PK, GSI1SK] }
)yaml";
inline constexpr std::string_view kPlainTable = R"yaml(
table: { name: Things, key: [PK, SK] }
)yaml";

// The findings with `code` about a model with this table and the rest: "error A: message (witness)".
inline Lines found(std::string_view code, std::string_view table, std::string_view rest,
                   const CheckLimits& limits = {}) {
  Lines lines;
  for (const auto& d : check(load_or_fail(fmt::format("model: test\n{}{}", table, rest)), limits)) {
    if (d.code != code) continue;
    lines.push_back(fmt::format("{}{} {}: {}{}", d.accepted.empty() ? "" : "accepted ",
                                d.severity == Severity::Error ? "error" : "warning", d.subject, d.message,
                                d.witness.empty() ? "" : fmt::format(" ({})", d.witness)));
  }
  return lines;
}

}  // namespace stator::model

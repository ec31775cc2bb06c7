#include "stator/model/check/findings.h"

#include <fmt/format.h>

#include <utility>

namespace stator::model {

void Findings::error(Report::About about, std::string message, std::string fix, std::string witness) {
  if (steps_.are_left()) report_.error(std::move(about), std::move(message), std::move(fix), std::move(witness));
}

void Findings::warning(Report::About about, std::string message, std::string fix, std::string witness) {
  if (steps_.are_left()) report_.warning(std::move(about), std::move(message), std::move(fix), std::move(witness));
}

void Findings::conclude(Position position, std::string_view unproved) {
  if (steps_.are_left()) return;
  report_.error(position, "too-large-to-prove",
                fmt::format("the check has ended early, because it takes too many steps: {} is not proved", unproved),
                "give keys fewer alternatives, and patterns with fewer alternatives and repetitions, or put fewer "
                "entities into one table");
}

}  // namespace stator::model

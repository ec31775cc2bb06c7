#include "stator/model/problem_list.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace stator::model {
namespace {

constexpr std::size_t kMostNameBytes = 256;

}  // namespace

std::size_t more_of(const ValueProblem& entry) {
  std::size_t more = 0;
  if (!entry.attribute.empty()) return 0;
  const auto* end = entry.problem.data() + entry.problem.size();
  const auto read = std::from_chars(entry.problem.data(), end, more);
  return read.ec == std::errc() && read.ptr == end ? more : 0;
}

void add_problem(std::vector<ValueProblem>& problems, std::string attribute, std::string problem) {
  const auto counts = [](const ValueProblem& one) { return more_of(one) > 0; };
  const bool room = problems.size() < kMostProblems ||
                    (problems.size() == kMostProblems && std::any_of(problems.begin(), problems.end(), counts));
  if (room) {
    problems.push_back({std::move(attribute), std::move(problem)});
  } else {
    count_more_problems(problems, 1);
  }
}

void count_more_problems(std::vector<ValueProblem>& problems, std::size_t more) {
  if (more == 0) return;
  const auto counted =
      std::find_if(problems.begin(), problems.end(), [](const ValueProblem& one) { return more_of(one) > 0; });
  if (counted != problems.end()) {
    counted->problem = std::to_string(more_of(*counted) + more);
  } else {
    problems.push_back({std::string(), std::to_string(more)});
  }
}

std::size_t problem_count(const std::vector<ValueProblem>& problems) {
  std::size_t count = 0;
  for (const auto& one : problems) count += std::max<std::size_t>(more_of(one), 1);
  return count;
}

ShortList short_list(const std::vector<ValueProblem>& problems) {
  ShortList list;
  for (const auto& one : problems) {
    if (more_of(one) == 0 && list.first.size() < kMostProblems) list.first.push_back(&one);
  }
  list.more = problem_count(problems) - list.first.size();
  return list;
}

std::string shown_name(std::string_view name) {
  if (name.size() <= kMostNameBytes) return std::string(name);
  auto end = kMostNameBytes;
  while ((static_cast<unsigned char>(name[end]) & 0xC0U) == 0x80U) --end;
  return std::string(name.substr(0, end)) + "...";
}

}  // namespace stator::model

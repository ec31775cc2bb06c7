#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "stator/model/validate.h"

// Lists of problems that stay short, however much is wrong: who sends a million mistakes is told of a hundred, and how
// many more.
//
// Those beyond are counted in one entry of the list without an attribute, whose text is their number.
namespace stator::model {

inline constexpr std::size_t kMostProblems = 100;

// Adds a problem, or only counts it when there are kMostProblems already.
void add_problem(std::vector<ValueProblem>& problems, std::string attribute, std::string problem);
// Counts problems that are not in the list.
void count_more_problems(std::vector<ValueProblem>& problems, std::size_t more);
// How many problems an entry only counts; 0 for one that is a problem itself.
std::size_t more_of(const ValueProblem& entry);

// How many there are, with those that were only counted.
std::size_t problem_count(const std::vector<ValueProblem>& problems);

// What to tell of a list: the first of it, and how many more there are.
struct ShortList {
  std::vector<const ValueProblem*> first;  // kMostProblems at most
  std::size_t more = 0;
};
ShortList short_list(const std::vector<ValueProblem>& problems);

// A name that somebody sent, short enough to be told back.
std::string shown_name(std::string_view name);

}  // namespace stator::model

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "stator/model/validate.h"

// Lists of problems with a bound: an answer to a request with a million mistakes has a hundred problems and the number
// of the others.
//
// The others are counted in one entry of the list.  It has no attribute, and its text is the number.
namespace stator::model {

inline constexpr std::size_t kMostProblems = 100;

// Adds a problem, or only counts it when there are kMostProblems already.
void add_problem(std::vector<ValueProblem>& problems, std::string attribute, std::string problem);
// Counts problems that are not in the list.
void count_more_problems(std::vector<ValueProblem>& problems, std::size_t more);
// How many problems an entry only counts; 0 for one that is a problem itself.
std::size_t more_of(const ValueProblem& entry);

// The number of all problems, including those that were only counted.
std::size_t problem_count(const std::vector<ValueProblem>& problems);

// The part of a list that an answer has: the first problems, and the number of the others.
struct ShortList {
  std::vector<const ValueProblem*> first;  // kMostProblems at most
  std::size_t more = 0;
};
ShortList short_list(const std::vector<ValueProblem>& problems);

// A name from a request, shortened for an answer.
std::string shown_name(std::string_view name);

}  // namespace stator::model

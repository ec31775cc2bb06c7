#pragma once

#include <string_view>

#include "stator/api/reply.h"
#include "stator/runtime/problem.h"

// The database's faults as problems.
namespace stator::runtime {

Problem unreadable_answer(std::string_view operation);

// The problem that an exception, or the reason why a transaction was cancelled, stands for.
//
// Throttling is Busy, a request that the database refuses is Invalid, an item that is too large TooLarge, a transaction
// that met another one Conflict.  The rest is Unavailable, with the fault's name as its code.
Problem to_problem(std::string_view name, std::string_view message);
Problem to_problem(const api::Fault& fault);

}  // namespace stator::runtime

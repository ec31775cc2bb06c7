#include "stator/runtime/dynamo/write_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "stator/expr/build.h"

namespace stator::runtime {
namespace {

expr::Clause clause_of(const Requirement& requirement, const std::string& partition) {
  using expr::Op;
  const auto& attribute = requirement.attribute;
  switch (requirement.kind) {
    case Requirement::Kind::Exists: return expr::exists(partition);
    case Requirement::Kind::Absent: return expr::absent(partition);
    case Requirement::Kind::Is:
      return requirement.value ? expr::compare(attribute, Op::Equal, *requirement.value) : expr::absent(attribute);
    case Requirement::Kind::IsNot:
      return expr::any_of({expr::absent(attribute), expr::compare(attribute, Op::NotEqual, *requirement.value)});
    case Requirement::Kind::AtMostZero: break;
  }
  return expr::any_of(
      {expr::absent(attribute), expr::compare(attribute, Op::LessEqual, value::AttributeValue::number(0))});
}

bool same(const Requirement& a, const Requirement& b) {
  return a.kind == b.kind && a.attribute == b.attribute && a.value == b.value;
}

}  // namespace

bool Requirement::holds(const std::optional<value::Item>& row) const {
  const auto* found = row ? row->find(attribute) : nullptr;
  switch (kind) {
    case Kind::Exists: return row.has_value();
    case Kind::Absent: return !row.has_value();
    case Kind::Is: return value ? found != nullptr && *found == *value : found == nullptr;
    case Kind::IsNot: return found == nullptr || *found != *value;
    case Kind::AtMostZero: {
      const auto* number = row ? row->number(attribute) : nullptr;
      return found == nullptr || (number != nullptr && *number <= value::Number());
    }
  }
  return false;
}

WritePlan::Touch& WritePlan::touch(const value::Item& key) {
  const auto known = std::find_if(touches_.begin(), touches_.end(), [&](const Touch& t) { return t.key == key; });
  if (known != touches_.end()) return *known;
  touches_.emplace_back();
  touches_.back().key = key;
  return touches_.back();
}

void WritePlan::require(const value::Item& key, Requirement requirement) {
  auto& row = touch(key);
  if (row.state == Touch::State::AsStored) {
    const bool known = std::any_of(row.requirements.begin(), row.requirements.end(),
                                   [&](const Requirement& other) { return same(other, requirement); });
    if (!known) row.requirements.push_back(std::move(requirement));
    return;
  }
  const auto now = row.state == Touch::State::Put ? std::optional(row.row) : std::nullopt;
  if (requirement.holds(now) || failed_) return;
  failed_ = requirement.otherwise.value_or(
      Problem{.kind = ProblemKind::Conflict,
              .code = "Contradiction",
              .message = "an action cannot depend on an attribute that it changes itself",
              .details = {}});
}

void WritePlan::put(const value::Item& key, value::Item row) {
  auto& touched = touch(key);
  touched.state = Touch::State::Put;
  touched.row = std::move(row);
  touched.changes.clear();
  touched.additions.clear();
}

void WritePlan::remove(const value::Item& key) {
  auto& touched = touch(key);
  touched.state = Touch::State::Removed;
  touched.changes.clear();
  touched.additions.clear();
}

void WritePlan::set(const value::Item& key, const std::string& attribute, value::AttributeValue value) {
  auto& touched = touch(key);
  if (touched.state == Touch::State::Put)
    touched.row.set(attribute, std::move(value));
  else if (touched.state == Touch::State::AsStored)
    touched.changes[attribute] = std::move(value);
}

void WritePlan::clear(const value::Item& key, const std::string& attribute) {
  auto& touched = touch(key);
  if (touched.state == Touch::State::Put)
    touched.row.erase(attribute);
  else if (touched.state == Touch::State::AsStored)
    touched.changes[attribute] = std::nullopt;
}

void WritePlan::add(const value::Item& key, const std::string& attribute, const value::Number& amount) {
  auto& touched = touch(key);
  const auto plus = [&](const value::Number& number) {
    auto sum = number.add(amount);
    if (sum) return *sum;
    failed_ = Problem{.kind = ProblemKind::Invalid, .code = "Invalid", .message = sum.error().message, .details = {}};
    return number;
  };
  if (touched.state == Touch::State::Put) {
    const auto* number = touched.row.number(attribute);
    touched.row.set(attribute, value::AttributeValue(plus(number == nullptr ? value::Number() : *number)));
  } else if (touched.state == Touch::State::AsStored) {
    auto& sum = touched.additions[attribute];
    sum = plus(sum);
    if (sum.is_zero()) touched.additions.erase(attribute);
  }
}

RowWrite WritePlan::to_write(Touch& touch) const {
  RowWrite write;
  write.table = table_.name;
  if (touch.state == Touch::State::Put) {
    write.kind = RowWrite::Kind::Put;
    write.item = std::move(touch.row);
  } else if (touch.state == Touch::State::Removed) {
    write.kind = RowWrite::Kind::Delete;
  } else if (touch.writes()) {
    write.kind = RowWrite::Kind::Update;
    write.update = update_of(touch);
  } else {
    write.kind = RowWrite::Kind::Check;
  }
  if (write.kind != RowWrite::Kind::Put) write.item = touch.key;
  std::vector<expr::Clause> clauses;
  for (const auto& requirement : touch.requirements) {
    clauses.push_back(clause_of(requirement, table_.partition.name));
  }
  if (!clauses.empty()) write.condition = expr::to_condition(expr::all_of(std::move(clauses)));
  return write;
}

expr::Update WritePlan::update_of(const Touch& touch) {
  expr::UpdateBuilder update;
  for (const auto& [attribute, content] : touch.changes) {
    if (content) update.set(attribute, *content);
  }
  for (const auto& [attribute, content] : touch.changes) {
    if (!content) update.remove(attribute);
  }
  for (const auto& [attribute, amount] : touch.additions) update.add(attribute, value::AttributeValue(amount));
  return update.finish();
}

Result<WritePlan::Commit, Problem> WritePlan::commit(Dynamo& dynamo) {
  if (failed_) return *failed_;
  if (std::none_of(touches_.begin(), touches_.end(), [](const Touch& touch) { return touch.writes(); })) {
    return Commit::Written;
  }
  std::vector<Touch*> touched;
  for (auto& touch : touches_) {
    if (touch.writes() || !touch.requirements.empty()) touched.push_back(&touch);
  }
  if (touched.size() > kMaxWrites) {
    return Problem{
        .kind = ProblemKind::TooLarge,
        .code = "TooManyRows",
        .message = fmt::format("this would change {} rows at once; {} is the most", touched.size(), kMaxWrites),
        .details = {}};
  }
  std::vector<RowWrite> writes;
  writes.reserve(touched.size());
  for (auto* touch : touched) writes.push_back(to_write(*touch));
  const auto answer =
      TRY(writes.size() == 1 ? dynamo.write(std::move(writes.front())) : dynamo.transact(std::move(writes)));
  if (answer.written()) return Commit::Written;
  return explain(answer, touched);
}

Result<WritePlan::Commit, Problem> WritePlan::explain(const RowWriteOutcome& answer,
                                                      const std::vector<Touch*>& written) const {
  std::optional<Problem> problem;
  for (std::size_t i = 0; i < written.size(); ++i) {
    const auto& refusal = answer.refusals[i];
    if (refusal.cause == Refusal::Cause::None) continue;
    if (refusal.cause == Refusal::Cause::Contention) return Commit::Stale;
    const auto& requirements = written[i]->requirements;
    const auto broken = std::find_if(requirements.begin(), requirements.end(),
                                     [&](const Requirement& requirement) { return !requirement.holds(refusal.item); });
    if (broken == requirements.end() || !broken->otherwise) return Commit::Stale;
    if (!problem) {
      problem = broken->otherwise;
    } else if (problem->code == broken->otherwise->code) {
      const auto& details = broken->otherwise->details;
      problem->details.insert(problem->details.end(), details.begin(), details.end());
    }
  }
  if (!problem) return Commit::Stale;
  return std::move(*problem);
}

}  // namespace stator::runtime

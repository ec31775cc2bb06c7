#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "stator/expr/update.h"
#include "stator/model/model.h"
#include "stator/runtime/dynamo/dynamo.h"
#include "stator/runtime/problem.h"
#include "stator/value/attribute_value.h"

namespace stator::runtime {

// A condition on a row that a write depends on.  DynamoDB evaluates it with the write; if DynamoDB refuses the write
// and returns the row, holds() evaluates it again, to find the condition that was false.
struct Requirement {
  enum class Kind : std::uint8_t {
    Exists,      // there is a row
    Absent,      // there is none
    Is,          // the attribute has that value, or none when there is no value
    IsNot,       // the attribute does not have that value
    AtMostZero,  // the attribute is absent, or not above zero
  };
  Kind kind = Kind::Exists;
  std::string attribute = {};
  std::optional<value::AttributeValue> value = {};
  // The problem to return when the condition is false.  None: a row has changed since it was read; read and plan again.
  std::optional<Problem> otherwise = {};

  bool holds(const std::optional<value::Item>& row) const;
};

// Everything that one user action writes: all or nothing, each row once.
//
// Several changes of one row become one write: requirements are combined, attributes are set, and numbers are added up.
// A requirement on a row that the plan itself has put or removed is evaluated at once.  Confined to one request.
class WritePlan {
 public:
  static constexpr std::size_t kMaxWrites = model::kMostTransactionRows;

  explicit WritePlan(const model::TableDesign& table) : table_(table) {}  // outlives the plan

  std::size_t size() const { return touches_.size(); }  // rows that are written or looked at

  void require(const value::Item& key, Requirement requirement);
  void put(const value::Item& key, value::Item row);
  void remove(const value::Item& key);
  // For a row that exists: also add the requirement Exists.
  void set(const value::Item& key, const std::string& attribute, value::AttributeValue value);
  void clear(const value::Item& key, const std::string& attribute);
  void add(const value::Item& key, const std::string& attribute, const value::Number& amount);

  enum class Commit : std::uint8_t {
    Written,
    // Nothing was written: a requirement without a problem was false, or others wrote the same rows.
    Stale,
  };
  // Writes the plan: nothing when it changes nothing, one conditional write when it has one row, otherwise a
  // transaction.  If requirements are false, their problem is returned; problems with the same code are joined with all
  // details.  Can be called once, because the rows are moved out.
  Result<Commit, Problem> commit(Dynamo& dynamo);

 private:
  struct Touch {
    enum class State : std::uint8_t { AsStored, Put, Removed };
    value::Item key;
    State state = State::AsStored;
    value::Item row;  // when Put
    std::map<std::string, std::optional<value::AttributeValue>> changes;
    std::map<std::string, value::Number> additions;
    std::vector<Requirement> requirements;

    bool writes() const { return state != State::AsStored || !changes.empty() || !additions.empty(); }
  };

  Touch& touch(const value::Item& key);
  RowWrite to_write(Touch& touch) const;
  static expr::Update update_of(const Touch& touch);
  Result<Commit, Problem> explain(const RowWriteOutcome& answer, const std::vector<Touch*>& written) const;

  const model::TableDesign& table_;
  std::vector<Touch> touches_;  // in the order of their first touch
  std::optional<Problem> failed_;
};

}  // namespace stator::runtime

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

// What has to be true of a row for a write to go through: something that DynamoDB can be asked, and that can be judged
// here when it says no and shows the row.
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
  // What to tell when it is not so.  None: what this was planned from has changed; read again and plan again.
  std::optional<Problem> otherwise = {};

  bool holds(const std::optional<value::Item>& row) const;
};

// Everything that one user action writes: all or nothing, each row once.
//
// Several touches of one row become one write: requirements come together, attributes are set, and numbers added up.
// What is asked of a row that the plan itself has put or removed is judged on the spot.  Confined to one request.
class WritePlan {
 public:
  static constexpr std::size_t kMaxWrites = 100;  // DynamoDB's bound for a transaction

  explicit WritePlan(const model::TableDesign& table) : table_(table) {}  // outlives the plan

  std::size_t size() const { return touches_.size(); }  // rows that are written or looked at

  void require(const value::Item& key, Requirement requirement);
  void put(const value::Item& key, value::Item row);
  void remove(const value::Item& key);
  // Of a row that is there: add the requirement that says so.
  void set(const value::Item& key, const std::string& attribute, value::AttributeValue value);
  void clear(const value::Item& key, const std::string& attribute);
  void add(const value::Item& key, const std::string& attribute, const value::Number& amount);

  enum class Commit : std::uint8_t {
    Written,
    // Nothing was written: a requirement without a problem was false, or others wrote the same rows.
    Stale,
  };
  // Carries it out: not at all when it changes nothing, as one conditional write where that is all, else as a
  // transaction. The problem is that of the requirements that do not hold; those of one code tell their details
  // together.  Once: the rows are handed over.
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

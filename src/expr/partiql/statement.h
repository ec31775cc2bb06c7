#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "stator/expr/partiql/lexer.h"
#include "stator/expr/path.h"
#include "stator/value/attribute_value.h"

// A PartiQL statement as written: no table is known yet, and no parameter has a value.
namespace stator::expr::partiql {

using NodeIndex = std::uint32_t;

enum class NodeKind : std::uint8_t {
  Literal,    // a string, a number, true, false or null
  Parameter,  // ?
  Path,
  List,  // [1, 2], and the (1, 2) of an IN
  Set,   // <<1, 2>>
  Map,   // {'a': 1}
  Call,  // size(a)
  And,   // two operands or more, as Or
  Or,
  Not,
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  Between,
  In,           // the second operand is the one behind IN
  Is,           // a IS MISSING
  Plus,         // with one operand: a sign in front of another thing than a number
  Minus,        // likewise
  Unsupported,  // an operator that SQL has and DynamoDB has not
};

// "AND", "=", "begins_with"...: as messages name operators.
std::string_view operator_name(NodeKind kind);

struct Node {
  NodeKind kind = NodeKind::Literal;
  Span span = {};  // of the token that names it
  std::vector<NodeIndex> operands = {};
  value::AttributeValue literal = {};
  // Literal: as written.  Call: the function in small letters.  Is: the type.  Unsupported: the operator.
  std::string text = {};
  std::uint32_t parameter = 0;         // Parameter: which one
  Path path = {};                      // Path
  std::vector<std::string> keys = {};  // Map: one for each operand
  std::uint32_t depth = 1;             // of the tree that it is the root of
};

// The target of a statement: "table" or "table"."index".
struct Source {
  std::string table;
  std::string index;  // none when empty
};

struct Column {
  std::string name;  // of the attribute in the result: the last name of the path, and the positions behind it
  Path path;
};

struct Order {
  std::string attribute;
  bool descending = false;
};

struct Select {
  std::vector<Column> columns;  // none: *
  Source from;
  std::optional<NodeIndex> where;
  std::vector<Order> order;
  bool exists = false;  // EXISTS(SELECT ...): a condition check of a transaction
};

struct Insert {
  Source into;
  NodeIndex item = 0;
};

// The values that an UPDATE or DELETE returns.
enum class Returning : std::uint8_t { Nothing, AllOld, ModifiedOld, AllNew, ModifiedNew };
std::string_view returning_name(Returning returning);  // "ALL OLD *"

struct Assignment {
  Path target;
  Span span;
  std::optional<NodeIndex> value;  // REMOVE has none
};

struct Update {
  Source table;
  std::vector<Assignment> assignments;
  std::optional<NodeIndex> where;
  Returning returning = Returning::Nothing;
};

struct Delete {
  Source from;
  std::optional<NodeIndex> where;
  Returning returning = Returning::Nothing;
};

// A value type.
struct Statement {
  std::string text;
  std::vector<Node> nodes;  // operands before their operators
  std::uint32_t parameters = 0;
  std::variant<Select, Insert, Update, Delete> body;

  const Node& node(NodeIndex index) const { return nodes[index]; }
  const Source& source() const;
  bool is_read() const { return std::holds_alternative<Select>(body) && !std::get<Select>(body).exists; }
  Returning returning() const;
};

// The statement as text again, with parentheses that show the structure.
std::string print(const Statement& statement);

}  // namespace stator::expr::partiql

#include "stator/expr/partiql/statement.h"

#include <fmt/format.h>

#include "stator/value/json.h"

namespace stator::expr::partiql {
namespace {

template <typename... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};

std::string show(const Path& path) {
  std::string text = path.attribute;
  for (const auto& element : path.elements) {
    if (const auto* name = std::get_if<std::string>(&element)) {
      text += "." + *name;
    } else {
      text += fmt::format("[{}]", std::get<std::uint32_t>(element));
    }
  }
  return text;
}

std::string show(const Source& source) {
  return source.index.empty() ? source.table : fmt::format("{}.{}", source.table, source.index);
}

// Recursion is as deep as the tree, which the parser bounds.
class Printer {
 public:
  explicit Printer(const Statement& statement) : statement_(statement) {}

  std::string operator()(const Select& select) const {
    std::string columns;
    for (const auto& column : select.columns) {
      if (!columns.empty()) columns += ", ";
      columns += show(column.path);
      if (column.path.is_nested()) columns += fmt::format(" as {}", column.name);
    }
    std::string order;
    for (const auto& [attribute, descending] : select.order) {
      order += fmt::format("{} {} {}", order.empty() ? " ORDER BY" : ",", attribute, descending ? "DESC" : "ASC");
    }
    const auto text = fmt::format("SELECT {} FROM {}{}{}", select.columns.empty() ? "*" : columns, show(select.from),
                                  where(select.where), order);
    return select.exists ? fmt::format("EXISTS({})", text) : text;
  }

  std::string operator()(const Insert& insert) const {
    return fmt::format("INSERT INTO {} VALUE {}", show(insert.into), expression(insert.item));
  }

  std::string operator()(const Update& update) const {
    std::string assignments;
    for (const auto& assignment : update.assignments) {
      if (assignment.value) {
        assignments += fmt::format(" SET {} = {}", show(assignment.target), expression(*assignment.value));
      } else {
        assignments += fmt::format(" REMOVE {}", show(assignment.target));
      }
    }
    return fmt::format("UPDATE {}{}{}{}", show(update.table), assignments, where(update.where),
                       returning(update.returning));
  }

  std::string operator()(const Delete& statement) const {
    return fmt::format("DELETE FROM {}{}{}", show(statement.from), where(statement.where),
                       returning(statement.returning));
  }

 private:
  std::string where(std::optional<NodeIndex> condition) const {
    return condition ? " WHERE " + expression(*condition) : std::string();
  }

  static std::string returning(Returning returning) {
    return returning == Returning::Nothing ? "" : fmt::format(" RETURNING {}", returning_name(returning));
  }

  std::string joined(const Node& node, std::string_view separator, std::size_t first = 0) const {
    std::string text;
    for (std::size_t i = first; i < node.operands.size(); ++i) {
      if (i > first) text += separator;
      text += expression(node.operands[i]);
    }
    return text;
  }

  std::string expression(NodeIndex index) const {
    const Node& node = statement_.node(index);
    switch (node.kind) {
      case NodeKind::Literal: {
        std::string text;
        value::append_json(text, node.literal);
        return text;
      }
      case NodeKind::Parameter: return fmt::format("?{}", node.parameter);
      case NodeKind::Path: return show(node.path);
      case NodeKind::List: return fmt::format("[{}]", joined(node, ", "));
      case NodeKind::Set: return fmt::format("<<{}>>", joined(node, ", "));
      case NodeKind::Map: {
        std::string text;
        for (std::size_t i = 0; i < node.operands.size(); ++i) {
          text += fmt::format("{}'{}': {}", i > 0 ? ", " : "", node.keys[i], expression(node.operands[i]));
        }
        return fmt::format("{{{}}}", text);
      }
      case NodeKind::Call: return fmt::format("{}({})", node.text, joined(node, ", "));
      case NodeKind::Not: return fmt::format("(NOT {})", joined(node, ""));
      case NodeKind::Is: return fmt::format("({} IS {})", joined(node, ""), node.text);
      case NodeKind::Between:
        return fmt::format("({} BETWEEN {})", expression(node.operands[0]), joined(node, " AND ", 1));
      case NodeKind::Plus:
      case NodeKind::Minus:
        if (node.operands.size() == 1) return fmt::format("({}{})", operator_name(node.kind), joined(node, ""));
        break;
      case NodeKind::Unsupported: return fmt::format("({})", joined(node, fmt::format(" {} ", node.text)));
      default: break;
    }
    return fmt::format("({})", joined(node, fmt::format(" {} ", operator_name(node.kind))));
  }

  const Statement& statement_;
};

}  // namespace

std::string_view operator_name(NodeKind kind) {
  switch (kind) {
    case NodeKind::And: return "AND";
    case NodeKind::Or: return "OR";
    case NodeKind::Not: return "NOT";
    case NodeKind::Equal: return "=";
    case NodeKind::NotEqual: return "<>";
    case NodeKind::Less: return "<";
    case NodeKind::LessEqual: return "<=";
    case NodeKind::Greater: return ">";
    case NodeKind::GreaterEqual: return ">=";
    case NodeKind::Between: return "BETWEEN";
    case NodeKind::In: return "IN";
    case NodeKind::Is: return "IS";
    case NodeKind::Plus: return "+";
    case NodeKind::Minus: return "-";
    default: return "";
  }
}

std::string_view returning_name(Returning returning) {
  switch (returning) {
    case Returning::Nothing: return "";
    case Returning::AllOld: return "ALL OLD *";
    case Returning::ModifiedOld: return "MODIFIED OLD *";
    case Returning::AllNew: return "ALL NEW *";
    case Returning::ModifiedNew: return "MODIFIED NEW *";
  }
  return "";
}

const Source& Statement::source() const {
  return std::visit(Overloaded{[](const Select& s) -> const Source& { return s.from; },
                               [](const Insert& s) -> const Source& { return s.into; },
                               [](const Update& s) -> const Source& { return s.table; },
                               [](const Delete& s) -> const Source& { return s.from; }},
                    body);
}

Returning Statement::returning() const {
  if (const auto* update = std::get_if<Update>(&body)) return update->returning;
  if (const auto* remove = std::get_if<Delete>(&body)) return remove->returning;
  return Returning::Nothing;
}

std::string print(const Statement& statement) { return std::visit(Printer(statement), statement.body); }

}  // namespace stator::expr::partiql

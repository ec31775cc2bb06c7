#include "stator/expr/partiql/expression_parser.h"

#include <array>
#include <charconv>
#include <limits>

#include "stator/expr/parser.h"

namespace stator::expr::partiql {

using value::AttributeValue;

bool same_word(std::string_view word, std::string_view upper) {
  return std::ranges::equal(word, upper,
                            [](char a, char b) { return (a >= 'a' && a <= 'z' ? a - 'a' + 'A' : a) == b; });
}

std::string lower(std::string_view word) {
  std::string text(word);
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

std::string upper(std::string_view word) {
  std::string text(word);
  for (char& c : text) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

bool is_reserved(std::string_view word) {
  static constexpr std::array kWords = {"SELECT", "INSERT",  "UPDATE", "DELETE",    "FROM",  "INTO",   "WHERE",
                                        "SET",    "REMOVE",  "AND",    "OR",        "NOT",   "IN",     "IS",
                                        "LIKE",   "BETWEEN", "AS",     "ORDER",     "GROUP", "HAVING", "BY",
                                        "ASC",    "DESC",    "UNION",  "RETURNING", "CASE"};
  return std::ranges::any_of(kWords, [&](std::string_view reserved) { return same_word(word, reserved); });
}

Result<NodeIndex> ExpressionParser::parse_expression() {
  const Deeper deeper(*this);
  if (depth_ > kMaxDepth) return too_deep();
  return parse_chain(NodeKind::Or, "OR", [this] { return parse_and(); });
}

Result<NodeIndex> ExpressionParser::parse_and() {
  return parse_chain(NodeKind::And, "AND", [this] { return parse_not(); });
}

Result<NodeIndex> ExpressionParser::parse_not() {
  if (!is_word("NOT")) return parse_comparison();
  const Deeper deeper(*this);
  if (depth_ > kMaxDepth) return too_deep();
  const auto span = peek().span;
  ++at_;
  const NodeIndex operand = TRY(parse_not());
  return add({.kind = NodeKind::Not, .span = span, .operands = {operand}});
}

Result<NodeIndex> ExpressionParser::parse_comparison() {
  NodeIndex left = TRY(parse_sum());
  for (;;) {
    const auto span = peek().span;
    if (const auto kind = comparison(peek().kind)) {
      ++at_;
      const NodeIndex right = TRY(parse_sum());
      left = TRY(add({.kind = *kind, .span = span, .operands = {left, right}}));
      continue;
    }
    const bool negated = is_word("NOT") && (is_word("IN", 1) || is_word("BETWEEN", 1) || is_word("LIKE", 1));
    if (negated) ++at_;
    if (take_word("IN")) {
      const NodeIndex right = TRY(parse_sum());
      left = TRY(add({.kind = NodeKind::In, .span = span, .operands = {left, right}}));
    } else if (take_word("BETWEEN")) {
      const NodeIndex low = TRY(parse_sum());
      if (!take_word("AND")) return malformed("Expected AND after BETWEEN");
      const NodeIndex high = TRY(parse_sum());
      left = TRY(add({.kind = NodeKind::Between, .span = span, .operands = {left, low, high}}));
    } else if (is_word("LIKE")) {
      ++at_;
      const NodeIndex right = TRY(parse_sum());
      left = TRY(add({.kind = NodeKind::Unsupported, .span = span, .operands = {left, right}, .text = "LIKE"}));
    } else if (take_word("IS")) {
      const bool is_not = take_word("NOT");
      if (peek().kind != TokenKind::Word) return malformed("Expected type name");
      left = TRY(add({.kind = NodeKind::Is, .span = span, .operands = {left}, .text = upper(text_of(peek()))}));
      ++at_;
      if (is_not) left = TRY(add({.kind = NodeKind::Not, .span = span, .operands = {left}}));
    } else {
      return left;
    }
    if (negated) left = TRY(add({.kind = NodeKind::Not, .span = span, .operands = {left}}));
  }
}

std::optional<NodeKind> ExpressionParser::comparison(TokenKind kind) {
  switch (kind) {
    case TokenKind::Equal: return NodeKind::Equal;
    case TokenKind::NotEqual: return NodeKind::NotEqual;
    case TokenKind::Less: return NodeKind::Less;
    case TokenKind::LessEqual: return NodeKind::LessEqual;
    case TokenKind::Greater: return NodeKind::Greater;
    case TokenKind::GreaterEqual: return NodeKind::GreaterEqual;
    default: return std::nullopt;
  }
}

Result<NodeIndex> ExpressionParser::parse_sum() {
  NodeIndex left = TRY(parse_signed());
  for (;;) {
    const Token operation = peek();
    Node sum{.kind = NodeKind::Unsupported, .span = operation.span};
    if (operation.kind == TokenKind::Plus)
      sum.kind = NodeKind::Plus;
    else if (operation.kind == TokenKind::Minus)
      sum.kind = NodeKind::Minus;
    else if (operation.kind == TokenKind::Operator || operation.kind == TokenKind::Star)
      sum.text = std::string(text_of(operation));
    else
      return left;
    ++at_;
    const auto right = TRY(parse_signed());
    sum.operands = {left, right};
    left = TRY(add(std::move(sum)));
  }
}

Result<NodeIndex> ExpressionParser::parse_signed() {
  const auto span = peek().span;
  bool signed_at_all = false, negative = false;
  for (;; signed_at_all = true) {
    if (take(TokenKind::Minus))
      negative = !negative;
    else if (!take(TokenKind::Plus))
      break;
  }
  if (peek().kind == TokenKind::Number) return parse_number(negative);
  const NodeIndex operand = TRY(parse_primary());
  if (!signed_at_all) return operand;
  return add({.kind = negative ? NodeKind::Minus : NodeKind::Plus, .span = span, .operands = {operand}});
}

Result<NodeIndex> ExpressionParser::parse_number(bool negative) {
  const auto text = fmt::format("{}{}", negative ? "-" : "", text_of(peek()));
  auto number = value::Number::parse(text);
  Node literal{.kind = NodeKind::Literal, .span = peek().span, .text = text};
  if (number) {
    literal.literal = AttributeValue(*number);
  } else {
    refuse(number.error().message);
  }
  ++at_;
  return add(std::move(literal));
}

Result<NodeIndex> ExpressionParser::parse_primary() {
  const Token& token = peek();
  switch (token.kind) {
    case TokenKind::String: {
      Node literal{.kind = NodeKind::Literal, .span = token.span, .text = unquoted(text_of(token))};
      literal.literal = AttributeValue::string(literal.text);
      ++at_;
      return add(std::move(literal));
    }
    case TokenKind::Parameter: {
      Node parameter{.kind = NodeKind::Parameter, .span = token.span, .parameter = parameters_++};
      ++at_;
      return add(std::move(parameter));
    }
    case TokenKind::OpenParen: return parse_parenthesized();
    case TokenKind::OpenBracket: return parse_collection(NodeKind::List, TokenKind::CloseBracket, "RIGHT_BRACKET");
    case TokenKind::OpenSet: return parse_collection(NodeKind::Set, TokenKind::CloseSet, "RIGHT_DOUBLE_ANGLE_BRACKET");
    case TokenKind::OpenBrace: return parse_map();
    case TokenKind::QuotedName: return parse_path();
    case TokenKind::Word: return parse_word();
    case TokenKind::End: return malformed("Unexpected end of expression");
    default: return malformed("Unexpected term");
  }
}

Result<NodeIndex> ExpressionParser::parse_word() {
  const Token& token = peek();
  const auto word = text_of(token);
  const auto literal = [&](AttributeValue value) {
    ++at_;
    return add({.kind = NodeKind::Literal, .span = token.span, .literal = std::move(value), .text = std::string(word)});
  };
  if (same_word(word, "TRUE")) return literal(AttributeValue::boolean(true));
  if (same_word(word, "FALSE")) return literal(AttributeValue::boolean(false));
  if (same_word(word, "NULL")) return literal(AttributeValue());
  if (same_word(word, "MISSING")) {
    refuse("MISSING must be compared using IS operator", token.span);
    return literal(AttributeValue());
  }
  if (peek(1).kind == TokenKind::OpenParen && !is_reserved(word)) return parse_call();
  if (is_reserved(word)) return malformed("Unexpected keyword");
  return parse_path();
}

Result<NodeIndex> ExpressionParser::parse_call() {
  Node call{.kind = NodeKind::Call, .span = peek().span, .text = lower(text_of(peek()))};
  at_ += 2;
  if (call.text == "count" && peek().kind == TokenKind::Star) ++at_;
  if (!take(TokenKind::CloseParen)) {
    do call.operands.push_back(TRY(parse_expression()));
    while (take(TokenKind::Comma));
    TRY(expect(TokenKind::CloseParen, "RIGHT_PAREN"));
  }
  return add(std::move(call));
}

Result<NodeIndex> ExpressionParser::parse_parenthesized() {
  const auto span = peek().span;
  ++at_;
  const NodeIndex first = TRY(parse_expression());
  if (peek().kind != TokenKind::Comma) {
    TRY(expect(TokenKind::CloseParen, "RIGHT_PAREN"));
    return first;
  }
  Node list{.kind = NodeKind::List, .span = span, .operands = {first}};
  while (take(TokenKind::Comma)) list.operands.push_back(TRY(parse_expression()));
  TRY(expect(TokenKind::CloseParen, "RIGHT_PAREN"));
  return add(std::move(list));
}

Result<NodeIndex> ExpressionParser::parse_collection(NodeKind kind, TokenKind close, std::string_view close_name) {
  Node collection{.kind = kind, .span = peek().span};
  ++at_;
  if (!take(close)) {
    do collection.operands.push_back(TRY(parse_expression()));
    while (take(TokenKind::Comma));
    TRY(expect(close, close_name));
  }
  return add(std::move(collection));
}

std::string_view ExpressionParser::type_of(const Node& node) {
  switch (node.kind) {
    case NodeKind::Literal: return "Literal";
    case NodeKind::Parameter: return "Parameter";
    case NodeKind::Path: return "Path";
    case NodeKind::Call: return "Call";
    default: return "NAry";
  }
}

Result<NodeIndex> ExpressionParser::parse_map() {
  Node map{.kind = NodeKind::Map, .span = peek().span};
  ++at_;
  if (!take(TokenKind::CloseBrace)) {
    do {
      const NodeIndex key = TRY(parse_expression());
      const auto* text = node(key).kind == NodeKind::Literal ? node(key).literal.as_string() : nullptr;
      if (text == nullptr) {
        refuse(fmt::format("Tuple keys must be of type String. Actual type: {} under root", type_of(node(key))),
               node(key).span);
      }
      map.keys.push_back(text != nullptr ? *text : std::string());
      TRY(expect(TokenKind::Colon, "COLON"));
      map.operands.push_back(TRY(parse_expression()));
    } while (take(TokenKind::Comma));
    TRY(expect(TokenKind::CloseBrace, "RIGHT_CURLY"));
  }
  return add(std::move(map));
}

Result<NodeIndex> ExpressionParser::parse_path() {
  Node path{.kind = NodeKind::Path, .span = peek().span};
  path.path.attribute = name_of(peek());
  if (path.path.attribute.empty()) refuse("Path component cannot be an empty string");
  ++at_;
  for (;;) {
    if (take(TokenKind::Dot)) {
      const Token& token = peek();
      if (token.kind == TokenKind::Star) {
        refuse("Unpivot path component like a.*.b are not supported", token.span);
      } else if (token.kind == TokenKind::QuotedName ||
                 (token.kind == TokenKind::Word && !is_reserved(text_of(token)))) {
        if (name_of(token).empty()) refuse("Path component cannot be an empty string");
        path.path.elements.emplace_back(name_of(token));
      } else {
        return malformed("Invalid path dot component");
      }
      ++at_;
    } else if (take(TokenKind::OpenBracket)) {
      TRY(parse_index(path.path));
      TRY(expect(TokenKind::CloseBracket, "RIGHT_BRACKET"));
    } else {
      break;
    }
  }
  const auto elements = path.path.elements.size() + 1;
  if (elements > kMaxPathElements) {
    refuse(fmt::format("The document path has too many nesting levels; nesting levels: {}", elements));
  }
  return add(std::move(path));
}

std::string ExpressionParser::name_of(const Token& token) const {
  return token.kind == TokenKind::QuotedName ? unquoted(text_of(token)) : std::string(text_of(token));
}

Result<void> ExpressionParser::parse_index(Path& path) {
  if (peek().kind == TokenKind::Star) {
    refuse("Wildcard path component like a[*].b are not supported", peek().span);
    ++at_;
    return {};
  }
  const NodeIndex index = TRY(parse_expression());
  const Node& at = node(index);
  const auto* name = at.kind == NodeKind::Literal ? at.literal.as_string() : nullptr;
  const auto* number = at.kind == NodeKind::Literal ? at.literal.as_number() : nullptr;
  if (name != nullptr) {
    path.elements.emplace_back(*name);
    return {};
  }
  if (number == nullptr) {
    refuse("Unexpected path component", at.span);
    return {};
  }
  const auto position = number->to_int64();
  if (!position || *position < 0 || *position > std::numeric_limits<std::int32_t>::max()) {
    refuse(fmt::format("List index is not within the allowable range; index: [{}]", at.text), at.span);
    return {};
  }
  path.elements.emplace_back(static_cast<std::uint32_t>(*position));
  return {};
}

}  // namespace stator::expr::partiql

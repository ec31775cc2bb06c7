#include "stator/expr/partiql/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "stator/expr/parser.h"

namespace stator::expr::partiql {
namespace {

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

// Words that cannot begin an operand, so that "SET a = WHERE" is an error at WHERE.
bool is_reserved(std::string_view word) {
  static constexpr std::array kWords = {"SELECT", "INSERT",  "UPDATE", "DELETE",    "FROM",  "INTO",   "WHERE",
                                        "SET",    "REMOVE",  "AND",    "OR",        "NOT",   "IN",     "IS",
                                        "LIKE",   "BETWEEN", "AS",     "ORDER",     "GROUP", "HAVING", "BY",
                                        "ASC",    "DESC",    "UNION",  "RETURNING", "CASE"};
  return std::ranges::any_of(kWords, [&](std::string_view reserved) { return same_word(word, reserved); });
}

// Recursive descent.  What the grammar allows and DynamoDB does not is noted on the way and reported once the whole
// statement has proved to be well formed, as the service does.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text), tokens_(tokenize(text)) {}

  Result<Statement> run() {
    statement_.text = std::string(text_);
    TRY(parse_statement());
    if (peek().kind == TokenKind::Semicolon) ++at_;
    if (peek().kind != TokenKind::End) return malformed("Unexpected token after expression");
    if (finding_) return std::move(*finding_);
    statement_.parameters = parameters_;
    return std::move(statement_);
  }

  std::size_t error_at() const {
    return finding_at_ ? *finding_at_ : tokens_[std::min(at_, tokens_.size() - 1)].span.begin;
  }

 private:
  // ---- tokens and errors ----

  const Token& peek(std::size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  std::string_view text_of(const Token& token) const { return text_.substr(token.span.begin, token.span.size); }
  bool is_word(std::string_view upper_word, std::size_t ahead = 0) const {
    return peek(ahead).kind == TokenKind::Word && same_word(text_of(peek(ahead)), upper_word);
  }
  bool take_word(std::string_view upper_word) {
    if (!is_word(upper_word)) return false;
    ++at_;
    return true;
  }
  bool take(TokenKind kind) {
    if (peek().kind != kind) return false;
    ++at_;
    return true;
  }

  Error malformed(std::string_view what) const {
    // The service says nothing more about a quote or a comment that does not end.
    if (peek().kind == TokenKind::Broken) what = "";
    return validation_error(fmt::format("Statement wasn't well formed, can't be processed: {}", what));
  }
  Result<void> expect(TokenKind kind, std::string_view name) {
    if (take(kind)) return {};
    return malformed(fmt::format("Expected {}", name));
  }

  // The first thing that DynamoDB would refuse in a well-formed statement.
  void refuse(std::string message, std::optional<Span> at = {}) {
    if (finding_) return;
    if (at) message += fmt::format(" at {}", location(text_, *at));
    finding_ = validation_error(std::move(message));
    finding_at_ = at ? at->begin : peek().span.begin;
  }

  // ---- statements ----

  Result<void> parse_statement() {
    if (take_word("SELECT")) {
      statement_.body = TRY(parse_select());
    } else if (take_word("INSERT")) {
      statement_.body = TRY(parse_insert());
    } else if (take_word("UPDATE")) {
      statement_.body = TRY(parse_update());
    } else if (take_word("DELETE")) {
      statement_.body = TRY(parse_delete());
    } else if (is_word("EXISTS") && peek(1).kind == TokenKind::OpenParen) {
      at_ += 2;
      if (!take_word("SELECT")) return malformed("Expected SELECT");
      auto select = TRY(parse_select());
      select.exists = true;
      statement_.body = std::move(select);
      TRY(expect(TokenKind::CloseParen, "RIGHT_PAREN"));
    } else if (is_word("CREATE") || is_word("DROP")) {
      return validation_error(fmt::format("Unsupported operation: {}", upper(text_of(peek()))));
    } else {
      return malformed("Expected data manipulation");
    }
    return {};
  }

  Result<Select> parse_select() {
    Select select;
    if (is_word("DISTINCT") || is_word("ALL")) {
      refuse(fmt::format("Unsupported clause: {}", upper(text_of(peek()))), peek().span);
      ++at_;
    }
    const bool value_or_pivot = (is_word("VALUE") || is_word("PIVOT")) && peek(1).kind != TokenKind::Comma &&
                                !is_word("FROM", 1) && peek(1).kind != TokenKind::Dot &&
                                peek(1).kind != TokenKind::OpenBracket;
    if (value_or_pivot) {
      refuse("Select projection doesn't support value or pivot keywords", peek().span);
      ++at_;
    }
    bool star = false;
    std::size_t columns = 0;
    do {
      ++columns;
      if (take(TokenKind::Star)) {
        star = true;
      } else {
        TRY(parse_column(select));
      }
    } while (take(TokenKind::Comma));
    if (star && columns > 1) refuse("Other attributes should not be present in the projection when '*' is used.");
    check_column_names(select);
    if (!take_word("FROM")) return malformed("Expected FROM");
    select.from = TRY(parse_source(2, "A path may contain at most 2 components in the FROM clause"));
    if (peek().kind == TokenKind::Comma || is_word("JOIN") || is_word("INNER") || is_word("LEFT") || is_word("CROSS")) {
      refuse("Only select from a single table or index is supported.");
      return *finding_;
    }
    TRY(refuse_alias());
    select.where = TRY(parse_where());
    if (is_word("GROUP") || is_word("HAVING")) {
      return validation_error(fmt::format("Unsupported clause: {} at {}", is_word("GROUP") ? "GROUP BY" : "HAVING",
                                          location(text_, peek().span)));
    }
    if (take_word("ORDER")) TRY(parse_order(select));
    if (is_word("LIMIT") || is_word("OFFSET")) {
      const auto clause = upper(text_of(peek()));
      ++at_;
      const auto amount = TRY(parse_expression());
      refuse(fmt::format("Unsupported clause: {}", clause), node(amount).span);
    }
    return select;
  }

  Result<void> parse_column(Select& select) {
    const NodeIndex index = TRY(parse_expression());
    const Node& column = node(index);
    if (column.kind == NodeKind::Path) {
      select.columns.push_back({column_name(column.path), column.path});
    } else {
      refuse("Unexpected path component", column.span);
    }
    return refuse_alias();
  }

  static std::string column_name(const Path& path) {
    std::string name = path.attribute;
    for (const auto& element : path.elements) {
      if (const auto* step = std::get_if<std::string>(&element)) {
        name = *step;
      } else {
        name += fmt::format("[{}]", std::get<std::uint32_t>(element));
      }
    }
    return name;
  }

  void check_column_names(const Select& select) {
    for (std::size_t i = 0; i < select.columns.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (select.columns[i].name != select.columns[j].name) continue;
        return refuse(fmt::format("Duplicate identifiers in select clause: {}", select.columns[i].name));
      }
    }
  }

  // A name right behind a column or a table would be another name for it.
  Result<void> refuse_alias() {
    const bool named = take_word("AS");
    const bool is_name = peek().kind == TokenKind::QuotedName ||
                         (peek().kind == TokenKind::Word && !is_reserved(text_of(peek())) && !is_word("LIMIT") &&
                          !is_word("OFFSET") && !is_word("VALUE") && !is_word("VALUES") && !is_word("ON"));
    if (!is_name) return named ? Result<void>(malformed("Expected identifier for alias")) : Result<void>();
    refuse("Aliasing is not supported", peek().span);
    ++at_;
    return {};
  }

  Result<void> parse_order(Select& select) {
    if (!take_word("BY")) return malformed("Expected BY after ORDER");
    do {
      const NodeIndex index = TRY(parse_expression());
      const Node& key = node(index);
      if (key.kind != NodeKind::Path || key.path.is_nested()) {
        refuse(fmt::format("Argument to ORDER BY must be of type VariableReference. Type: {}", type_of(key)), key.span);
      }
      const bool descending = take_word("DESC");
      if (!descending) take_word("ASC");
      if (take_word("NULLS")) ++at_;
      select.order.push_back({key.path.attribute, descending});
    } while (take(TokenKind::Comma));
    return {};
  }

  static std::string_view type_of(const Node& node) {
    switch (node.kind) {
      case NodeKind::Literal: return "Literal";
      case NodeKind::Parameter: return "Parameter";
      case NodeKind::Path: return "Path";
      case NodeKind::Call: return "Call";
      default: return "NAry";
    }
  }

  Result<Source> parse_source(std::size_t max_components, std::string_view too_many) {
    Source source;
    std::size_t components = 0;
    do {
      const Token& token = peek();
      std::string name;
      if (token.kind == TokenKind::QuotedName) {
        name = unquoted(text_of(token));
      } else if (token.kind == TokenKind::Word && !is_reserved(text_of(token))) {
        name = std::string(text_of(token));
      } else if (token.kind == TokenKind::OpenParen || token.kind == TokenKind::OpenBracket ||
                 token.kind == TokenKind::OpenSet || token.kind == TokenKind::String) {
        return validation_error("Unexpected from source");
      } else {
        return malformed(components == 0 ? "Expected identifier for table" : "Invalid path dot component");
      }
      ++at_;
      ++components;
      if (name.empty()) refuse("Path component cannot be an empty string");
      if (components == 1)
        source.table = std::move(name);
      else if (components == 2)
        source.index = std::move(name);
    } while (take(TokenKind::Dot));
    if (components > max_components) refuse(std::string(too_many));
    return source;
  }

  Result<std::optional<NodeIndex>> parse_where() {
    if (!take_word("WHERE")) return std::optional<NodeIndex>();
    return std::optional<NodeIndex>(TRY(parse_expression()));
  }

  Result<Insert> parse_insert() {
    Insert insert;
    if (!take_word("INTO")) return malformed("Expected INTO after INSERT");
    insert.into =
        TRY(parse_source(1, "FROM clause may only contain a single table name in data manipulation statements"));
    const bool several = !is_word("VALUE");
    if (!several) ++at_;
    if (several && !is_word("VALUES") && peek().kind != TokenKind::OpenSet && peek().kind != TokenKind::OpenParen &&
        peek().kind != TokenKind::OpenBracket) {
      return malformed("Expected VALUE after INSERT INTO");
    }
    if (several) {
      return validation_error(
          "Unsupported operation: Inserting multiple items in a single statement is not supported, use \"INSERT INTO "
          "tableName VALUE item\" instead");
    }
    insert.item = TRY(parse_expression());
    if (node(insert.item).kind != NodeKind::Map) {
      refuse(
          "Unsupported format in item expression. Please use struct format {...} to express item values for insert "
          "statement.");
    }
    if (take_word("AT")) {
      TRY(parse_expression());
      refuse("AT is not supported in insert statements.");
    }
    if (is_word("ON") && is_word("CONFLICT", 1)) {
      return validation_error(fmt::format("Unsupported clause: ON CONFLICT at {}", location(text_, peek().span)));
    }
    if (is_word("RETURNING")) {
      TRY(parse_returning());
      refuse("RETURNING is not supported in INSERT");
    }
    return insert;
  }

  Result<Update> parse_update() {
    Update update;
    update.table = TRY(parse_write_source());
    TRY(refuse_alias());
    for (;;) {
      if (take_word("SET")) {
        do {
          auto assignment = TRY(parse_target("Expected assignment for SET"));
          TRY(expect(TokenKind::Equal, "'=' for SET assignment"));
          assignment.value = TRY(parse_expression());
          update.assignments.push_back(std::move(assignment));
        } while (take(TokenKind::Comma));
      } else if (take_word("REMOVE")) {
        do {
          update.assignments.push_back(TRY(parse_target("Expected identifier for simple path")));
        } while (take(TokenKind::Comma));
      } else {
        break;
      }
    }
    if (update.assignments.empty()) return malformed("Expected data manipulation");
    update.where = TRY(parse_where());
    update.returning = TRY(parse_returning());
    return update;
  }

  Result<Delete> parse_delete() {
    Delete remove;
    if (!take_word("FROM")) return malformed("Expected FROM after DELETE");
    remove.from = TRY(parse_write_source());
    TRY(refuse_alias());
    remove.where = TRY(parse_where());
    remove.returning = TRY(parse_returning());
    if (remove.returning != Returning::Nothing && remove.returning != Returning::AllOld) {
      refuse(fmt::format(
          "Invalid returning clause: RETURNING {}. Only RETURNING ALL OLD * is allowed in DELETE statements.",
          returning_name(remove.returning)));
    }
    return remove;
  }

  Result<Source> parse_write_source() {
    auto source = TRY(parse_source(2, "A path may contain at most 2 components in the FROM clause"));
    if (!source.index.empty()) refuse("This operation is not supported on an index");
    return source;
  }

  Result<Assignment> parse_target(std::string_view otherwise) {
    const Token& token = peek();
    const bool is_name =
        token.kind == TokenKind::QuotedName || (token.kind == TokenKind::Word && !is_reserved(text_of(token)));
    if (!is_name) return malformed(otherwise);
    const auto span = token.span;
    const NodeIndex index = TRY(parse_path());
    return Assignment{node(index).path, span, {}};
  }

  Result<Returning> parse_returning() {
    if (!take_word("RETURNING")) return Returning::Nothing;
    const bool all = is_word("ALL");
    if (!all && !is_word("MODIFIED")) return malformed("Expected ALL or MODIFIED in a returning clause.");
    ++at_;
    const bool old = is_word("OLD");
    if (!old && !is_word("NEW")) return malformed("Expected OLD or NEW in a returning clause.");
    ++at_;
    if (!take(TokenKind::Star)) {
      return validation_error("Expected '*' after ( MODIFIED | ALL ) ( NEW | OLD ) in RETURNING clause");
    }
    if (peek().kind == TokenKind::Comma) {
      return validation_error("Invalid syntax with multiple returning elements in RETURNING clause");
    }
    if (old) return all ? Returning::AllOld : Returning::ModifiedOld;
    return all ? Returning::AllNew : Returning::ModifiedNew;
  }

  // ---- expressions, the loosest operators first ----

  Result<NodeIndex> parse_expression() {
    const Deeper deeper(*this);
    if (depth_ > kMaxDepth) return too_deep();
    return parse_chain(NodeKind::Or, "OR", [this] { return parse_and(); });
  }

  Result<NodeIndex> parse_and() {
    return parse_chain(NodeKind::And, "AND", [this] { return parse_not(); });
  }

  template <typename Operand>
  Result<NodeIndex> parse_chain(NodeKind kind, std::string_view word, Operand parse_operand) {
    const NodeIndex first = TRY(parse_operand());
    if (!is_word(word)) return first;
    Node chain{.kind = kind, .span = peek().span, .operands = {first}};
    while (take_word(word)) chain.operands.push_back(TRY(parse_operand()));
    return add(std::move(chain));
  }

  Result<NodeIndex> parse_not() {
    if (!is_word("NOT")) return parse_comparison();
    const Deeper deeper(*this);
    if (depth_ > kMaxDepth) return too_deep();
    const auto span = peek().span;
    ++at_;
    const NodeIndex operand = TRY(parse_not());
    return add({.kind = NodeKind::Not, .span = span, .operands = {operand}});
  }

  Result<NodeIndex> parse_comparison() {
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

  static std::optional<NodeKind> comparison(TokenKind kind) {
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

  Result<NodeIndex> parse_sum() {
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
      sum.operands = {left, TRY(parse_signed())};
      left = TRY(add(std::move(sum)));
    }
  }

  // A sign belongs to the number behind it.
  Result<NodeIndex> parse_signed() {
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

  Result<NodeIndex> parse_number(bool negative) {
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

  Result<NodeIndex> parse_primary() {
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
      case TokenKind::OpenSet:
        return parse_collection(NodeKind::Set, TokenKind::CloseSet, "RIGHT_DOUBLE_ANGLE_BRACKET");
      case TokenKind::OpenBrace: return parse_map();
      case TokenKind::QuotedName: return parse_path();
      case TokenKind::Word: return parse_word();
      case TokenKind::End: return malformed("Unexpected end of expression");
      default: return malformed("Unexpected term");
    }
  }

  Result<NodeIndex> parse_word() {
    const Token& token = peek();
    const auto word = text_of(token);
    const auto literal = [&](AttributeValue value) {
      ++at_;
      return add(
          {.kind = NodeKind::Literal, .span = token.span, .literal = std::move(value), .text = std::string(word)});
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

  Result<NodeIndex> parse_call() {
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

  // (a), or (a, b): a list, as IN takes one.
  Result<NodeIndex> parse_parenthesized() {
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

  Result<NodeIndex> parse_collection(NodeKind kind, TokenKind close, std::string_view close_name) {
    Node collection{.kind = kind, .span = peek().span};
    ++at_;
    if (!take(close)) {
      do collection.operands.push_back(TRY(parse_expression()));
      while (take(TokenKind::Comma));
      TRY(expect(close, close_name));
    }
    return add(std::move(collection));
  }

  Result<NodeIndex> parse_map() {
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

  // a."b".c[1]
  Result<NodeIndex> parse_path() {
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

  std::string name_of(const Token& token) const {
    return token.kind == TokenKind::QuotedName ? unquoted(text_of(token)) : std::string(text_of(token));
  }

  Result<void> parse_index(Path& path) {
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

  // ---- the tree ----

  struct Deeper {
    explicit Deeper(Parser& parser) : depth(parser.depth_) { ++depth; }
    ~Deeper() { --depth; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;
    std::size_t& depth;
  };

  Error too_deep() const { return malformed("Expression is nested too deep"); }

  Result<NodeIndex> add(Node added) {
    for (const NodeIndex operand : added.operands) added.depth = std::max(added.depth, node(operand).depth + 1);
    if (added.depth > kMaxDepth) return too_deep();
    statement_.nodes.push_back(std::move(added));
    return static_cast<NodeIndex>(statement_.nodes.size() - 1);
  }

  const Node& node(NodeIndex index) const { return statement_.nodes[index]; }

  const std::string_view text_;
  const std::vector<Token> tokens_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  std::uint32_t parameters_ = 0;
  std::optional<Error> finding_;
  std::optional<std::size_t> finding_at_;
  Statement statement_;
};

}  // namespace

Result<Statement> parse(std::string_view text, std::size_t* error_at) {
  if (text.size() > kMaxStatementBytes) return validation_error("Statement wasn't well formed, can't be processed: ");
  Parser parser(text);
  auto statement = parser.run();
  if (!statement && error_at != nullptr) *error_at = parser.error_at();
  return statement;
}

}  // namespace stator::expr::partiql

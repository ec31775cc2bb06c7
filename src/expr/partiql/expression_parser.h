#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stator/base/result.h"
#include "stator/expr/partiql/lexer.h"
#include "stator/expr/partiql/parser.h"
#include "stator/expr/partiql/statement.h"

namespace stator::expr::partiql {

// Words are known without regard to case.
bool same_word(std::string_view word, std::string_view upper);
std::string lower(std::string_view word);
std::string upper(std::string_view word);
// Words that cannot begin an operand, so that "SET a = WHERE" is an error at WHERE.
bool is_reserved(std::string_view word);

// The tokens of a statement, and the expressions in it.  Recursive descent.  Parts that the grammar allows and DynamoDB
// does not are noted on the way and reported after the whole statement has proved to be well formed, as the service
// does.
class ExpressionParser {
 protected:
  explicit ExpressionParser(std::string_view text) : text_(text), tokens_(tokenize(text)) {}

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

  // ---- expressions, the loosest operators first ----

  Result<NodeIndex> parse_expression();
  Result<NodeIndex> parse_and();
  Result<NodeIndex> parse_not();
  Result<NodeIndex> parse_comparison();
  static std::optional<NodeKind> comparison(TokenKind kind);
  Result<NodeIndex> parse_sum();
  // A sign belongs to the number behind it.
  Result<NodeIndex> parse_signed();
  Result<NodeIndex> parse_number(bool negative);
  Result<NodeIndex> parse_primary();
  Result<NodeIndex> parse_word();
  Result<NodeIndex> parse_call();
  // (a), or (a, b): a list, as IN takes one.
  Result<NodeIndex> parse_parenthesized();
  Result<NodeIndex> parse_collection(NodeKind kind, TokenKind close, std::string_view close_name);
  Result<NodeIndex> parse_map();
  // a."b".c[1]
  Result<NodeIndex> parse_path();
  static std::string_view type_of(const Node& node);
  std::string name_of(const Token& token) const;
  Result<void> parse_index(Path& path);

  template <typename Operand>
  Result<NodeIndex> parse_chain(NodeKind kind, std::string_view word, Operand parse_operand) {
    const NodeIndex first = TRY(parse_operand());
    if (!is_word(word)) return first;
    Node chain{.kind = kind, .span = peek().span, .operands = {first}};
    while (take_word(word)) chain.operands.push_back(TRY(parse_operand()));
    return add(std::move(chain));
  }

  // ---- the tree ----

  struct Deeper {
    explicit Deeper(ExpressionParser& parser) : depth(parser.depth_) { ++depth; }
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

}  // namespace stator::expr::partiql

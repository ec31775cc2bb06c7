#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stator::expr::partiql {

enum class TokenKind : std::uint8_t {
  Word,        // a keyword, a function or a name
  QuotedName,  // "name"
  String,      // 'text'
  Number,
  Parameter,  // ?
  Equal,
  NotEqual,  // <> or !=
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  OpenSet,   // <<
  CloseSet,  // >>
  OpenParen,
  CloseParen,
  OpenBracket,
  CloseBracket,
  OpenBrace,
  CloseBrace,
  Comma,
  Dot,
  Colon,
  Semicolon,
  Star,
  Plus,
  Minus,
  Operator,  // one that DynamoDB has no use for: / % ||
  Broken,    // an open quote or comment, or a character that no statement has; nothing follows it but the end
  End,
};

// A run of bytes of a statement.
struct Span {
  std::uint32_t begin = 0;
  std::uint32_t size = 0;
};

struct Token {
  TokenKind kind;
  Span span;
};

// All tokens of a statement and an End; comments and white space are left out.
std::vector<Token> tokenize(std::string_view statement);

// The text between the quotes of a String or a QuotedName: a doubled quote is one.
std::string unquoted(std::string_view token);

// "line:column:length" of a span, counted in characters from 1: as the service tells positions.
std::string location(std::string_view statement, Span span);

}  // namespace stator::expr::partiql

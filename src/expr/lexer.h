#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stator::expr {

enum class TokenKind : std::uint8_t {
  Word,    // a name, a function or a keyword; which one is for the grammar to say
  Name,    // #name
  Value,   // :value
  Number,  // digits
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  Plus,
  Minus,
  Comma,
  Dot,
  OpenParen,
  CloseParen,
  OpenBracket,
  CloseBracket,
  Unknown,  // one character that no expression has
  End,
};

struct Token {
  TokenKind kind;
  std::uint16_t begin;  // in bytes
  std::uint16_t size;
};

inline constexpr std::size_t kMaxTextBytes = 4096;

// All tokens of a text of at most kMaxTextBytes, and an End.  Every text has tokens: meaningless characters are
// Unknown.
std::vector<Token> tokenize(std::string_view text);

// "Syntax error; token: \"x\", near: \"a x b\"" for the token at `index`: it and its neighbours, as written.
std::string syntax_error(std::string_view text, const std::vector<Token>& tokens, std::size_t index);

}  // namespace stator::expr

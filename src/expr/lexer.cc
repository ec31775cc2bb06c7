#include "stator/expr/lexer.h"

#include <algorithm>

#include <fmt/format.h>

#include "stator/base/assert.h"

namespace stator::expr {

namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '_'; }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// Reads one token off the front of `rest`, which is not empty and does not begin with a space.
struct Lexeme {
  TokenKind kind;
  std::size_t size;
};

std::size_t run_of(std::string_view rest, bool (*belongs)(char), std::size_t from) {
  while (from < rest.size() && belongs(rest[from])) ++from;
  return from;
}

// A character outside ASCII is one token however many bytes it takes, so that a message never cuts it in two.
std::size_t character_size(std::string_view rest) {
  std::size_t size = 1;
  while (size < 4 && size < rest.size() && (static_cast<unsigned char>(rest[size]) & 0xC0) == 0x80) ++size;
  return static_cast<unsigned char>(rest[0]) < 0xC0 ? 1 : size;
}

Lexeme placeholder(std::string_view rest, TokenKind kind) {
  const std::size_t size = run_of(rest, is_word, 1);
  return size == 1 ? Lexeme{TokenKind::Unknown, 1} : Lexeme{kind, size};
}

Lexeme next_lexeme(std::string_view rest) {
  const char second = rest.size() > 1 ? rest[1] : '\0';
  switch (rest[0]) {
    case '#': return placeholder(rest, TokenKind::Name);
    case ':': return placeholder(rest, TokenKind::Value);
    case '=': return {TokenKind::Equal, 1};
    case '<':
      if (second == '>') return {TokenKind::NotEqual, 2};
      if (second == '=') return {TokenKind::LessEqual, 2};
      return {TokenKind::Less, 1};
    case '>':
      if (second == '=') return {TokenKind::GreaterEqual, 2};
      return {TokenKind::Greater, 1};
    case '+': return {TokenKind::Plus, 1};
    case '-': return {TokenKind::Minus, 1};
    case ',': return {TokenKind::Comma, 1};
    case '.': return {TokenKind::Dot, 1};
    case '(': return {TokenKind::OpenParen, 1};
    case ')': return {TokenKind::CloseParen, 1};
    case '[': return {TokenKind::OpenBracket, 1};
    case ']': return {TokenKind::CloseBracket, 1};
    default: break;
  }
  if (is_letter(rest[0])) return {TokenKind::Word, run_of(rest, is_word, 1)};
  if (is_digit(rest[0])) return {TokenKind::Number, run_of(rest, is_digit, 1)};
  return {TokenKind::Unknown, character_size(rest)};
}

}  // namespace

std::vector<Token> tokenize(std::string_view text) {
  STATOR_ASSERT(text.size() <= kMaxTextBytes, "the caller has checked the size");
  std::vector<Token> tokens;
  std::size_t at = run_of(text, is_space, 0);
  while (at < text.size()) {
    const auto [kind, size] = next_lexeme(text.substr(at));
    tokens.push_back({kind, static_cast<std::uint16_t>(at), static_cast<std::uint16_t>(size)});
    at = run_of(text, is_space, at + size);
  }
  tokens.push_back({TokenKind::End, static_cast<std::uint16_t>(text.size()), 0});
  return tokens;
}

std::string syntax_error(std::string_view text, const std::vector<Token>& tokens, std::size_t index) {
  const Token& token = tokens[index];
  const bool at_end = token.kind == TokenKind::End;
  const Token& first = index == 0 ? token : tokens[index - 1];
  const Token& last = at_end ? first : tokens[index + 1].kind == TokenKind::End ? token : tokens[index + 1];
  const std::string_view shown = at_end ? "<EOF>" : text.substr(token.begin, token.size);
  const auto end = static_cast<std::size_t>(last.begin) + last.size;
  return fmt::format("Syntax error; token: \"{}\", near: \"{}\"", shown, text.substr(first.begin, end - first.begin));
}

}  // namespace stator::expr

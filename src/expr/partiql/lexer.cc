#include "stator/expr/partiql/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "stator/base/ascii.h"

namespace stator::expr::partiql {
namespace {

bool is_name_start(char c) { return is_letter(c) || c == '_' || c == '$'; }
bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> run() {
    std::vector<Token> tokens;
    while (skip_space() && at_ < text_.size()) {
      const auto begin = at_;
      const auto kind = next();
      tokens.push_back({kind, span(begin)});
      if (kind == TokenKind::Broken) return finish(std::move(tokens));
    }
    if (at_ < text_.size()) {  // an open comment
      tokens.push_back({TokenKind::Broken, span(at_)});
      at_ = text_.size();
    }
    return finish(std::move(tokens));
  }

 private:
  Span span(std::size_t begin) const {
    return {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(at_ - begin)};
  }

  std::vector<Token> finish(std::vector<Token> tokens) const {
    tokens.push_back({TokenKind::End, {static_cast<std::uint32_t>(text_.size()), 0}});
    return tokens;
  }

  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool starts(std::string_view what) const { return text_.substr(at_).starts_with(what); }

  // False when a comment does not end.
  bool skip_space() {
    for (;;) {
      while (at_ < text_.size() && is_space(text_[at_])) ++at_;
      if (starts("--")) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (starts("/*")) {
        const auto end = text_.find("*/", at_ + 2);
        if (end == std::string_view::npos) return false;
        at_ = end + 2;
      } else {
        return true;
      }
    }
  }

  TokenKind next() {
    const char c = peek();
    if (c == '\'') return quoted(c, TokenKind::String);
    if (c == '"') return quoted(c, TokenKind::QuotedName);
    if (is_digit(c) || (c == '.' && is_digit(peek(1)) && !after_name())) return number();
    if (is_name_start(c)) {
      while (is_name_start(peek()) || is_digit(peek())) ++at_;
      return TokenKind::Word;
    }
    return symbol();
  }

  TokenKind quoted(char quote, TokenKind kind) {
    ++at_;
    for (;;) {
      const auto end = text_.find(quote, at_);
      if (end == std::string_view::npos) {
        at_ = text_.size();
        return TokenKind::Broken;
      }
      at_ = end + 1;
      if (peek() != quote) return kind;
      ++at_;
    }
  }

  // In "a.5" the dot belongs to a path.
  bool after_name() const {
    return at_ > 0 && (is_name_start(text_[at_ - 1]) || text_[at_ - 1] == '"' || text_[at_ - 1] == ']');
  }

  TokenKind number() {
    while (is_digit(peek())) ++at_;
    if (peek() == '.') {
      ++at_;
      while (is_digit(peek())) ++at_;
    }
    if (peek() == 'e' || peek() == 'E') {
      const std::size_t sign = peek(1) == '+' || peek(1) == '-' ? 1 : 0;
      if (is_digit(peek(1 + sign))) {
        at_ += 1 + sign;
        while (is_digit(peek())) ++at_;
      }
    }
    if (!is_name_start(peek())) return TokenKind::Number;
    while (is_name_start(peek()) || is_digit(peek())) ++at_;  // 12ab is neither a number nor a name
    return TokenKind::Broken;
  }

  TokenKind symbol() {
    struct Symbol {
      std::string_view text;
      TokenKind kind;
    };
    static constexpr std::array kSymbols = {
        Symbol{"<<", TokenKind::OpenSet},    Symbol{">>", TokenKind::CloseSet},
        Symbol{"<>", TokenKind::NotEqual},   Symbol{"!=", TokenKind::NotEqual},
        Symbol{"<=", TokenKind::LessEqual},  Symbol{">=", TokenKind::GreaterEqual},
        Symbol{"||", TokenKind::Operator},   Symbol{"=", TokenKind::Equal},
        Symbol{"<", TokenKind::Less},        Symbol{">", TokenKind::Greater},
        Symbol{"(", TokenKind::OpenParen},   Symbol{")", TokenKind::CloseParen},
        Symbol{"[", TokenKind::OpenBracket}, Symbol{"]", TokenKind::CloseBracket},
        Symbol{"{", TokenKind::OpenBrace},   Symbol{"}", TokenKind::CloseBrace},
        Symbol{",", TokenKind::Comma},       Symbol{".", TokenKind::Dot},
        Symbol{":", TokenKind::Colon},       Symbol{";", TokenKind::Semicolon},
        Symbol{"*", TokenKind::Star},        Symbol{"+", TokenKind::Plus},
        Symbol{"-", TokenKind::Minus},       Symbol{"/", TokenKind::Operator},
        Symbol{"%", TokenKind::Operator},    Symbol{"?", TokenKind::Parameter},
    };
    for (const auto& [text, kind] : kSymbols) {
      if (!starts(text)) continue;
      at_ += text.size();
      return kind;
    }
    ++at_;
    return TokenKind::Broken;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

std::vector<Token> tokenize(std::string_view statement) { return Lexer(statement).run(); }

std::string unquoted(std::string_view token) {
  const char quote = token.front();
  std::string text;
  for (std::size_t i = 1; i + 1 < token.size(); ++i) {
    text += token[i];
    if (token[i] == quote) ++i;
  }
  return text;
}

std::string location(std::string_view statement, Span span) {
  const auto before = statement.substr(0, span.begin);
  const auto line = std::ranges::count(before, '\n') + 1;
  const auto line_begin = before.rfind('\n') + 1;  // 0 when there is none
  return fmt::format("{}:{}:{}", line, characters(before.substr(line_begin)) + 1,
                     characters(statement.substr(span.begin, span.size)));
}

}  // namespace stator::expr::partiql

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "stator/base/ascii.h"
#include "stator/base/suggest.h"
#include "stator/model/expression/expression_tree.h"
#include "stator/model/expression/name_start.h"
#include "stator/model/types/text.h"

namespace stator::model {
namespace {

using value::AttributeValue;
using value::Number;
using Node = Expression::Node;
using Op = Node::Op;

constexpr std::size_t kMaxTextBytes = 4096;
constexpr int kMaxNesting = 32;
constexpr int kMaxOperators = 300;
constexpr std::size_t kMaxOperands = 100;  // of a function or an IN, as in DynamoDB

struct FunctionRule {
  std::string_view name;
  Function function;
  std::size_t least, most;  // operands
};

constexpr std::array kFunctions = {
    FunctionRule{"attribute_exists", Function::AttributeExists, 1, 1},
    FunctionRule{"attribute_not_exists", Function::AttributeNotExists, 1, 1},
    FunctionRule{"attribute_type", Function::AttributeType, 2, 2},
    FunctionRule{"begins_with", Function::BeginsWith, 2, 2},
    FunctionRule{"contains", Function::Contains, 2, 2},
    FunctionRule{"size", Function::Size, 1, 1},
    FunctionRule{"if", Function::If, 3, 3},
    FunctionRule{"if_not_exists", Function::IfNotExists, 2, 2},
    FunctionRule{"coalesce", Function::Coalesce, 1, kMaxOperands},
    FunctionRule{"concat", Function::Concat, 1, kMaxOperands},
    FunctionRule{"lower", Function::Lower, 1, 1},
    FunctionRule{"upper", Function::Upper, 1, 1},
    FunctionRule{"fold", Function::Fold, 1, 1},
    FunctionRule{"sortable", Function::Sortable, 1, 1},
    FunctionRule{"fold_letters", Function::FoldLetters, 1, 1},
    FunctionRule{"alphabetical", Function::Alphabetical, 1, 1},
    FunctionRule{"length", Function::Length, 1, 1},
    FunctionRule{"round", Function::Round, 1, 1},
    FunctionRule{"min", Function::Min, 1, kMaxOperands},
    FunctionRule{"max", Function::Max, 1, kMaxOperands},
    FunctionRule{"list_append", Function::ListAppend, 2, 2},
    FunctionRule{"date", Function::Date, 1, 1},
    FunctionRule{"plus_seconds", Function::PlusSeconds, 2, 2},
    FunctionRule{"now", Function::Now, 0, 0},
    FunctionRule{"uuid", Function::Uuid, 0, 0},
    FunctionRule{"ulid", Function::Ulid, 0, 0},
};

bool is_word(char c) { return is_name_start(c) || is_digit(c); }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

Error error_at(std::size_t column, std::string_view message) {
  return validation_error(fmt::format("column {}: {}", column, message));
}

// -------------------------------------------------------------------------------------------------------------- tokens

enum class TokenKind : std::uint8_t { End, Word, Input, Number, Text, Symbol };

struct Token {
  TokenKind kind = TokenKind::End;
  std::string text;  // a Word and an Input without its colon as written, what a Text says, a Symbol
  std::size_t column = 1;
};

// Takes tokens off the front of a text.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Result<Token> next() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
    const std::size_t begin = at_;
    const auto token = [&](TokenKind kind) {
      return Token{.kind = kind, .text = std::string(text_.substr(begin, at_ - begin)), .column = begin + 1};
    };
    if (at_ == text_.size()) return token(TokenKind::End);
    const char c = text_[at_];
    if (is_name_start(c)) {
      skip(is_word);
      return token(TokenKind::Word);
    }
    if (c == ':') {
      ++at_;
      if (at_ == text_.size() || !is_name_start(text_[at_]))
        return error_at(begin + 1, "the name of an input follows the colon");
      skip(is_word);
      auto input = token(TokenKind::Input);
      input.text.erase(0, 1);
      return input;
    }
    if (is_digit(c)) {
      skip_number();
      return token(TokenKind::Number);
    }
    if (c == '\'') return quoted();
    if (const std::string_view pair = text_.substr(at_, 2); pair == "<>" || pair == "<=" || pair == ">=") {
      at_ += 2;
      return token(TokenKind::Symbol);
    }
    if (std::string_view("=<>+-*/(),.[]").find(c) != std::string_view::npos) {
      ++at_;
      return token(TokenKind::Symbol);
    }
    return error_at(begin + 1, unexpected(c));
  }

 private:
  static std::string unexpected(char c) {
    if (c == '"') return "a text is written in single quotes: 'text'";
    if (c == '!') return "not equal is written <>";
    if (c == '#') return "names need no placeholder; write the attribute's name";
    if (c > ' ' && c < 0x7F) return fmt::format("'{}' means nothing here", c);
    return "this character means nothing outside of quotes";
  }

  void skip(bool (*belongs)(char)) {
    while (at_ < text_.size() && belongs(text_[at_])) ++at_;
  }

  // 1, 1.5, 1e3, 1.5E-3.  A dot or an e that no digit follows does not belong to it.
  void skip_number() {
    skip(is_digit);
    if (at_ + 1 < text_.size() && text_[at_] == '.' && is_digit(text_[at_ + 1])) {
      ++at_;
      skip(is_digit);
    }
    std::size_t exponent = at_ + 1;
    if (exponent < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      if (text_[exponent] == '+' || text_[exponent] == '-') ++exponent;
      if (exponent < text_.size() && is_digit(text_[exponent])) {
        at_ = exponent;
        skip(is_digit);
      }
    }
  }

  Result<Token> quoted() {
    Token token{.kind = TokenKind::Text, .text = {}, .column = at_ + 1};
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\'') {
        ++at_;
        if (at_ == text_.size() || text_[at_] != '\'') return token;
      }
      token.text += text_[at_];
    }
    return error_at(token.column, "the closing quote is missing");
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

// -------------------------------------------------------------------------------------------------------------- parser

// Words that are operators or literals, and therefore no names.
constexpr std::array<std::string_view, 8> kKeywords = {"and", "or", "not", "between", "in", "true", "false", "null"};

// Recursive descent, one method per level of precedence.
class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text) {}

  Result<Node> parse() {
    TRY(advance());
    auto node = TRY(disjunction());
    if (token_.kind != TokenKind::End) return error_here("an operator is missing before");
    return node;
  }

 private:
  using Level = Result<Node> (Parser::*)();

  Result<void> advance() {
    token_ = TRY(lexer_.next());
    return {};
  }

  bool at_symbol(std::string_view symbol) const { return token_.kind == TokenKind::Symbol && token_.text == symbol; }
  bool at_word(std::string_view word) const {
    return token_.kind == TokenKind::Word && lower_ascii(token_.text) == word;
  }

  Error error_here(std::string_view problem) const {
    if (token_.kind == TokenKind::End) return error_at(token_.column, "the expression ends too early");
    return error_at(token_.column, fmt::format("{} '{}'", problem, token_.text));
  }

  Result<void> expect(std::string_view symbol) {
    if (!at_symbol(symbol)) return error_here(fmt::format("'{}' is missing before", symbol));
    return advance();
  }

  Result<void> count_operator() {
    if (++operators_ > kMaxOperators)
      return error_at(token_.column, fmt::format("an expression has at most {} operators", kMaxOperators));
    return {};
  }

  // Runs `level` one level deeper.
  Result<Node> nested(Level level) {
    if (depth_ == kMaxNesting)
      return error_at(token_.column, fmt::format("an expression nests at most {} levels", kMaxNesting));
    ++depth_;
    auto node = (this->*level)();
    --depth_;
    return node;
  }

  Node node_here(Op op) const {
    Node node;
    node.op = op;
    node.column = token_.column;
    return node;
  }

  // a OR b OR c is one node with three operands.
  Result<Node> chain(std::string_view word, Op op, Level level) {
    Node first = TRY((this->*level)());
    if (!at_word(word)) return first;
    Node node = node_here(op);
    node.operands.push_back(std::move(first));
    while (at_word(word)) {
      TRY(count_operator());
      TRY(advance());
      node.operands.push_back(TRY((this->*level)()));
    }
    return node;
  }

  Result<Node> disjunction() { return chain("or", Op::Or, &Parser::conjunction); }
  Result<Node> conjunction() { return chain("and", Op::And, &Parser::negation); }

  Result<Node> negation() {
    if (!at_word("not")) return comparison();
    Node node = node_here(Op::Not);
    TRY(count_operator());
    TRY(advance());
    node.operands.push_back(TRY(nested(&Parser::negation)));
    return node;
  }

  std::optional<Op> comparator() const {
    struct Symbol {
      std::string_view text;
      Op op;
    };
    constexpr std::array kComparators = {
        Symbol{"=", Op::Equal},        Symbol{"<>", Op::NotEqual}, Symbol{"<", Op::Less},
        Symbol{"<=", Op::LessOrEqual}, Symbol{">", Op::Greater},   Symbol{">=", Op::GreaterOrEqual},
    };
    for (const auto& [text, op] : kComparators) {
      if (at_symbol(text)) return op;
    }
    if (at_word("between")) return Op::Between;
    if (at_word("in")) return Op::In;
    return std::nullopt;
  }

  Result<Node> comparison() {
    Node left = TRY(sum());
    const auto op = comparator();
    if (!op) return left;
    Node node = node_here(*op);
    node.operands.push_back(std::move(left));
    TRY(count_operator());
    TRY(advance());
    if (*op == Op::In) {
      TRY(expect("("));
      TRY(operands(node));
      if (node.operands.size() == 1) return error_at(node.column, "IN needs at least one value in its parentheses");
    } else {
      node.operands.push_back(TRY(sum()));
    }
    if (*op == Op::Between) {
      if (!at_word("and")) return error_here("AND is missing before");
      TRY(advance());
      node.operands.push_back(TRY(sum()));
    }
    if (comparator()) return error_at(token_.column, "comparisons do not follow one another; join them with AND");
    return node;
  }

  // Left to right: a - b - c is (a - b) - c.
  Result<Node> left_to_right(std::string_view symbols, std::array<Op, 2> ops, Level level) {
    Node left = TRY((this->*level)());
    while (token_.kind == TokenKind::Symbol && token_.text.size() == 1 &&
           symbols.find(token_.text) != std::string_view::npos) {
      Node node = node_here(ops[symbols.find(token_.text)]);
      TRY(count_operator());
      TRY(advance());
      node.operands.push_back(std::move(left));
      node.operands.push_back(TRY((this->*level)()));
      left = std::move(node);
    }
    return left;
  }

  Result<Node> sum() { return left_to_right("+-", {Op::Add, Op::Subtract}, &Parser::product); }
  Result<Node> product() { return left_to_right("*/", {Op::Multiply, Op::Divide}, &Parser::sign); }

  // -a is 0 - a.
  Result<Node> sign() {
    if (!at_symbol("-")) return primary();
    Node node = node_here(Op::Subtract);
    TRY(count_operator());
    TRY(advance());
    Node operand = TRY(nested(&Parser::sign));
    if (operand.op == Op::Literal && operand.value && operand.value->as_number() != nullptr) {
      operand.value = AttributeValue(TRY(Number().subtract(*operand.value->as_number())));
      operand.column = node.column;
      return operand;
    }
    Node zero = node_here(Op::Literal);
    zero.value = AttributeValue::number(0);
    node.operands.push_back(std::move(zero));
    node.operands.push_back(std::move(operand));
    return node;
  }

  Result<Node> primary() {
    Node node = node_here(Op::Literal);
    switch (token_.kind) {
      case TokenKind::Number: {
        const auto number = Number::parse(token_.text);
        if (!number) return error_at(token_.column, number.error().message);
        node.value = AttributeValue(*number);
        break;
      }
      case TokenKind::Text: node.value = AttributeValue::string(token_.text); break;
      case TokenKind::Input:
        node.op = Op::Input;
        node.name = token_.text;
        break;
      case TokenKind::Word: return word();
      default:
        if (!at_symbol("(")) return error_here("a value is missing before");
        TRY(advance());
        node = TRY(nested(&Parser::disjunction));
        TRY(expect(")"));
        return node;
    }
    TRY(advance());
    return node;
  }

  // A literal, a function, or a path.
  Result<Node> word() {
    Node node = node_here(Op::Literal);
    const std::string lower = lower_ascii(token_.text);
    node.name = token_.text;
    if (lower == "true" || lower == "false" || lower == "null") {
      if (lower != "null") node.value = AttributeValue::boolean(lower == "true");
      node.name.clear();
      TRY(advance());
      return node;
    }
    if (std::find(kKeywords.begin(), kKeywords.end(), lower) != kKeywords.end())
      return error_here("a value is missing before");
    TRY(advance());
    if (at_symbol("(")) return call(std::move(node));
    node.op = Op::Path;
    TRY(path_steps(node));
    return node;
  }

  Result<void> path_steps(Node& node) {
    while (at_symbol(".") || at_symbol("[")) {
      const bool is_index = at_symbol("[");
      TRY(count_operator());
      TRY(advance());
      if (is_index) {
        constexpr std::size_t kMaxIndexDigits = 6;
        const bool is_whole = token_.kind == TokenKind::Number && token_.text.size() <= kMaxIndexDigits &&
                              std::all_of(token_.text.begin(), token_.text.end(), is_digit);
        if (!is_whole) return error_here("the number of an element is missing before");
        node.steps.emplace_back(std::stoul(token_.text));
        TRY(advance());
        TRY(expect("]"));
      } else {
        if (token_.kind != TokenKind::Word) return error_here("a name is missing before");
        node.steps.emplace_back(token_.text);
        TRY(advance());
      }
    }
    return {};
  }

  // The rest of "a, b)" as operands of `node`.
  Result<void> operands(Node& node) {
    if (at_symbol(")")) return advance();
    while (true) {
      node.operands.push_back(TRY(nested(&Parser::disjunction)));
      if (node.operands.size() > kMaxOperands) {
        return error_at(node.column, fmt::format("there can be at most {} values in parentheses", kMaxOperands));
      }
      if (!at_symbol(",")) return expect(")");
      TRY(advance());
    }
  }

  Result<Node> call(Node node) {
    const std::string name = lower_ascii(node.name);
    const auto rule = std::find_if(kFunctions.begin(), kFunctions.end(), [&](const auto& r) { return r.name == name; });
    if (rule == kFunctions.end()) {
      std::vector<std::string_view> known;
      for (const auto& function : kFunctions) known.push_back(function.name);
      return error_at(node.column, fmt::format("there is no function {}{}", node.name, did_you_mean(name, known)));
    }
    node.op = Op::Call;
    node.name.clear();
    node.function = rule->function;
    TRY(count_operator());
    TRY(advance());
    TRY(operands(node));
    TRY(check_operands(*rule, node));
    return node;
  }

  static Result<void> check_operands(const FunctionRule& rule, const Node& node) {
    const std::size_t count = node.operands.size();
    if (count < rule.least || count > rule.most) {
      const std::string wanted =
          rule.least == rule.most ? fmt::format("{}", rule.least) : fmt::format("at least {}", rule.least);
      return error_at(node.column,
                      fmt::format("{} takes {} value{}, not {}", rule.name, wanted, rule.least == 1 ? "" : "s", count));
    }
    const bool asks_presence =
        rule.function == Function::AttributeExists || rule.function == Function::AttributeNotExists;
    if (asks_presence && node.operands[0].op != Op::Path && node.operands[0].op != Op::Input) {
      return error_at(node.operands[0].column, fmt::format("{} asks for an attribute or an input", rule.name));
    }
    if (rule.function == Function::ListAppend) {
      for (const auto& operand : node.operands) {
        if (operand.op == Op::Literal && operand.value)
          return error_at(operand.column, fmt::format("{} joins lists, and no literal is one", rule.name));
      }
    }
    return rule.function == Function::AttributeType ? check_type_name(node.operands[1]) : Result<void>();
  }

  // A literal that names no type is never the type of anything.
  static Result<void> check_type_name(const Node& node) {
    constexpr std::array<std::string_view, 10> kTypes{"S", "N", "B", "SS", "NS", "BS", "BOOL", "NULL", "L", "M"};
    const auto* text = node.op == Op::Literal && node.value ? node.value->as_string() : nullptr;
    if (node.op != Op::Literal || (text != nullptr && std::find(kTypes.begin(), kTypes.end(), *text) != kTypes.end()))
      return {};
    return error_at(node.column, fmt::format("a type is '{}'", fmt::join(kTypes, "', '")));
  }

  Lexer lexer_;
  Token token_;
  int depth_ = 0;
  int operators_ = 0;
};

// Calls `visit` with every node, parents first.
template <typename Visit>
void walk(const Node& node, const Visit& visit) {
  visit(node);
  for (const auto& operand : node.operands) walk(operand, visit);
}

std::vector<std::string> names_of(const Node& root, Op op) {
  std::vector<std::string> names;
  walk(root, [&](const Node& node) {
    if (node.op == op && std::find(names.begin(), names.end(), node.name) == names.end()) names.push_back(node.name);
  });
  return names;
}

}  // namespace

std::string_view name_of(Function function) {
  return std::find_if(kFunctions.begin(), kFunctions.end(), [&](const auto& r) { return r.function == function; })
      ->name;
}

Result<Expression> Expression::parse(std::string_view text) {
  if (text.size() > kMaxTextBytes) {
    return error_at(kMaxTextBytes + 1, fmt::format("an expression has at most {} bytes", kMaxTextBytes));
  }
  Expression expression;
  expression.text_ = text;
  expression.root_ = std::make_shared<const Node>(TRY(Parser(text).parse()));
  return expression;
}

std::vector<std::string> Expression::paths() const { return names_of(*root_, Op::Path); }
std::vector<std::string> Expression::inputs() const { return names_of(*root_, Op::Input); }

bool reads_attributes(const Node& node) {
  return node.op == Op::Path || std::any_of(node.operands.begin(), node.operands.end(), reads_attributes);
}

}  // namespace stator::model

#include "stator/expr/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <vector>

#include "stator/expr/lexer.h"
#include "stator/expr/reserved_words.h"

namespace stator::expr {

namespace {

using Section = Action::Section;

bool same_word(std::string_view text, std::string_view upper) {
  return std::ranges::equal(text, upper,
                            [](char a, char b) { return (a >= 'a' && a <= 'z' ? a - 'a' + 'A' : a) == b; });
}

std::optional<Op> comparator_of(TokenKind kind) {
  switch (kind) {
    case TokenKind::Equal: return Op::Equal;
    case TokenKind::NotEqual: return Op::NotEqual;
    case TokenKind::Less: return Op::Less;
    case TokenKind::LessEqual: return Op::LessEqual;
    case TokenKind::Greater: return Op::Greater;
    case TokenKind::GreaterEqual: return Op::GreaterEqual;
    default: return std::nullopt;
  }
}

constexpr std::array kConditionFunctions = {Op::AttributeExists, Op::AttributeNotExists, Op::AttributeType,
                                            Op::BeginsWith,      Op::Contains,           Op::Size};
constexpr std::array kUpdateFunctions = {Op::IfNotExists, Op::ListAppend};

std::optional<Op> function_named(std::span<const Op> functions, std::string_view name) {
  const auto found = std::ranges::find(functions, name, op_name);
  return found == functions.end() ? std::nullopt : std::optional(*found);
}

// Mistakes that do not stop the parser.  DynamoDB looks for one kind of mistake after another, each in the whole
// expression, so the first of every kind is kept until the end.
struct Findings {
  std::optional<std::string> redundant_parentheses;
  std::optional<std::string> unknown_function;
  std::optional<std::string> misused_function;
  std::optional<std::string> reserved_word;
  std::optional<std::string> repeated_section;
  std::optional<std::string> path_limit;

  static void note(std::optional<std::string>& finding, std::string message) {
    if (!finding) finding = std::move(message);
  }
};

// Recursive descent with one function per rule of the grammar; every function is entered at the first token of what it
// reads.
//
//   condition   or
//   or          and { OR and }
//   and         not { AND not }
//   not         { NOT } comparison
//   comparison  primary [ comparator operand | BETWEEN operand AND operand | IN ( operand {, operand} ) ]
//   primary     ( or ) | operand
//   operand     ( operand ) | path | value | function ( operand {, operand} )
//   update      { SET path = sum {, ...} | REMOVE path {, ...} | ADD path value {, ...} | DELETE path value {, ...} }
//   sum         operand [ + operand | - operand ] | ( sum )
//   projection  path {, path}
class Parser {
 public:
  Parser(Kind kind, std::string_view text) : kind_(kind), text_(text), tokens_(tokenize(text)), builder_(kind) {}

  Result<std::shared_ptr<const Tree>> run() {
    switch (kind_) {
      case Kind::Update: TRY(update()); break;
      case Kind::Projection: TRY(projection()); break;
      default: as_condition(TRY(condition()));
    }
    if (token().kind != TokenKind::End) return unexpected();
    TRY(report());
    return builder_.finish();
  }

 private:
  // The result of a rule.  A function may turn out to be either a condition or an operand.
  struct Part {
    enum class Shape : std::uint8_t { Operand, Function, Condition };
    NodeIndex node = 0;
    Shape shape = Shape::Operand;
    bool in_parentheses = false;
  };

  // ---- tokens ----

  const Token& token() const { return tokens_[at_]; }
  std::string_view spelling() const { return text_.substr(token().begin, token().size); }
  bool at_keyword(std::string_view upper) const {
    return token().kind == TokenKind::Word && same_word(spelling(), upper);
  }

  bool accept(TokenKind kind) {
    if (token().kind != kind) return false;
    ++at_;
    return true;
  }
  bool accept_keyword(std::string_view upper) {
    if (!at_keyword(upper)) return false;
    ++at_;
    return true;
  }
  Result<void> expect(TokenKind kind) {
    if (!accept(kind)) return unexpected();
    return {};
  }

  Error unexpected() const { return invalid(syntax_error(text_, tokens_, at_)); }
  Error invalid(std::string_view message) const {
    return validation_error(fmt::format("Invalid {}: {}", parameter_name(kind_), message));
  }

  // Words that the grammar of this kind of expression keeps for itself.
  bool at_any_keyword() const {
    if (token().kind != TokenKind::Word) return false;
    static constexpr std::array<std::string_view, 5> kInConditions = {"AND", "OR", "NOT", "BETWEEN", "IN"};
    static constexpr std::array<std::string_view, 4> kInUpdates = {"SET", "REMOVE", "ADD", "DELETE"};
    const auto matches = [&](std::string_view word) { return same_word(spelling(), word); };
    if (kind_ == Kind::Projection) return false;
    return kind_ == Kind::Update ? std::ranges::any_of(kInUpdates, matches)
                                 : std::ranges::any_of(kInConditions, matches);
  }

  // ---- conditions ----

  Result<Part> condition() {
    const Part part = TRY(or_condition());
    if (part.shape == Part::Shape::Operand) return unexpected();
    return part;
  }

  Result<Part> or_condition() {
    return chain("OR", Op::Or, [this] { return and_condition(); });
  }
  Result<Part> and_condition() {
    return chain("AND", Op::And, [this] { return not_condition(); });
  }

  // One part, or several joined by the same word.  A lone operand is passed up: a comparator may follow its
  // parenthesis.
  template <typename Rule>
  Result<Part> chain(std::string_view word, Op op, Rule rule) {
    const std::size_t operands = pending_.size();
    const std::uint16_t position = token().begin;
    Part part = TRY(rule());
    if (!at_keyword(word)) return part;
    if (part.shape == Part::Shape::Operand) return unexpected();
    pending_.push_back(as_condition(part));
    while (accept_keyword(word)) {
      ++operators_;
      part = TRY(rule());
      if (part.shape == Part::Shape::Operand) return unexpected();
      pending_.push_back(as_condition(part));
    }
    return Part{reduce(op, operands, position), Part::Shape::Condition};
  }

  Result<Part> not_condition() {
    const std::uint16_t position = token().begin;
    std::size_t negations = 0;
    while (accept_keyword("NOT")) ++negations;
    Part part = TRY(comparison());
    if (negations == 0) return part;
    if (part.shape == Part::Shape::Operand) return unexpected();
    NodeIndex node = as_condition(part);
    operators_ += negations;
    // A longer row of them is refused in the end, so the tree need not hold it.
    for (std::size_t i = 0; i < std::min(negations, kMaxOperators); ++i)
      node = builder_.node(Op::Not, {{node}}, position);
    return Part{node, Part::Shape::Condition};
  }

  Result<Part> comparison() {
    const std::size_t operands = pending_.size();
    const std::uint16_t position = token().begin;
    const Part left = TRY(primary());
    const auto comparator = comparator_of(token().kind);
    if (!comparator && !at_keyword("BETWEEN") && !at_keyword("IN")) return left;
    if (left.shape == Part::Shape::Condition) return unexpected();
    pending_.push_back(as_operand(left));
    ++operators_;
    if (comparator) {
      ++at_;
      pending_.push_back(as_operand(TRY(operand())));
      return Part{reduce(*comparator, operands, position), Part::Shape::Condition};
    }
    if (accept_keyword("BETWEEN")) {
      pending_.push_back(as_operand(TRY(operand())));
      if (!accept_keyword("AND")) return unexpected();
      pending_.push_back(as_operand(TRY(operand())));
      return Part{reduce(Op::Between, operands, position), Part::Shape::Condition};
    }
    ++at_;
    TRY(operand_list());
    return Part{reduce(Op::In, operands, position), Part::Shape::Condition};
  }

  Result<Part> primary() {
    if (token().kind != TokenKind::OpenParen) return operand();
    return parentheses([this] { return or_condition(); });
  }

  // ---- operands ----

  Result<Part> operand() {
    if (token().kind == TokenKind::OpenParen) return parentheses([this] { return operand(); });
    const std::uint16_t position = token().begin;
    if (token().kind == TokenKind::Value) {
      std::string placeholder(spelling());
      ++at_;
      return Part{builder_.value(std::move(placeholder), position)};
    }
    if (token().kind == TokenKind::Word && !at_any_keyword() && tokens_[at_ + 1].kind == TokenKind::OpenParen)
      return function();
    return Part{TRY(path())};
  }

  // ( rule ), and the rest of a path if the parentheses contain one.
  template <typename Rule>
  Result<Part> parentheses(Rule rule) {
    const std::size_t open = at_++;
    if (++depth_ > kMaxNestedGroups) return too_deep(open);
    Part part = TRY(rule());
    TRY(expect(TokenKind::CloseParen));
    --depth_;
    if (part.in_parentheses)
      Findings::note(findings_.redundant_parentheses, "The expression has redundant parentheses;");
    part.in_parentheses = true;
    if (kind_ != Kind::Update && part.shape == Part::Shape::Operand &&
        builder_.tree().nodes[part.node].op == Op::Path) {
      const std::size_t before = at_;
      TRY(path_tail(part.node));
      if (at_ != before) part.in_parentheses = false;
    }
    return part;
  }

  // Parentheses so deep that some of them must be redundant, if they are closed at all.
  Error too_deep(std::size_t open) {
    std::size_t unclosed = 0;
    for (at_ = 0; token().kind != TokenKind::End; ++at_) {
      if (token().kind == TokenKind::OpenParen) ++unclosed;
      if (token().kind != TokenKind::CloseParen) continue;
      if (unclosed == 0) return unexpected();
      --unclosed;
    }
    if (unclosed != 0) return unexpected();
    at_ = open;
    return invalid("The expression has redundant parentheses;");
  }

  Result<Part> function() {
    const std::uint16_t position = token().begin;
    const std::string_view name = spelling();
    const auto op =
        kind_ == Kind::Update ? function_named(kUpdateFunctions, name) : function_named(kConditionFunctions, name);
    if (!op) Findings::note(findings_.unknown_function, unknown_function(name));
    ++operators_;
    ++at_;
    if (++depth_ > kMaxNestedGroups) return op ? invalid(too_many_operators()) : invalid(*findings_.unknown_function);
    const std::size_t operands = pending_.size();
    TRY(operand_list());
    --depth_;
    if (op == Op::IfNotExists) check_list_append(pending_.begin() + static_cast<std::ptrdiff_t>(operands) + 1);
    if (op == Op::ListAppend) check_list_append(pending_.begin() + static_cast<std::ptrdiff_t>(operands));
    // An unknown function is refused in the end; until then any known one stands for it.
    return Part{reduce(op.value_or(Op::Size), operands, position), Part::Shape::Function};
  }

  std::string unknown_function(std::string_view name) const {
    if (kind_ == Kind::Update && function_named(kConditionFunctions, name)) {
      return fmt::format("The function is not allowed in an update expression; function: {}", name);
    }
    if (kind_ != Kind::Update && function_named(kUpdateFunctions, name)) {
      return fmt::format("The function is not allowed in a {} expression; function: {}",
                         kind_ == Kind::Filter ? "filter" : "condition", name);
    }
    return fmt::format("Invalid function name; function: {}", name);
  }

  // DynamoDB lets if_not_exists stand inside other functions, and not list_append.
  void check_list_append(std::vector<NodeIndex>::const_iterator first) {
    for (; first != pending_.end(); ++first) {
      if (builder_.tree().nodes[*first].op == Op::ListAppend) note_misuse(Op::ListAppend);
    }
  }

  // ( operand {, operand} ), left on pending_.
  Result<void> operand_list() {
    TRY(expect(TokenKind::OpenParen));
    do {
      pending_.push_back(as_operand(TRY(operand())));
    } while (accept(TokenKind::Comma));
    return expect(TokenKind::CloseParen);
  }

  // ---- paths ----

  Result<NodeIndex> path() {
    const std::uint16_t position = token().begin;
    const NodeIndex node = builder_.path(TRY(name()), position);
    TRY(path_tail(node));
    return node;
  }

  Result<void> path_tail(NodeIndex path) {
    while (true) {
      if (accept(TokenKind::Dot)) {
        builder_.step(path, TRY(name()));
      } else if (accept(TokenKind::OpenBracket)) {
        builder_.step(path, TRY(list_index()));
      } else {
        break;
      }
    }
    const auto elements = builder_.tree().nodes[path].range.count;
    if (elements > kMaxPathElements) {
      Findings::note(findings_.path_limit,
                     fmt::format("The document path has too many nesting levels; nesting levels: {}", elements));
    }
    return {};
  }

  Result<Name> name() {
    const bool is_placeholder = token().kind == TokenKind::Name;
    if (!is_placeholder && (token().kind != TokenKind::Word || at_any_keyword())) return unexpected();
    Name name{std::string(spelling()), is_placeholder};
    if (!is_placeholder && !findings_.reserved_word && is_reserved_word(name.text)) {
      findings_.reserved_word = fmt::format("Attribute name is a reserved keyword; reserved keyword: {}", name.text);
    }
    ++at_;
    return name;
  }

  Result<std::uint32_t> list_index() {
    if (token().kind != TokenKind::Number) return unexpected();
    const std::string_view digits = spelling();
    std::int32_t index = 0;
    if (std::from_chars(digits.data(), digits.data() + digits.size(), index).ec != std::errc()) {
      Findings::note(findings_.path_limit,
                     fmt::format("List index is not within the allowable range; index: [{}]", digits));
    }
    ++at_;
    TRY(expect(TokenKind::CloseBracket));
    return static_cast<std::uint32_t>(index);
  }

  // ---- projections and updates ----

  Result<void> projection() {
    do {
      builder_.projected(TRY(path()));
    } while (accept(TokenKind::Comma));
    return {};
  }

  Result<void> update() {
    std::array<bool, 4> seen{};
    do {
      const auto section = section_here();
      if (!section) return unexpected();
      bool& repeated = seen[static_cast<std::size_t>(*section)];
      if (repeated) {
        Findings::note(
            findings_.repeated_section,
            fmt::format("The \"{}\" section can only be used once in an update expression;", section_name(*section)));
      }
      repeated = true;
      ++at_;
      do {
        builder_.action(TRY(action(*section)));
      } while (accept(TokenKind::Comma));
    } while (token().kind != TokenKind::End);
    return {};
  }

  std::optional<Section> section_here() const {
    for (const Section section : {Section::Set, Section::Remove, Section::Add, Section::Delete}) {
      if (at_keyword(section_name(section))) return section;
    }
    return std::nullopt;
  }

  Result<Action> action(Section section) {
    const NodeIndex target = TRY(path());
    if (section == Section::Remove) return Action{section, target};
    if (section == Section::Set) {
      TRY(expect(TokenKind::Equal));
      const auto value = TRY(sum()).node;
      return Action{section, target, value};
    }
    if (token().kind != TokenKind::Value) return unexpected();
    const auto value = TRY(operand()).node;
    return Action{section, target, value};
  }

  // Condition marks a sum here: it is no operand, so nothing can be added to it.
  Result<Part> sum() {
    const std::size_t operands = pending_.size();
    const std::uint16_t position = token().begin;
    const Part left =
        token().kind == TokenKind::OpenParen ? TRY(parentheses([this] { return sum(); })) : TRY(operand());
    const bool plus = token().kind == TokenKind::Plus;
    if (left.shape == Part::Shape::Condition || (!plus && token().kind != TokenKind::Minus)) return left;
    ++at_;
    ++operators_;
    pending_.push_back(as_operand(left));
    pending_.push_back(as_operand(TRY(operand())));
    return Part{reduce(plus ? Op::Plus : Op::Minus, operands, position), Part::Shape::Condition};
  }

  // ---- building ----

  // The node for `op` and all operands pushed since there were `begin` of them.
  NodeIndex reduce(Op op, std::size_t begin, std::uint16_t position) {
    const NodeIndex node = builder_.node(op, std::span(pending_).subspan(begin), position);
    pending_.resize(begin);
    return node;
  }

  NodeIndex as_operand(const Part& part) {
    const Op op = builder_.tree().nodes[part.node].op;
    if (part.shape == Part::Shape::Function && kind_ != Kind::Update && op != Op::Size) note_misuse(op);
    return part.node;
  }

  NodeIndex as_condition(const Part& part) {
    const Op op = builder_.tree().nodes[part.node].op;
    if (part.shape == Part::Shape::Function && op == Op::Size) note_misuse(op);
    return part.node;
  }

  void note_misuse(Op op) {
    Findings::note(
        findings_.misused_function,
        fmt::format("The function is not allowed to be used this way in an expression; function: {}", op_name(op)));
  }

  // The service stops counting at the first one too many.
  static std::string too_many_operators() {
    return fmt::format("The expression contains too many operators; operator count: {}", kMaxOperators + 1);
  }

  Result<void> report() const {
    const auto& f = findings_;
    const auto operators = operators_ > kMaxOperators ? std::optional(too_many_operators()) : std::nullopt;
    const std::array in_updates = {&f.redundant_parentheses, &f.reserved_word,    &f.unknown_function, &operators,
                                   &f.misused_function,      &f.repeated_section, &f.path_limit};
    const std::array in_others = {&f.redundant_parentheses, &f.unknown_function, &operators,   &f.misused_function,
                                  &f.reserved_word,         &f.repeated_section, &f.path_limit};
    for (const auto* finding : kind_ == Kind::Update ? in_updates : in_others) {
      if (*finding) return invalid(**finding);
    }
    return {};
  }

  const Kind kind_;
  const std::string_view text_;
  const std::vector<Token> tokens_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  std::size_t operators_ = 0;
  TreeBuilder builder_;
  std::vector<NodeIndex> pending_;  // operands read and not yet under a node, innermost last
  Findings findings_;
};

}  // namespace

Result<std::shared_ptr<const Tree>> parse(Kind kind, std::string_view text) {
  const auto invalid = [kind](std::string_view message) {
    return validation_error(fmt::format("Invalid {}: {}", parameter_name(kind), message));
  };
  if (text.size() > kMaxTextBytes) {
    // The service tells the size for two of the five kinds.
    const bool tells_size = kind == Kind::Condition || kind == Kind::Filter;
    return invalid(fmt::format("Expression size has exceeded the maximum allowed size;{}",
                               tells_size ? fmt::format(" expression size: {}", text.size()) : ""));
  }
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) return invalid("The expression can not be empty;");
  return Parser(kind, text).run();
}

}  // namespace stator::expr

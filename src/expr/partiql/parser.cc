#include "stator/expr/partiql/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "stator/expr/parser.h"
#include "stator/expr/partiql/expression_parser.h"

namespace stator::expr::partiql {
namespace {

class Parser : private ExpressionParser {
 public:
  explicit Parser(std::string_view text) : ExpressionParser(text) {}

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

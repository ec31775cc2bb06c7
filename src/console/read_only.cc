#include "stator/console/read_only.h"

#include "stator/client/is_read.h"
#include "stator/http/message/message.h"
#include "stator/value/json.h"

namespace stator::console {
namespace {

bool is_select(value::JsonElement statement) {
  constexpr std::string_view kSelect = "SELECT";
  std::string_view text;
  if (!statement.get(text)) return false;
  const auto start = text.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos) return false;
  text.remove_prefix(start);
  if (!http::equal_ignoring_case(text.substr(0, kSelect.size()), kSelect)) return false;
  return text.size() > kSelect.size() && std::string_view(" \t\r\n*\"").find(text[kSelect.size()]) != text.npos;
}

// A member that is there twice is looked at twice: who takes which of them is not known.
bool only_selects(value::JsonObject request, std::string_view name) {
  bool any = false;
  for (const auto [key, value] : request) {
    if (key != name) continue;
    any = true;
    if (name == "Statement" && !is_select(value)) return false;
    if (name == "Statement") continue;
    if (value.array().size() == 0) return false;
    for (const auto each : value.array()) {
      if (!only_selects(each.object(), "Statement")) return false;
    }
  }
  return any;
}

}  // namespace

bool reads_only(std::string_view operation, std::string_view body) {
  if (client::is_read(operation)) return true;
  const std::string_view member = operation == "ExecuteStatement"        ? "Statement"
                                  : operation == "BatchExecuteStatement" ? "Statements"
                                  : operation == "ExecuteTransaction"    ? "TransactStatements"
                                                                         : "";
  if (member.empty()) return false;
  value::JsonParser parser;
  const auto json = parser.parse(body);
  return json && only_selects(json->object(), member);
}

}  // namespace stator::console

#include "stator/model/check/print.h"

#include <fmt/format.h>

#include <algorithm>

#include "stator/value/json.h"

namespace stator::model {
namespace {

std::string_view severity_name(Severity severity) { return severity == Severity::Error ? "error" : "warning"; }

std::string json_string(std::string_view text) {
  std::string json;
  value::append_json_string(json, text);
  return json;
}

// "[a,\n b]": every element, printed by `print`, on a line of its own.
template <typename T, typename Print>
std::string array(const std::vector<T>& elements, const Print& print) {
  std::string json = "[";
  for (const auto& element : elements) json += fmt::format("{}{}", json.size() == 1 ? "\n" : ",\n", print(element));
  return json + (elements.empty() ? "]" : "\n]");
}

}  // namespace

std::string to_text(const Diagnostic& diagnostic) {
  auto text = fmt::format("{}:{}:{}: {}{}[{}]: {}\n", diagnostic.file, diagnostic.position.line,
                          diagnostic.position.column, diagnostic.accepted.empty() ? "" : "accepted ",
                          severity_name(diagnostic.severity), diagnostic.code, diagnostic.message);
  const auto add = [&](std::string_view word, const std::string& value) {
    if (!value.empty()) text += fmt::format("    {}: {}\n", word, value);
  };
  add("on", diagnostic.subject);
  add("for example", diagnostic.witness);
  if (diagnostic.accepted.empty()) add("fix", diagnostic.fix);
  add("because", diagnostic.accepted);
  return text;
}

std::string to_json(const Diagnostics& diagnostics) {
  return array(diagnostics, [](const Diagnostic& each) {
    return fmt::format(
        R"({{"severity":"{}","code":{},"file":{},"line":{},"column":{},"subject":{},"message":{},"witness":{},"fix":{},"accepted":{}}})",
        severity_name(each.severity), json_string(each.code), json_string(each.file), each.position.line,
        each.position.column, json_string(each.subject), json_string(each.message), json_string(each.witness),
        json_string(each.fix), json_string(each.accepted));
  });
}

std::string to_text(const std::vector<PatternCost>& reads, const std::vector<WriteCost>& writes,
                    const std::vector<CopyCost>& copies) {
  std::size_t widest = 8;
  for (const auto& read : reads) widest = std::max(widest, read.pattern.size());
  for (const auto& write : writes) widest = std::max(widest, write.entity.size());
  for (const auto& copy : copies) widest = std::max(widest, copy.source.size());
  auto text = fmt::format("{:{}}  {:>8}  {:>6}  {:>6}  {}\n", "one page", widest, "requests", "rows", "RCU", "reads");
  for (const auto& read : reads) {
    text += fmt::format("{:{}}  {:>8}  {:>6}  {:>6.1f}  {}\n", read.pattern, widest, read.requests, read.items_read,
                        read.read_units, read.reads);
  }
  text += fmt::format("\n{:{}}  {:>8}  {:>6}  {:>6}\n", "a create", widest, "rows", "index", "WCU");
  for (const auto& write : writes) {
    text += fmt::format("{:{}}  {:>8}  {:>6}  {:>6.0f}\n", write.entity, widest, write.rows, write.index_entries,
                        write.write_units);
  }
  if (copies.empty()) return text;
  text +=
      fmt::format("\n{:{}}  {:>8}  {:>6}  {:>6}  {}\n", "a change", widest, "rows", "index", "WCU", "of each child");
  for (const auto& copy : copies) {
    text += fmt::format("{:{}}  {:>8}  {:>6}  {:>6.0f}  {}\n", copy.source, widest, copy.rows, copy.index_entries,
                        copy.write_units, copy.copy);
  }
  return text;
}

std::string to_json(const std::vector<PatternCost>& reads, const std::vector<WriteCost>& writes,
                    const std::vector<CopyCost>& copies) {
  const auto read = [](const PatternCost& each) {
    return fmt::format(R"({{"pattern":{},"reads":{},"requests":{},"itemsRead":{},"readUnits":{}}})",
                       json_string(each.pattern), json_string(each.reads), each.requests, each.items_read,
                       each.read_units);
  };
  const auto write = [](const WriteCost& each) {
    return fmt::format(R"({{"entity":{},"rows":{},"indexEntries":{},"writeUnits":{}}})", json_string(each.entity),
                       each.rows, each.index_entries, each.write_units);
  };
  const auto copy = [](const CopyCost& each) {
    return fmt::format(R"({{"source":{},"copy":{},"rows":{},"indexEntries":{},"writeUnits":{}}})",
                       json_string(each.source), json_string(each.copy), each.rows, each.index_entries,
                       each.write_units);
  };
  return fmt::format(R"({{"patterns":{},"creates":{},"copies":{}}})", array(reads, read), array(writes, write),
                     array(copies, copy));
}

}  // namespace stator::model

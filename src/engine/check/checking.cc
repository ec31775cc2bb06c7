#include "stator/engine/check/checking.h"

#include <fmt/format.h>

#include <algorithm>

#include "stator/engine/item_rules.h"
#include "stator/value/json.h"
#include "stator/value/well_formed.h"

namespace stator::engine {
namespace {

constexpr std::uint64_t kStepsPerReport = 1024;
constexpr std::size_t kMendAtOnce = 256;
constexpr std::size_t kShownKeyBytes = 48;
constexpr std::size_t kShownTextBytes = 400;

}  // namespace

void Checking::find(Finding finding) {
  auto& total = report_.totals[static_cast<std::size_t>(finding.kind)];
  if (++total > CheckReport::kMaxFindings) return;
  if (finding.key.size() > kShownTextBytes) finding.key = finding.key.substr(0, kShownTextBytes) + "...";
  if (finding.what.size() > kShownTextBytes) finding.what = finding.what.substr(0, kShownTextBytes) + "...";
  for (auto* text : {&finding.key, &finding.what}) {
    // A store's message may contain bytes of a key, and a shortened one may end inside a character.
    if (value::check_text(*text)) continue;
    std::replace_if(text->begin(), text->end(), [](char c) { return (c & 0x80) != 0; }, '?');
  }
  report_.findings.push_back(std::move(finding));
}

void Checking::find(FindingKind kind, const Table& table, const Index* index, std::string key, std::string what) {
  find({.kind = kind,
        .table = table.name,
        .index = index != nullptr ? index->name : std::string(),
        .key = std::move(key),
        .what = std::move(what)});
}

Result<void> Checking::step() {
  ++report_.records;
  if (++steps_ % kStepsPerReport != 0 || !options_.progress) return {};
  if (options_.progress({CheckProgress::Stage::Records, report_.records, expected_})) return {};
  return Error{ErrorCode::Busy, "the check was ended"};
}

void Checking::find_unreadable(std::string_view table, const Error& error) {
  // Keys after it are not read.
  find({.kind = FindingKind::Unreadable,
        .table = std::string(table),
        .index = {},
        .key = {},
        .what = error.message + (table.empty() ? "" : "; what depends on it is not counted and not compared")});
}

Checking::Looked Checking::look(BytesView key, std::string_view table) {
  auto found = snapshot_.get(key);
  if (found) return {.value = std::move(*found)};
  find_unreadable(table, found.error());
  return {.value = {}, .unreadable = true};
}

void Checking::put(KeyBytes key, Bytes value) {
  if (repairs()) mending_.put(std::move(key), std::move(value));
}

void Checking::erase(KeyBytes key) {
  if (repairs()) mending_.erase(std::move(key));
}

Result<void> Checking::mend_now() {
  if (!repairs()) mending_ = {};
  if (mending_.empty()) return {};
  const auto changes = mending_.operations().size();
  TRY(mends_->commit(std::exchange(mending_, {})));
  report_.repaired += changes;
  return {};
}

Result<void> Checking::mend_if_many() {
  return mending_.operations().size() >= kMendAtOnce ? mend_now() : Result<void>();
}

std::string key_text(const Table& table, const value::Item& item) {
  value::Item key;
  table.keys.for_each([&](const KeyAttribute& attribute) {
    if (const auto* field = item.find(attribute.name)) key.set(attribute.name, *field);
  });
  std::string text;
  value::append_json(text, key);
  return text;
}

std::string key_text(BytesView key) {
  return hex(key.substr(0, kShownKeyBytes)) + (key.size() > kShownKeyBytes ? " ..." : "");
}

std::optional<std::string> key_problem(const Table& table, const value::Item& item) {
  std::optional<std::string> problem;
  table.keys.for_each([&](const KeyAttribute& attribute) {
    if (problem) return;
    const auto* field = item.find(attribute.name);
    if (field == nullptr) {
      problem = fmt::format("the key attribute {} is missing", attribute.name);
    } else if (field->type() != attribute.type) {
      problem = fmt::format("the key attribute {} has the type {} and not {}", attribute.name,
                            value::type_name(field->type()), value::type_name(attribute.type));
    } else if (key_value_size(*field) == 0) {
      problem = fmt::format("the key attribute {} is empty", attribute.name);
    }
  });
  if (!problem && !check_key_sizes(table.keys, item)) problem = "a key attribute is longer than a key may be";
  return problem;
}

}  // namespace stator::engine

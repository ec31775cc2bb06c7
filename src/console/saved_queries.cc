#include "stator/console/saved_queries.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "stator/console/time_text.h"
#include "stator/value/json.h"

namespace stator::console {
namespace {

constexpr std::size_t kMostIdBytes = 64;
constexpr std::size_t kMostWordBytes = 255;  // of a name, a kind, a table, a time

bool is_id(std::string_view id) {
  return !id.empty() && id.size() <= kMostIdBytes && std::ranges::all_of(id, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_';
  });
}

// The text of that member; empty when it is absent.  Errors: Validation.
Result<std::string_view> word(value::JsonObject object, std::string_view name) {
  const auto element = object[name];
  std::string_view text;
  if (!element || element.is_null()) return text;
  if (!element.get(text) || text.size() > kMostWordBytes) {
    return validation_error(fmt::format("{} must be a text of at most {} bytes.", name, kMostWordBytes));
  }
  return text;
}

void append_items(std::string& out, std::string_view name, const auto& items) {
  value::append_json_string(out, name);
  out += ":[";
  bool first = true;
  for (const auto& each : items) {
    if (!std::exchange(first, false)) out += ',';
    out += each;
  }
  out += ']';
}

}  // namespace

Result<SavedQueries::Entry> SavedQueries::read(std::string_view id, std::string_view json) const {
  const Error too_large{ErrorCode::LimitExceeded, fmt::format("An entry has at most {} bytes.", kMostEntryBytes)};
  if (json.size() > kMostEntryBytes) return too_large;
  value::JsonParser parser;
  const auto parsed = parser.parse(json);
  if (!parsed || !parsed->is_object()) return validation_error("The body must be a JSON object.");
  const auto object = parsed->object();
  const auto kind = TRY(word(object, "kind"));
  const auto name = TRY(word(object, "name"));
  const auto table = TRY(word(object, "table"));
  const auto at = TRY(word(object, "at"));
  if (id.empty()) id = TRY(word(object, "id"));
  if (!is_id(id)) return validation_error("An id has 1 to 64 letters, digits, '-' and '_'.");
  if (kind.empty()) return validation_error("kind must say what it is, such as \"query\".");
  Entry entry{.name = std::string(name), .json = {}};
  value::JsonWriter writer(entry.json);
  writer.begin_object().key("id").string(id).key("kind").string(kind).key("name").string(name);
  if (!table.empty()) writer.key("table").string(table);
  const auto body = object["body"];
  writer.key("body").raw(body ? value::json_text(body) : "null");
  writer.key("at").string(at.empty() ? time_text(clock_.now()) : std::string(at)).end_object();
  // As it is stored, so that it can be read back.
  if (entry.json.size() > kMostEntryBytes) return too_large;
  return entry;
}

Result<void> SavedQueries::load_shared(SavedQueries& into) const {
  if (const auto text = TRY(shared_->read())) TRY(into.load(*text));
  return {};
}

Result<void> SavedQueries::change_shared(const std::function<Result<void>(SavedQueries&)>& change) {
  return shared_->change([&](const std::optional<std::string>& text) -> Result<std::string> {
    SavedQueries all(clock_);
    if (text) TRY(all.load(*text));
    TRY(change(all));
    MutexLock lock(all.mutex_);
    return all.text();
  });
}

Result<std::string> SavedQueries::saved() const {
  if (shared_) {
    SavedQueries all(clock_);
    TRY(load_shared(all));
    return all.saved();
  }
  MutexLock lock(mutex_);
  std::vector<const Entry*> entries;
  for (const auto& [id, entry] : saved_) entries.push_back(&entry);
  std::ranges::stable_sort(entries, {}, [](const Entry* entry) -> const std::string& { return entry->name; });
  std::vector<std::string_view> texts;
  texts.reserve(entries.size());
  for (const auto* entry : entries) texts.emplace_back(entry->json);
  std::string out = "{";
  append_items(out, "items", texts);
  out += '}';
  return out;
}

Result<std::string> SavedQueries::history() const {
  if (shared_) {
    SavedQueries all(clock_);
    TRY(load_shared(all));
    return all.history();
  }
  MutexLock lock(mutex_);
  std::string out = "{";
  append_items(out, "items", history_);
  out += '}';
  return out;
}

Result<void> SavedQueries::save(std::string_view id, std::string_view json) {
  if (shared_) return change_shared([&](SavedQueries& all) { return all.save(id, json); });
  auto entry = TRY(read(id, json));
  MutexLock lock(mutex_);
  const auto found = saved_.find(id);
  const auto before = found == saved_.end() ? 0 : found->second.json.size();
  const auto bytes = saved_bytes_ - before + entry.json.size();
  if ((found == saved_.end() && saved_.size() >= kMostSaved) || bytes > kMostSavedBytes) {
    return Error{ErrorCode::LimitExceeded,
                 fmt::format("There are at most {} saved queries, of {} MB together; delete some first.", kMostSaved,
                             kMostSavedBytes >> 20)};
  }
  const auto former = saved_;
  saved_.insert_or_assign(std::string(id), std::move(entry));
  if (auto kept = keep(); !kept) {
    saved_ = former;
    return kept;
  }
  saved_bytes_ = bytes;
  return {};
}

Result<void> SavedQueries::remove(std::string_view id) {
  if (shared_) return change_shared([&](SavedQueries& all) { return all.remove(id); });
  MutexLock lock(mutex_);
  const auto found = saved_.find(id);
  if (found == saved_.end()) return Error{ErrorCode::ResourceNotFound, "There is no saved query of that id."};
  auto removed = saved_.extract(found);
  if (auto kept = keep(); !kept) {
    saved_.insert(std::move(removed));
    return kept;
  }
  saved_bytes_ -= removed.mapped().json.size();
  return {};
}

Result<void> SavedQueries::append_history(std::string_view json) {
  if (shared_) return change_shared([&](SavedQueries& all) { return all.append_history(json); });
  auto entry = TRY(read({}, json));
  MutexLock lock(mutex_);
  const Undo undo{.history = history_, .bytes = history_bytes_};
  history_bytes_ += entry.json.size();
  history_.push_front(std::move(entry.json));
  while (history_.size() > kMostHistory || history_bytes_ > kMostHistoryBytes) {
    history_bytes_ -= history_.back().size();
    history_.pop_back();
  }
  return keep_or(undo);
}

Result<void> SavedQueries::clear_history() {
  if (shared_) return change_shared([](SavedQueries& all) { return all.clear_history(); });
  MutexLock lock(mutex_);
  const Undo undo{.history = history_, .bytes = history_bytes_};
  history_.clear();
  history_bytes_ = 0;
  return keep_or(undo);
}

Result<void> SavedQueries::load(std::string_view text) {
  value::JsonParser parser;
  const auto json = parser.parse(text);
  if (!json || !json->is_object()) return validation_error("it is not a JSON object");
  MutexLock lock(mutex_);
  for (const auto each : (*json)["saved"].array()) {
    auto entry = TRY(read({}, value::json_text(each)));
    const auto id = each.object().get<std::string_view>("id").value_or("");
    saved_bytes_ += entry.json.size();
    saved_.insert_or_assign(std::string(id), std::move(entry));
  }
  for (const auto each : (*json)["history"].array()) {
    auto entry = TRY(read({}, value::json_text(each)));
    history_bytes_ += entry.json.size();
    history_.push_back(std::move(entry.json));
  }
  return {};
}

Result<void> SavedQueries::keep() {
  if (!write_) return {};
  return write_(text());
}

Result<void> SavedQueries::keep_or(const Undo& undo) {
  auto kept = keep();
  if (!kept) {
    history_ = undo.history;
    history_bytes_ = undo.bytes;
  }
  return kept;
}

std::string SavedQueries::text() const {
  std::vector<std::string_view> saved;
  for (const auto& [id, entry] : saved_) saved.emplace_back(entry.json);
  std::string out = "{";
  append_items(out, "saved", saved);
  out += ",\n";
  append_items(out, "history", history_);
  return out + "}\n";
}

}  // namespace stator::console

#include "stator/systems/stories/import_report.h"

#include "stator/model/problem_list.h"
#include "stator/systems/stories/story_access.h"

namespace stator::systems::stories {
namespace {

std::string_view word(ImportReport::What what) {
  switch (what) {
    case ImportReport::What::Changed: return "changed";
    case ImportReport::What::Kept: return "kept";
    default: return "dropped";
  }
}

}  // namespace

void ImportReport::add(What what, std::string_view passage, std::size_t line, std::string message) {
  if (notes_.size() == kMostNotes) {
    ++more_;
    return;
  }
  notes_.push_back({.what = what, .passage = model::shown_name(passage), .line = line, .message = std::move(message)});
}

void ImportReport::count(const value::Item& node) {
  ++nodes_;
  responses_ += responses_of(node).size();
}

void ImportReport::append(value::JsonWriter& json) const {
  const auto number = [&](std::string_view name, std::size_t count) {
    json.key(name).integer(static_cast<std::int64_t>(count));
  };
  json.begin_object();
  number("nodes", nodes_);
  number("responses", responses_);
  json.key("notes").begin_array();
  for (const auto& note : notes_) {
    json.begin_object().key("what").string(word(note.what));
    if (!note.passage.empty()) json.key("passage").string(note.passage);
    if (note.line > 0) number("line", note.line);
    json.key("message").string(note.message).end_object();
  }
  json.end_array();
  if (more_ > 0) number("moreNotes", more_);
  json.end_object();
}

}  // namespace stator::systems::stories

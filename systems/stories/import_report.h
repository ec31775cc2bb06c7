#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "stator/value/attribute_value.h"
#include "stator/value/json.h"

namespace stator::systems::stories {

// The result of importing a document: how much was imported, and which parts were left out or changed.  Short, even for
// a large document.
class ImportReport {
 public:
  static constexpr std::size_t kMostNotes = 100;

  enum class What : std::uint8_t {
    Dropped,  // it is not in the story
    Changed,  // it is in the story, in another form
    Kept,     // it is in the story as text, and means nothing there
  };

  // `line`: of the document, from 1; 0 when it has none.  An empty passage: the note is about the whole story.
  void add(What what, std::string_view passage, std::size_t line, std::string message);
  void count(const value::Item& node);

  // {"nodes": 2, "responses": 3, "notes": [{"what": "dropped", "passage": "Hall", "line": 7, "message": "..."}]}, and
  // "moreNotes": the number of the other notes.
  void append(value::JsonWriter& json) const;

 private:
  struct Note {
    What what = What::Dropped;
    std::string passage;
    std::size_t line = 0;
    std::string message;
  };

  std::vector<Note> notes_;
  std::size_t more_ = 0;
  std::size_t nodes_ = 0;
  std::size_t responses_ = 0;
};

}  // namespace stator::systems::stories

#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stator/base/result.h"
#include "stator/systems/stories/import_report.h"
#include "stator/value/attribute_value.h"
#include "stator/value/number.h"

// Stories as Twine and its relatives know them: passages with links, in Twee 3 (twee.h) or in HTML (twine_archive.h).
namespace stator::systems::stories {

// A node holds less than these.
inline constexpr std::size_t kMostPassages = 10'000;  // of a file
inline constexpr std::size_t kMostPassageBytes = std::size_t{512} << 10;
inline constexpr std::size_t kMostNameBytes = 1024;
inline constexpr std::size_t kMostLinks = 1000;  // of a passage

struct TweeLink {
  std::string text;
  std::string target;       // a passage's name
  std::string setter = {};  // "$coins to 5"
  std::size_t line = 0;     // of the file

  friend bool operator==(const TweeLink& a, const TweeLink& b) {
    return a.text == b.text && a.target == b.target && a.setter == b.setter;
  }
};

// "600,400", as Twine writes where a passage is on its map, and how large.
using NumberPair = std::pair<value::Number, value::Number>;

struct TweePassage {
  std::string name;
  std::vector<std::string> tags;
  std::string text;  // with the text of its links
  std::vector<TweeLink> links;
  std::optional<NumberPair> position = {};
  std::optional<NumberPair> size = {};
  std::size_t line = 0;   // of the file, where it begins
  std::size_t story = 0;  // of the file's stories

  bool has_tag(std::string_view tag) const;

  friend bool operator==(const TweePassage& a, const TweePassage& b) {
    return a.name == b.name && a.tags == b.tags && a.text == b.text && a.links == b.links && a.position == b.position &&
           a.size == b.size;
  }
};

struct TweeStory {
  std::string title;
  std::string ifid;   // the story's identity in the world of interactive fiction: an upper-case UUID
  std::string start;  // a passage's name
  std::vector<TweePassage> passages;
  std::string format = {};  // SugarCube, Harlowe, ...
  std::string format_version = {};
  std::optional<value::Number> zoom = {};
  std::map<std::string, std::string> tag_colors = {};
  value::Item variables = {};  // at the start

  friend bool operator==(const TweeStory&, const TweeStory&) = default;
};

// Reads a file passage by passage, and holds one of them.  Passages of scripts and styles are left out, and StoryInit
// becomes variables.  Confined to one thread.
class PassageReader {
 public:
  virtual ~PassageReader() = default;

  // The next passage; nullopt when there is no more.  Bounds: those above.  Errors: Validation, with the line; those of
  // the source.
  virtual Result<std::optional<TweePassage>> next() = 0;

  // The stories of the file without their passages; complete when there are no more passages.
  const std::vector<TweeStory>& stories() const { return stories_; }
  // The parts that the reader left out.  Its users add the parts that they leave out.
  ImportReport& report(std::size_t story) { return reports_[story]; }

 protected:
  TweeStory& begin_story();
  TweeStory& story() { return stories_.back(); }
  void note(ImportReport::What what, std::string_view passage, std::size_t line, std::string message) {
    reports_.back().add(what, passage, line, std::move(message));
  }

  // Takes the links out of the body, which begins in the line `body_line`.  nullopt: it is no passage of the story.
  Result<std::optional<TweePassage>> finish(TweePassage passage, std::string_view body, std::size_t body_line);
  Result<void> check_name(const TweePassage& passage) const;
  // Of text such as "600,400".  Another text is noted.
  std::optional<NumberPair> read_pair(std::string_view text, std::string_view what, const TweePassage& passage);

 private:
  std::vector<TweeStory> stories_;
  std::vector<ImportReport> reports_;
  std::size_t passages_ = 0;
};

// Without the white space around it, line breaks included.
std::string_view trim_lines(std::string_view text);
// The same with spaces for the line breaks and tabs inside it, as names are.
std::string one_line(std::string_view text);
std::vector<std::string> words_of(std::string_view text);

}  // namespace stator::systems::stories

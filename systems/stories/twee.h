#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stator/base/byte_source.h"
#include "stator/base/result.h"

namespace stator::systems::stories {

struct TweeLink {
  std::string text;
  std::string target;  // a passage's name
  friend bool operator==(const TweeLink&, const TweeLink&) = default;
};

struct TweePassage {
  std::string name;
  std::vector<std::string> tags;
  std::string text;  // without its links
  std::vector<TweeLink> links;
  friend bool operator==(const TweePassage&, const TweePassage&) = default;
};

struct TweeStory {
  std::string title;
  std::string ifid;   // the story's identity in the world of interactive fiction: an upper-case UUID
  std::string start;  // a passage's name
  std::vector<TweePassage> passages;
  friend bool operator==(const TweeStory&, const TweeStory&) = default;
};

// Reads Twee 3 passage by passage, and holds one of them.  Passages of scripts and styles are left out.  Confined to
// one thread.
class TweeReader {
 public:
  explicit TweeReader(ByteSource& source) : source_(source) {}  // outlives the reader

  // The next passage; nullopt when there is no more.  Bounds: 10,000 passages, and what a node of a story can hold.
  // Errors: Validation, with the line; those of the source.
  Result<std::optional<TweePassage>> next();

  // Known when there is no more.  The start is StoryData's, else the passage called Start, else the first.
  const std::string& title() const { return title_; }
  const std::string& ifid() const { return ifid_; }
  const std::string& start() const;

 private:
  bool next_line();  // a line, or as much of one as is held at once; false at the end
  Result<bool> take_line();
  Result<void> add_to_body(std::string_view text);
  Result<bool> end_passage();
  bool is_skipped() const;
  Error error(std::string_view problem) const;

  ByteSource& source_;
  std::optional<Error> failure_;  // of the source
  std::string_view piece_;        // what is left of it
  std::string line_;
  std::size_t line_number_ = 0;
  bool whole_ = true;                   // line_ goes to the end of its line
  bool begins_ = true;                  // line_ is the beginning of its line
  std::optional<TweePassage> passage_;  // that is being read
  std::string body_;
  std::optional<TweePassage> finished_;
  std::size_t count_ = 0;
  std::string title_, ifid_, start_, first_;
  bool has_start_ = false;  // a passage called Start
};

// Reads Twee 3 as a whole.  Passages of scripts and styles are left out.  The start is StoryData's, else the passage
// called Start, else the first.  Bounds: 10,000 passages.  Errors: Validation, with the line.
Result<TweeStory> read_twee(std::string_view text);

// Writes Twee 3 that reads back as the same, except that a space stands in texts where they would look like markup. The
// names of passages hold no [[, ]], ->, <- or |: links could not name them.
std::string write_twee(const TweeStory& story);

}  // namespace stator::systems::stories

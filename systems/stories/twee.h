#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "stator/base/byte_source.h"
#include "stator/base/result.h"
#include "stator/systems/stories/passage_reader.h"

// Twee 3, as https://github.com/iftechfoundation/twine-specs describes it.
namespace stator::systems::stories {

class TweeReader final : public PassageReader {
 public:
  explicit TweeReader(ByteSource& source);  // outlives the reader

  // Bounds: 64 KB for a header and for StoryData.
  Result<std::optional<TweePassage>> next() override;

 private:
  bool next_line();  // a line, or as much of one as is held at once; false at the end
  Result<void> take_line();
  Result<void> begin_passage(std::string_view header);
  Result<void> add_to_body(std::string_view text);
  Result<void> end_passage();
  void read_metadata(std::string_view json, TweePassage& passage);
  void read_story_data(std::string_view json, const TweePassage& passage);
  void decide_start();
  Error error(std::string_view problem) const;

  ByteSource& source_;
  std::optional<Error> failure_;  // of the source
  std::string_view piece_;        // the unread rest of it
  std::string line_;
  std::size_t line_number_ = 0;
  bool whole_ = true;                   // line_ goes to the end of its line
  bool begins_ = true;                  // line_ is the beginning of its line
  std::optional<TweePassage> passage_;  // that is being read
  std::string body_;
  std::optional<TweePassage> finished_;
  std::string first_;       // the first passage
  bool has_start_ = false;  // a passage called Start
};

// Writes Twee 3 that reads back as the same, except that a space stands in texts where they would look like markup. The
// names of passages hold no [[, ]], ->, <- or |: links could not name them.
std::string write_twee(const TweeStory& story);

}  // namespace stator::systems::stories

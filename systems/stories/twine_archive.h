#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "stator/base/byte_source.h"
#include "stator/base/result.h"
#include "stator/systems/stories/passage_reader.h"

namespace stator::systems::stories {

inline constexpr std::size_t kMostStories = 40;  // of a file

// Reads the HTML that Twine 2 publishes and archives: any number of stories, anywhere in a page.
//
//   <tw-storydata name="The cave" startnode="1" ifid="..." format="Harlowe" format-version="3.3.8" zoom="1">
//     <style ...>...</style> <script ...>...</script> <tw-tag name="dark" color="red"></tw-tag>
//     <tw-passagedata pid="1" name="Mouth" tags="dark" position="600,400" size="100,100">text</tw-passagedata>
//   </tw-storydata>
//
// Bounds: kMostStories, and 64 KB for a tag.  Nothing is nested, so nesting costs no time or memory.
class TwineReader final : public PassageReader {
 public:
  explicit TwineReader(ByteSource& source) : source_(source) {}  // outlives the reader

  // Errors: Validation, too, when there is no story.
  Result<std::optional<TweePassage>> next() override;

 private:
  using Attributes = std::map<std::string, std::string, std::less<>>;

  std::optional<char> peek();
  std::optional<char> take();
  // Skips to the end of the next `wanted`, which begins with a character that it has only there.  False at the end.
  bool skip_past(std::string_view wanted);
  void skip_comment();
  std::string tag_name();
  Result<Attributes> attributes();
  Result<std::string> attribute_value(std::size_t& bytes);
  Result<void> begin_tag_story();
  Result<void> tag_color();
  Result<void> code(const std::string& name);
  Result<std::optional<TweePassage>> passage();
  Error error(std::string_view problem) const;

  ByteSource& source_;
  std::optional<Error> failure_;  // of the source
  std::string_view piece_;        // the unread rest of it
  std::size_t line_ = 1;
  bool in_story_ = false;
  std::string start_;  // the pid of the story's start
};

// &amp; &lt; &gt; &quot; &apos; &nbsp; and numbers as the characters that they stand for.
std::string decode_entities(std::string_view text);

}  // namespace stator::systems::stories

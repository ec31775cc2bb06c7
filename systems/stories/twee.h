#pragma once

#include <string>
#include <string_view>
#include <vector>

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

// Reads Twee 3.  Passages of scripts and styles are left out.  The start is StoryData's, else the passage called Start, else the
// first.  Bounds: 10,000 passages.  Errors: Validation, with the line.
Result<TweeStory> read_twee(std::string_view text);

// Writes Twee 3 that reads back as the same, except that a space stands in texts where they would look like markup.  The names of
// passages hold no [[, ]], ->, <- or |: links could not name them.
std::string write_twee(const TweeStory& story);

}  // namespace stator::systems::stories

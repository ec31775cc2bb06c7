#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stator/systems/stories/passage_reader.h"

// Links in the text of a passage:
//
//   [[text->target]]  [[target<-text]]  [[text|target]]  [[target]]  [[text|target][$coins to 5]]
//
// The text of a link stays where it stands.  Links that are not part of the text stand behind it, one on each line, and
// a comment that no reader of the story sees is the last line.
namespace stator::systems::stories {

// Gives the passage its text and links.  `line`: of the file, where the body begins.  Errors: Validation, with the
// line, when there are more than kMostLinks.
Result<void> read_links(std::string_view body, std::size_t line, TweePassage& passage);

// The body from which read_links() makes this text and these links.  A space keeps text from looking like markup, since
// Twee has no escapes there.
std::string write_links(std::string_view text, const std::vector<TweeLink>& links);

}  // namespace stator::systems::stories

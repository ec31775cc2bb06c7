#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "stator/base/byte_source.h"
#include "stator/systems/stories/twee.h"

// For tests and the fuzzer.
namespace stator::systems::stories {

// Reads Twee 3 as a whole.
inline Result<TweeStory> read_twee(std::string_view text) {
  TextSource source(text);
  TweeReader reader(source);
  std::vector<TweePassage> passages;
  while (auto passage = TRY(reader.next())) passages.push_back(std::move(*passage));
  auto story = reader.stories().front();
  story.passages = std::move(passages);
  return story;
}

}  // namespace stator::systems::stories

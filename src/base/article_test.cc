#include "stator/base/article.h"

#include <gtest/gtest.h>

namespace stator {
namespace {

TEST(Article, FollowsTheSoundOfTheNoun) {
  for (const auto* noun : {"BOOK", "USER", "Unit", "url", "EUROPEAN", "one_time_code", "UUID", "HOUSE", "4th"}) {
    EXPECT_EQ(with_article(noun), "a " + std::string(noun));
  }
  for (const auto* noun : {"ISSUE", "ORG", "UPLOAD", "update", "UNDO", "HOUR", "EVENT", "UNINSTALL"}) {
    EXPECT_EQ(with_article(noun), "an " + std::string(noun));
  }
}

}  // namespace
}  // namespace stator

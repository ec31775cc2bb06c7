#include "stator/http/message/message.h"

#include <gtest/gtest.h>

namespace stator::http {
namespace {

TEST(MediaType, IsAContentTypeWithoutItsParameters) {
  struct Case {
    std::string_view content_type, type;
  };
  for (const auto& [content_type, type] :
       {Case{"", ""}, Case{"application/json", "application/json"}, Case{"Text/CSV", "Text/CSV"},
        Case{"application/json; charset=utf-8", "application/json"}, Case{"text/csv  ;header=present", "text/csv"},
        Case{"; charset=utf-8", ""}}) {
    EXPECT_EQ(media_type(content_type), type) << content_type;
  }
}

}  // namespace
}  // namespace stator::http

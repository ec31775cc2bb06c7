#include "stator/model/types/isbn.h"

#include <gtest/gtest.h>

namespace stator::model {
namespace {

TEST(Isbn, TakesBothFormsWithOrWithoutDashes) {
  EXPECT_EQ(normal_isbn("0-306-40615-2"), "0306406152");
  EXPECT_EQ(normal_isbn("978 0 306 40615 7"), "9780306406157");
  EXPECT_EQ(normal_isbn("080442957x"), "080442957X");
}

TEST(Isbn, RefusesWhatItsChecksumDoesNotFit) {
  for (const auto* text : {"0306406153", "9780306406158", "080442957", "X804429570", "97803064061570", "", "abcdefghij",
                           "1234567890123"}) {
    EXPECT_EQ(normal_isbn(text), std::nullopt) << text;
  }
}

TEST(Isbn, KnowsThatBothFormsAreOneBook) {
  EXPECT_EQ(isbn13("0306406152"), "9780306406157");
  EXPECT_EQ(isbn13("9780306406157"), "9780306406157");
}

}  // namespace
}  // namespace stator::model

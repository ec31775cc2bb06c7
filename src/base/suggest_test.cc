#include "stator/base/suggest.h"

#include <gtest/gtest.h>

#include <array>

namespace stator {
namespace {

constexpr std::array<std::string_view, 4> kWords = {"port", "console_port", "data", "durability"};

TEST(Closest, FindsTheWordThatWasMeant) {
  EXPECT_EQ(closest("prot", kWords), "port");
  EXPECT_EQ(closest("durabilty", kWords), "durability");
  EXPECT_EQ(closest("consoleport", kWords), "console_port");
  EXPECT_EQ(closest("dur", kWords), "durability");
  EXPECT_EQ(closest("datadir", kWords), "data");
}

TEST(Closest, IsSilentWhenNothingIsClose) {
  EXPECT_EQ(closest("replication", kWords), std::nullopt);
  EXPECT_EQ(closest("", kWords), std::nullopt);
  EXPECT_EQ(closest(std::string(100'000, 'p'), kWords), std::nullopt);
  EXPECT_EQ(closest("port", {}), std::nullopt);
}

TEST(DidYouMean, EndsAMessage) {
  EXPECT_EQ(did_you_mean("prot", kWords), "; did you mean port?");
  EXPECT_EQ(did_you_mean("replication", kWords), "");
}

}  // namespace
}  // namespace stator

#include "stator/systems/shops/public_suffix.h"

#include <gtest/gtest.h>

namespace stator::systems::shops {
namespace {

TEST(PublicSuffix, IsADomainBelowWhichOthersRegisterNames) {
  for (const auto* suffix : {"com", "co.uk", "github.io", "localhost", "xn--55qx5d.cn", "xn--p1ai"})
    EXPECT_TRUE(is_public_suffix(suffix)) << suffix;
}

TEST(PublicSuffix, IsNoNameThatSomebodyRegistered) {
  for (const auto* domain : {"example.com", "example.co.uk", "shop.github.io", "my_shop.example.com",
                             "shop.xn--55qx5d.cn", "shop.example", "xn--mller-kva.de", "127.0.0.1"})
    EXPECT_FALSE(is_public_suffix(domain)) << domain;
}

}  // namespace
}  // namespace stator::systems::shops

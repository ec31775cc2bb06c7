#include <gtest/gtest.h>
TEST(Expr, Links) {}

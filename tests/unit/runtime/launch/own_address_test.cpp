// Which address others reach this host by.
#include "runtime/launch/world/own_address.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

TEST(OwnAddress, LoopbackIsNoneThatOthersReach) {
  EXPECT_EQ(address_towards("127.0.0.1"), "");
  EXPECT_EQ(address_towards("127.0.1.1"), "");
  EXPECT_EQ(address_towards("::1"), "");
}

TEST(OwnAddress, OfNoHostIsNone) { EXPECT_EQ(address_towards("not a name"), ""); }

}  // namespace
}  // namespace lockstep

#include "runtime/run/progress/item_pace.h"

#include <gtest/gtest.h>

#include "fakes/fake_clock.h"

namespace lockstep {
namespace {

class ItemPaceTest : public ::testing::Test {
 protected:
  void predict(double bytes, double seconds) {
    pace.begin(bytes);
    clock.advance(seconds);
    pace.end();
  }
  FakeClock clock;
  ItemPace pace{clock, /*ends_s=*/100, /*expected_s=*/0};
};

TEST_F(ItemPaceTest, TheFirstIsBegunWhereNothingIsKnown) {
  EXPECT_TRUE(pace.fits(1e9));
  clock.advance(99.5);
  EXPECT_FALSE(pace.fits(1));
}

TEST_F(ItemPaceTest, GoesByTheBytesOfThoseBefore) {
  predict(100, 20);
  predict(300, 40);  // 0.15 s a byte, and 60 s are gone
  EXPECT_TRUE(pace.fits(250));
  EXPECT_FALSE(pace.fits(270)) << "40 s, and the ranks need a moment to leave";
}

TEST_F(ItemPaceTest, GoesByTheLongestWhereBytesTellNothing) {
  predict(0, 10);
  predict(0, 30);
  EXPECT_TRUE(pace.fits(0));
  predict(0, 31);
  EXPECT_FALSE(pace.fits(0)) << "29 s are left";
}

TEST_F(ItemPaceTest, GoesByWhatIsKnownUntilOneIsDone) {
  ItemPace known(clock, 100, 120);
  EXPECT_FALSE(known.fits(5));
}

TEST_F(ItemPaceTest, EverythingFitsWithoutALimit) {
  ItemPace endless(clock, 0, 120);
  clock.advance(1e6);
  EXPECT_TRUE(endless.fits(1e12));
}

}  // namespace
}  // namespace lockstep

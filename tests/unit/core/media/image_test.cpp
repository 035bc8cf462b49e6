#include "core/media/pictures/image.h"

#include <gtest/gtest.h>

#include "fakes/error_of.h"

namespace lockstep {
namespace {

Image grey(std::initializer_list<std::uint8_t> values) {
  Image image({.height = 1, .width = static_cast<int>(values.size()), .channels = 1});
  std::copy(values.begin(), values.end(), image.u8().begin());
  return image;
}

TEST(Image, BeginsBlackAndKnowsItsSize) {
  const Image image({.height = 2, .width = 3, .channels = 4, .bits = 16});
  EXPECT_EQ(image.u16().size(), 24u);
  EXPECT_EQ(image.u16()[23], 0);
  EXPECT_EQ(describe(image.shape()), "3 x 2, RGB and alpha, 16 bits");
}

TEST(Image, RefusesShapesThatNoPictureHas) {
  EXPECT_EQ(
      error_of([] { Image({.height = 0, .width = 3, .channels = 3}); }),
      "there is no picture of 3 x 0, RGB, 8 bits | it has 1 to 4 channels of 8 or 16 bits, and "
      "at least one pixel");
  error_of([] { Image({.height = 1, .width = 1, .channels = 5}); });
  error_of([] { Image({.height = 1, .width = 1, .channels = 1, .bits = 12}); });
}

TEST(Image, RefusesToShowValuesOfOtherBits) {
  EXPECT_EQ(error_of([] { grey({1}).u16(); }),
            "the picture must have 16 bits, but is 1 x 1, grey, 8 bits | convert it first");
}

TEST(Convert, GreyBecomesRgbAndBack) {
  const Image colour = convert(grey({0, 100, 255}), 3, 8);
  EXPECT_EQ(colour.u8()[3], 100);
  EXPECT_EQ(colour.u8()[5], 100);
  EXPECT_EQ(convert(colour, 1, 8), grey({0, 100, 255}));
}

TEST(Convert, WeighsColoursAsBt601Does) {
  Image image({.height = 1, .width = 3, .channels = 3});
  image.u8()[0] = image.u8()[4] = image.u8()[8] = 255;
  EXPECT_EQ(convert(image, 1, 8), grey({76, 150, 29}));
}

TEST(Convert, SixteenBitsRoundToEightAndComeBack) {
  const Image wide = convert(grey({0, 1, 200, 255}), 1, 16);
  EXPECT_EQ(wide.u16()[1], 257);
  EXPECT_EQ(wide.u16()[3], 65535);
  EXPECT_EQ(convert(wide, 1, 8), grey({0, 1, 200, 255}));
  Image odd = wide;
  odd.u16()[0] = 128;
  odd.u16()[1] = 129;
  EXPECT_EQ(convert(odd, 1, 8).u8()[0], 0);
  EXPECT_EQ(convert(odd, 1, 8).u8()[1], 1);
}

TEST(Convert, AddsOpaqueAlphaAndDropsIt) {
  const Image with = convert(grey({7}), 2, 16);
  EXPECT_EQ(with.u16()[0], 7 * 257);
  EXPECT_EQ(with.u16()[1], 65535);
  EXPECT_EQ(convert(with, 4, 8).u8()[3], 255);
  EXPECT_EQ(convert(with, 1, 8), grey({7}));
}

}  // namespace
}  // namespace lockstep

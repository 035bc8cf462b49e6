// Ids of predicted pictures.
#include "recipes/fewshot/sets/picture_ids.h"

#include <gmock/gmock.h>

namespace lockstep::fewshot {
namespace {

using ::testing::ElementsAre;

TEST(PictureIds, AreThoseOfTheRunThenNumbersThenPlaces) {
  EXPECT_THAT(picture_ids({"x/cat.jpg", "000000000139.jpg", "dog.png"}, {{"cat.jpg", 77}}),
              ElementsAre(77, 139, 1));
  EXPECT_THAT(picture_ids({}, {}), ElementsAre());
}

TEST(PictureIds, NeverCollide) {
  // A place that a number or a known picture has, whether before or after it.
  EXPECT_THAT(picture_ids({"a.jpg", "1.jpg", "b.jpg", "c.jpg"}, {{"c.jpg", 2}}),
              ElementsAre(3, 1, 4, 2));
  // The same number twice, and the same name in two folders.
  EXPECT_THAT(picture_ids({"x/7.jpg", "y/7.jpg", "007.png"}, {}), ElementsAre(7, 1, 2));
  EXPECT_THAT(picture_ids({"x/cat.jpg", "y/cat.jpg"}, {{"cat.jpg", 5}}), ElementsAre(5, 1));
}

TEST(PictureIds, TakeWholeNumbersAlone) {
  EXPECT_THAT(picture_ids({"-4.jpg", "3a.jpg", "99999999999999999999.jpg", ".jpg", "0.jpg"}, {}),
              ElementsAre(1, 2, 3, 4, 0));
}

}  // namespace
}  // namespace lockstep::fewshot

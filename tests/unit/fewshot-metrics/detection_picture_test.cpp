#include "recipes/fewshot/metrics/detection_picture.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "core/base/files/files.h"
#include "core/media/colour.h"
#include "core/media/pictures/draw.h"
#include "core/media/pictures/picture_file.h"
#include "fakes/error_of.h"
#include "fakes/test_data.h"
#include "recipes/fewshot/metrics/picture_labels.h"
#include "recipes/fewshot/metrics/picture_parts.h"

namespace lockstep::fewshot {
namespace {

using ::testing::HasSubstr;

constexpr Colour grey{90, 90, 90}, white{255, 255, 255};
const std::vector<NamedClass> classes{{1, "rook"}, {2, "king"}};

Image plain(int height, int width) {
  Image image({.height = height, .width = width, .channels = 3});
  fill_rectangle(image, {0, 0, static_cast<double>(width), static_cast<double>(height)}, grey);
  return image;
}

Colour at(const Image& image, int row, int column) {
  const std::size_t i = 3 * static_cast<std::size_t>(row * image.width() + column);
  return {image.u8()[i], image.u8()[i + 1], image.u8()[i + 2]};
}

int count(const Image& image, Colour colour) {
  int found = 0;
  for (int row = 0; row < image.height(); ++row)
    for (int column = 0; column < image.width(); ++column)
      found += at(image, row, column) == colour ? 1 : 0;
  return found;
}

Detection box_found(double x, double y, double width, double height, double score = 0.5,
                    std::int64_t category = 1) {
  return {.picture = 0,
          .category = category,
          .x = x,
          .y = y,
          .width = width,
          .height = height,
          .score = score};
}

TrueBox true_at(double x, double y, double width, double height) {
  return {.picture = 0,
          .category = 1,
          .x = x,
          .y = y,
          .width = width,
          .height = height,
          .area = width * height};
}

DrawDetections as_it_is() { return {.classes = classes, .shorter_side = 1}; }

Image drawn(const std::vector<Detection>& detections, const DrawDetections& how = as_it_is()) {
  return draw_detections(plain(200, 300), detections, how);
}

TEST(DrawDetections, AFrameAndALabelInTheColourOfTheClass) {
  const Image image = drawn({box_found(100, 80, 60, 50), box_found(200, 80, 60, 50, 0.5, 2)});
  EXPECT_EQ(image.shape(), plain(200, 300).shape());
  for (const auto& [row, column] : {std::pair{80, 130}, {129, 130}, {100, 100}, {100, 159}})
    EXPECT_EQ(at(image, row, column), palette(0)) << row << " " << column;
  EXPECT_EQ(at(image, 105, 130), grey);       // inside
  EXPECT_EQ(at(image, 66, 101), palette(0));  // the label above it
  EXPECT_EQ(at(image, 80, 230), palette(1));
  EXPECT_GT(count(image, text_colour_on(palette(0))), 20);  // letters
}

TEST(DrawDetections, ASmallPictureIsEnlarged) {
  const DrawDetections how{.classes = classes, .shorter_side = 400};
  const Image image = drawn({box_found(100, 80, 60, 50)}, how);
  EXPECT_EQ(image.height(), 400);
  EXPECT_EQ(image.width(), 600);
  EXPECT_EQ(at(image, 160, 260), palette(0));
  EXPECT_EQ(at(image, 200, 200), palette(0));
  const DrawDetections far{.classes = classes, .shorter_side = 5000};
  EXPECT_EQ(drawn({}, far).height(), 800);
}

TEST(DrawDetections, WithoutGoldNothingIsWrong) {
  const Image image = drawn({box_found(100, 80, 60, 50)});
  EXPECT_EQ(at(image, 105, 130), grey);
}

TEST(DrawDetections, WhatFindsNothingIsCrossedOut) {
  const std::vector<TrueBox> none, there{true_at(100, 80, 60, 50)};
  DrawDetections how = as_it_is();
  how.truths = none;
  EXPECT_EQ(at(drawn({box_found(100, 80, 60, 50)}, how), 105, 130),
            palette(0));  // where they cross
  how.truths = there;
  EXPECT_EQ(at(drawn({box_found(100, 80, 60, 50)}, how), 105, 130), grey);
  // A second one for the same box, and one of another class.
  EXPECT_EQ(at(drawn({box_found(100, 80, 60, 50), box_found(100, 80, 60, 48, 0.4)}, how), 103, 129),
            palette(0));
  EXPECT_EQ(at(drawn({box_found(100, 80, 60, 50, 0.5, 2)}, how), 105, 130), palette(1));
}

TEST(DrawDetections, GoldIsDashedAndNamedWhereItWasMissed) {
  const std::vector<TrueBox> there{true_at(100, 80, 60, 50)};
  DrawDetections how = as_it_is();
  how.truths = there;
  const Image missed = drawn({}, how);
  EXPECT_GT(count(missed, palette(0)), 50);
  EXPECT_GT(count(missed, white), 300);  // gaps of the dashes, and the label
  EXPECT_EQ(at(missed, 66, 101), white);
  const Image seen = drawn({box_found(102, 82, 60, 50)}, how);
  EXPECT_NE(at(seen, 66, 101), white);
  TrueBox crowd = there[0];
  crowd.crowd = true;
  const std::vector<TrueBox> crowds{crowd};
  how.truths = crowds;
  EXPECT_EQ(at(drawn({}, how), 66, 101), grey);  // none of a crowd is missed
}

TEST(DrawDetections, LabelsStayInThePicture) {
  const std::vector<NamedClass> long_name{{1, std::string(5000, 'm')}};
  const DrawDetections how{.classes = long_name, .shorter_side = 1};
  for (const auto& [x, y] :
       {std::pair{-20.0, -20.0}, {290.0, 190.0}, {-20.0, 190.0}, {290.0, -5.0}}) {
    const Image image = drawn({box_found(x, y, 40, 30)}, how);
    // A whole label: 25 characters with their margin, 15 pixels high.
    EXPECT_GT(count(image, palette(0)) + count(image, text_colour_on(palette(0))), 25 * 6 * 15);
  }
  // A picture that is narrower than any label.
  EXPECT_NO_THROW(draw_detections(plain(9, 4), std::vector{box_found(0, 0, 4, 9)}, how));
}

TEST(DrawDetections, LabelsDoNotCoverEachOther) {
  LabelPlaces places(200, 300);
  const Rectangle box{100, 80, 160, 130};
  std::vector<Rectangle> taken;
  for (int i = 0; i < 5; ++i) {
    const Rectangle place = places.take(box, {.width = 60, .height = 15});
    for (const Rectangle& other : taken)
      EXPECT_TRUE(place.left >= other.right || other.left >= place.right ||
                  place.top >= other.bottom || other.top >= place.bottom);
    taken.push_back(place);
  }
}

TEST(DrawDetections, OnlyTheSurestAreDrawn) {
  DrawDetections how = as_it_is();
  how.most = 1;
  const Image image =
      drawn({box_found(10, 80, 60, 50, 0.3), box_found(200, 80, 60, 50, 0.9, 2)}, how);
  EXPECT_EQ(count(image, palette(0)), 0);
  EXPECT_GT(count(image, palette(1)), 0);
}

TEST(DrawDetections, NamesBeyondAsciiDoNotBreakIt) {
  const std::vector<NamedClass> names{{1, "Läufer"}, {2, "ладья"},   {3, "\xFF\xFE"},
                                      {4, ""},       {5, "a\nb\tc"}, {6, "   "}};
  EXPECT_EQ(shown_name(names, 1, 20), "L?ufer");
  EXPECT_EQ(shown_name(names, 2, 20), "class 2");
  EXPECT_EQ(shown_name(names, 3, 20), "class 3");
  EXPECT_EQ(shown_name(names, 4, 20), "class 4");
  EXPECT_EQ(shown_name(names, 5, 20), "a?b?c");
  EXPECT_EQ(shown_name(names, 6, 20), "class 6");
  EXPECT_EQ(shown_name(names, 77, 20), "class 77");
  EXPECT_EQ(shown_name(std::vector<NamedClass>{{1, "abcdefghij"}}, 1, 6), "abcd..");
  const DrawDetections how{.classes = names, .shorter_side = 1};
  EXPECT_GT(count(drawn({box_found(100, 80, 60, 50, 0.5, 2)}, how), palette(1)), 100);
}

TEST(DrawDetections, BoxesThatCannotBeSeenAreLeftOut) {
  const double inf = std::numeric_limits<double>::infinity();
  const Image image =
      drawn({box_found(400, 0, 10, 10), box_found(-50, 0, 10, 10), box_found(0, 0, inf, 10),
             box_found(std::nan(""), 0, 10, 10), box_found(10, 10, 10, 10, std::nan(""))});
  EXPECT_EQ(image, plain(200, 300));
  EXPECT_NO_THROW(drawn({box_found(-1e300, -1e300, 2e300, 2e300), box_found(5, 5, 0, 0)}));
  const std::vector<TrueBox> vast{true_at(-1e9, -1e9, 2e9, 2e9), true_at(0, 0, 0, 0)};
  DrawDetections how = as_it_is();
  how.truths = vast;
  EXPECT_NO_THROW(drawn({box_found(-1e9, -1e9, 3e9, 3e9)}, how));
  // As gold and as wrong ones they take no longer than others.
  const std::vector<TrueBox> endless{true_at(-1e300, -1e300, 2e300, 2e300),
                                     true_at(0, -1e15, 9, 2e15)};
  how.truths = endless;
  const std::vector<Detection> wrong_ones{box_found(10, -1e15, 20, 2e15, 0.5, 2),
                                          box_found(-1e300, 5, 2e300, 20, 0.5, 2)};
  EXPECT_NO_THROW(drawn(wrong_ones, how));
}

TEST(DrawDetections, AnyKindOfPictureServes) {
  const Image grey16({.height = 20, .width = 30, .channels = 1, .bits = 16});
  EXPECT_EQ(draw_detections(grey16, {}, as_it_is()).shape(), plain(20, 30).shape());
  EXPECT_THAT(error_of([] { draw_detections(Image(), {}, as_it_is()); }),
              HasSubstr("empty picture"));
}

TEST(ClassColour, RepeatsWithOtherShades) {
  std::vector<NamedClass> many;
  for (std::int64_t k = 0; k < 21; ++k) many.push_back({k, "x"});
  for (std::int64_t a = 0; a < 21; ++a)
    for (std::int64_t b = 0; b < a; ++b)
      EXPECT_FALSE(class_colour(many, a) == class_colour(many, b)) << a << " " << b;
}

TEST(SupportSheet, StandsBesideTheQuery) {
  const std::vector<SupportCrops> supports{{1, {plain(10, 10), plain(20, 10)}},
                                           {2, {plain(5, 50)}}};
  const Image query = plain(300, 200);
  const Image sheet = support_sheet(supports, query, {.classes = classes, .crop_height = 40});
  EXPECT_EQ(sheet.height(), 300 + 12);
  // The widest crop is three times as wide as high.
  EXPECT_EQ(sheet.width(), 6 + 120 + 6 + 200 + 6);
  EXPECT_EQ(at(sheet, 200, sheet.width() - 100), grey);  // the query
  EXPECT_EQ(at(sheet, 200, 50), white);                  // below the rows
  EXPECT_EQ(at(sheet, 7, 7), palette(0));                // the first class's label
  EXPECT_EQ(at(sheet, 6 + 15 + 20, 6 + 20), grey);       // its first crop
  EXPECT_EQ(at(sheet, 6 + 15, 6 + 20), palette(0));      // the frame of that
}

TEST(SupportSheet, ManyClassesTakeSeveralColumns) {
  std::vector<SupportCrops> supports;
  for (std::int64_t k = 0; k < 6; ++k) supports.push_back({k, {plain(40, 40)}});
  const Image narrow = support_sheet(supports, plain(800, 50), {.crop_height = 40});
  const Image wide = support_sheet(supports, plain(140, 50), {.crop_height = 40});
  EXPECT_EQ(narrow.height(), 812);
  EXPECT_EQ(wide.height(), 152);
  EXPECT_GT(wide.width(), narrow.width());
}

TEST(SupportSheet, MoreCropsAreCounted) {
  const std::vector<SupportCrops> few{{1, std::vector<Image>(2, plain(10, 10))}},
      many{{1, std::vector<Image>(9, plain(10, 10))}};
  const SupportSheet how{.classes = classes, .crop_height = 100, .most_crops = 2};
  const Image a = support_sheet(few, plain(50, 50), how),
              b = support_sheet(many, plain(50, 50), how);
  EXPECT_EQ(a.shape(), b.shape());
  EXPECT_NE(a, b);  // "(2 of 9)"
}

TEST(SupportSheet, EmptyPicturesAreErrors) {
  EXPECT_THAT(error_of([] { support_sheet({}, Image(), {}); }), HasSubstr("empty picture"));
  const std::vector<SupportCrops> supports{{1, {Image()}}};
  EXPECT_THAT(error_of([&] { support_sheet(supports, plain(5, 5), {}); }),
              HasSubstr("empty picture"));
  EXPECT_EQ(support_sheet({}, plain(5, 5), {}).width(), 5 + 12);
}

TEST(PictureParts, ResizedKeepsPlainColoursAndMeans) {
  EXPECT_EQ(resized(plain(7, 5), 13, 40), plain(13, 40));
  EXPECT_EQ(resized(plain(70, 50), 3, 4), plain(3, 4));
  Image halves = plain(4, 8);
  fill_rectangle(halves, {0, 0, 4, 4}, {0, 0, 0});
  fill_rectangle(halves, {4, 0, 8, 4}, {200, 100, 50});
  const Image small = resized(halves, 1, 2);
  EXPECT_EQ(at(small, 0, 0), (Colour{0, 0, 0}));
  EXPECT_EQ(at(small, 0, 1), (Colour{200, 100, 50}));
  EXPECT_EQ(at(resized(halves, 1, 1), 0, 0), (Colour{100, 50, 25}));
  const Image large = resized(halves, 4, 16);
  EXPECT_EQ(at(large, 1, 0), (Colour{0, 0, 0}));
  EXPECT_EQ(at(large, 1, 7), (Colour{50, 25, 13}));  // a quarter of the way
  EXPECT_THAT(error_of([] { resized(plain(2, 2), 0, 5); }), HasSubstr("0"));
}

TEST(PictureParts, CropHasContextAndStaysInside) {
  Image image = plain(20, 30);
  fill_rectangle(image, {10, 5, 14, 9}, {1, 2, 3});
  const Image crop = crop_box(image, 10, 5, 4, 4, 2);
  EXPECT_EQ(crop.height(), 8);
  EXPECT_EQ(crop.width(), 8);
  EXPECT_EQ(at(crop, 2, 2), (Colour{1, 2, 3}));
  EXPECT_EQ(at(crop, 1, 2), grey);
  EXPECT_EQ(crop_box(image, -5, -5, 10, 10).width(), 5);
  EXPECT_EQ(crop_box(image, 500, 500, 10, 10).width(), 1);
  EXPECT_EQ(crop_box(image, 0, 0, 0, 0).height(), 1);
  EXPECT_THAT(error_of([&] { crop_box(image, std::nan(""), 0, 1, 1); }), HasSubstr("not finite"));
}

TEST(DrawDetections, ARealPictureIsWrittenAsJpeg) {
  const auto data = lockstep::testing::test_data("fewshot/chess/valid/valid_000.jpg");
  if (data.path.empty()) GTEST_SKIP() << data.why_not;
  const Image picture = read_picture(data.path);
  const Image image =
      draw_detections(picture, std::vector{box_found(85.5, 9.5, 31, 43.5)}, {.classes = classes});
  EXPECT_EQ(image.height(), 640);
  const TemporaryDirectory folder;
  write_picture(folder.path() / "x.jpg", image);
  EXPECT_EQ(read_picture(folder.path() / "x.jpg").shape(), image.shape());
}

}  // namespace
}  // namespace lockstep::fewshot

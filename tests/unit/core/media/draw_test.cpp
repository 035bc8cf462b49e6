#include "core/media/pictures/draw.h"

#include <gmock/gmock.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "core/media/pictures/font.h"
#include "fakes/error_of.h"

namespace lockstep {
namespace {

constexpr Colour red{255, 0, 0}, white{255, 255, 255};

Image black(int height, int width) {
  return Image({.height = height, .width = width, .channels = 3});
}

Colour at(const Image& image, int row, int column) {
  const std::size_t i = 3 * static_cast<std::size_t>(row * image.width() + column);
  return {image.u8()[i], image.u8()[i + 1], image.u8()[i + 2]};
}

// A row of # and . a line: what is not black.
std::string shown(const Image& image) {
  std::string text;
  for (int row = 0; row < image.height(); ++row) {
    for (int column = 0; column < image.width(); ++column)
      text += at(image, row, column) == Colour{} ? '.' : '#';
    text += '\n';
  }
  return text;
}

TEST(Draw, ARectangleIsAFrameWithin) {
  Image image = black(5, 6);
  draw_rectangle(image, {1, 0, 5, 4}, red, 1);
  EXPECT_EQ(shown(image),
            ".####.\n"
            ".#..#.\n"
            ".#..#.\n"
            ".####.\n"
            "......\n");
  EXPECT_EQ(at(image, 0, 1), red);
}

TEST(Draw, WhatLiesOutsideIsLeftOut) {
  Image image = black(3, 4);
  draw_rectangle(image, {-10, -10, 2, 2}, red, 1);
  EXPECT_EQ(shown(image), ".#..\n##..\n....\n");
  for (const double bad : {std::nan(""), double{INFINITY}, -double{INFINITY}}) {
    draw_rectangle(image, {bad, 0, 4, 3}, red);
    draw_text(image, bad, 0, "x", red);
    draw_labelled(image, {0, bad, 4, 3}, "x", white);
  }
  draw_rectangle(image, {1e300, 1e300, 2e300, 2e300}, red);
  draw_rectangle(image, {3, 3, 1, 1}, red);
  EXPECT_EQ(shown(image), ".#..\n##..\n....\n");
}

TEST(Draw, APolygonIsFilledAndAContourWithinIsAHole) {
  Image image = black(6, 7);
  const std::vector<std::vector<Point>> frame{{{1, 0}, {6, 0}, {6, 5}, {1, 5}},
                                              {{2, 1}, {5, 1}, {5, 4}, {2, 4}}};
  fill_polygon(image, frame, red);
  EXPECT_EQ(shown(image),
            ".#####.\n"
            ".#...#.\n"
            ".#...#.\n"
            ".#...#.\n"
            ".#####.\n"
            ".......\n");
  EXPECT_EQ(at(image, 0, 1), red);
}

TEST(Draw, APixelTakesAsMuchOfAPolygonAsCoversIt) {
  Image image = black(2, 4);
  const std::vector<std::vector<Point>> half{{{0.5, 0}, {2.25, 0}, {2.25, 0.5}, {0.5, 0.5}}};
  fill_polygon(image, half, {200, 100, 0});
  EXPECT_EQ(at(image, 0, 0), (Colour{50, 25, 0}));
  EXPECT_EQ(at(image, 0, 1), (Colour{100, 50, 0}));
  EXPECT_EQ(at(image, 0, 2), (Colour{25, 13, 0}));
  EXPECT_EQ(at(image, 1, 1), Colour{});
}

TEST(Draw, OfAPolygonOnlyWhatLiesInThePictureIsDrawn) {
  Image image = black(3, 3);
  const std::vector<std::vector<Point>> large{{{-1e9, -5}, {1, -5}, {1, 1e9}, {-1e9, 1e9}}},
      none{{{0, 0}, {3, 3}},
           {{0, 0}, {3, 0}, {NAN, 3}},
           {{5, 5}, {9, 5}, {9, 9}},
           {{0, 1}, {3, 1}, {2, 1}}};
  fill_polygon(image, none, red);
  EXPECT_EQ(image, black(3, 3));
  fill_polygon(image, large, red);
  EXPECT_EQ(shown(image), "#..\n#..\n#..\n");
}

TEST(Draw, AMaskLetsThePictureShine) {
  Image image = black(1, 3);
  fill_rectangle(image, {0, 0, 3, 1}, {100, 100, 100});
  const std::vector<std::uint8_t> mask{0, 1, 255};
  draw_mask(image, mask, {200, 0, 100}, 0.5);
  EXPECT_EQ(at(image, 0, 0), (Colour{100, 100, 100}));
  EXPECT_EQ(at(image, 0, 1), (Colour{150, 50, 100}));
  EXPECT_EQ(at(image, 0, 2), at(image, 0, 1));
}

TEST(Draw, AnOutlineIsTheRimOfAMask) {
  Image image = black(4, 4);
  const std::vector<std::uint8_t> mask{0, 1, 1, 1,  //
                                       0, 1, 1, 1,  //
                                       0, 1, 1, 1,  //
                                       0, 0, 0, 0};
  draw_outline(image, mask, white);
  EXPECT_EQ(shown(image), ".###\n.#.#\n.###\n....\n");
}

TEST(Draw, RefusesAMaskOfAnotherSize) {
  Image image = black(2, 3);
  const std::vector<std::uint8_t> mask(5);
  EXPECT_EQ(error_of([&] { draw_mask(image, mask, red); }),
            "a mask for a picture of 3 x 2 must have 6 values, but has 5 | ");
}

TEST(Draw, RefusesPicturesThatAreNotRgb) {
  Image grey({.height = 2, .width = 2, .channels = 1});
  EXPECT_THAT(
      error_of([&] { draw_text(grey, 0, 0, "a", red); }),
      ::testing::StartsWith("drawing needs an RGB picture of 8 bits, but this one is 2 x 2, "
                            "grey"));
}

TEST(Draw, TextIsReadable) {
  Image image = black(glyph_height, 2 * glyph_width);
  draw_text(image, 0, 0, "1T", white);
  EXPECT_EQ(shown(image),
            "............\n"
            "............\n"
            "..#...#####.\n"
            ".##.....#...\n"
            "#.#.....#...\n"
            "..#.....#...\n"
            "..#.....#...\n"
            "..#.....#...\n"
            "..#.....#...\n"
            "..#.....#...\n"
            "#####...#...\n"
            "............\n"
            "............\n");
}

TEST(Draw, TextCanBeLarger) {
  Image small = black(glyph_height, glyph_width), large = black(3 * glyph_height, 3 * glyph_width);
  draw_text(small, 0, 0, "g", white);
  draw_text(large, 0, 0, "g", white, 3);
  for (int row = 0; row < large.height(); ++row)
    for (int column = 0; column < large.width(); ++column)
      ASSERT_EQ(at(large, row, column), at(small, row / 3, column / 3));
}

TEST(Draw, OtherCharactersAreOneFrameEach) {
  EXPECT_EQ(text_size("m\u00fc\U0001F600!", 2).width, 4 * 12);
  Image umlaut = black(13, 6), broken = black(13, 6);
  draw_text(umlaut, 0, 0, "\u00fc", white);
  draw_text(broken, 0, 0, "\xff", white);
  EXPECT_EQ(umlaut, broken);
  EXPECT_NE(umlaut, black(13, 6));
}

TEST(Draw, ALabelStaysWithinThePicture) {
  Image image = black(40, 60);
  draw_labelled(image, {50, 0, 60, 30}, "king", red, 1);
  EXPECT_EQ(at(image, 0, 34), red) << "moved to the left, and inside for want of room above";
  Image lower = black(40, 60);
  draw_labelled(lower, {5, 30, 60, 40}, "king", red, 1);
  EXPECT_EQ(at(lower, 29, 5), red);
  EXPECT_EQ(at(lower, 14, 5), Colour{});
}

TEST(Draw, TextStandsOutFromItsGround) {
  EXPECT_EQ(text_colour_on({240, 228, 66}), Colour{});
  EXPECT_EQ(text_colour_on({0, 114, 178}), white);
}

TEST(Font, EveryPrintableCharacterHasAShapeOfItsOwn) {
  std::set<Glyph> shapes;
  for (char32_t c = U' '; c <= U'~'; ++c) shapes.insert(glyph(c));
  EXPECT_EQ(shapes.size(), 95u);
  EXPECT_FALSE(shapes.contains(glyph(0x7F)));
  EXPECT_EQ(glyph(U'\n'), glyph(0x10FFFF));
}

}  // namespace
}  // namespace lockstep

#include "recipes/fewshot/pictures/views.h"

#include <gmock/gmock.h>

#include <array>

namespace lockstep::fewshot {
namespace {

using Rgb = std::array<int, 3>;

const Rgb fill{fill_colour[0], fill_colour[1], fill_colour[2]}, black{0, 0, 0}, red{250, 0, 0};

// Black, with a red rectangle where the box is.
Image scene(const Picture& picture, const Box& box) {
  Image image({.height = picture.height, .width = picture.width, .channels = 3});
  for (int y = static_cast<int>(box.y); y < static_cast<int>(box.y + box.h); ++y)
    for (int x = static_cast<int>(box.x); x < static_cast<int>(box.x + box.w); ++x)
      image.u8()[3 * static_cast<std::size_t>(y * picture.width + x)] = 250;
  return image;
}
Rgb at(const Image& image, int y, int x) {
  const std::size_t place = 3 * static_cast<std::size_t>(y * image.width() + x);
  return {image.u8()[place], image.u8()[place + 1], image.u8()[place + 2]};
}
void expect_box(const ViewBox& box, float left, float top, float right, float bottom) {
  EXPECT_NEAR(box.left, left, 1e-4);
  EXPECT_NEAR(box.top, top, 1e-4);
  EXPECT_NEAR(box.right, right, 1e-4);
  EXPECT_NEAR(box.bottom, bottom, 1e-4);
}

TEST(WholeView, BoxesAreScaledOnEachSideForItself) {
  const Picture picture{.width = 200, .height = 100};
  const Box box{.x = 20, .y = 10, .w = 60, .h = 40};
  expect_box(box_in_view(picture, box, 50), 5, 5, 20, 25);
  const Image view = whole_view(scene(picture, box), 50);
  EXPECT_EQ(view.shape(), (ImageShape{.height = 50, .width = 50, .channels = 3}));
  EXPECT_EQ(at(view, 15, 12), red);
  EXPECT_EQ(at(view, 3, 12), black);
  EXPECT_EQ(at(view, 15, 22), black);
}

TEST(SupportCrop, TheLongerSideFillsTheSquareButForTheContext) {
  const Picture picture{.width = 200, .height = 200};
  const Box box{.x = 80, .y = 60, .w = 40, .h = 80};
  const Crop crop = support_crop(scene(picture, box), picture, box, {.size = 100, .context = 10});
  expect_box(crop.box, 30, 10, 70, 90);
  EXPECT_EQ(at(crop.image, 50, 50), red);
  EXPECT_EQ(at(crop.image, 12, 50), red);
  EXPECT_EQ(at(crop.image, 7, 50), black);   // context above
  EXPECT_EQ(at(crop.image, 50, 24), black);  // context at the left, ten pixels of it
  EXPECT_EQ(at(crop.image, 50, 19), fill);   // no more than the context
  EXPECT_EQ(at(crop.image, 50, 80), fill);
}

TEST(SupportCrop, BeyondThePictureIsTheFill) {
  const Picture picture{.width = 60, .height = 60};
  const Box box{.x = 0, .y = 0, .w = 40, .h = 40};
  const Crop crop = support_crop(scene(picture, box), picture, box, {.size = 60, .context = 10});
  expect_box(crop.box, 10, 10, 50, 50);
  EXPECT_EQ(at(crop.image, 9, 30), fill);
  EXPECT_EQ(at(crop.image, 30, 9), fill);
  EXPECT_EQ(at(crop.image, 10, 10), red);
  EXPECT_EQ(at(crop.image, 30, 55), black);
}

TEST(SupportCrop, OfAFileThatWasScaledTheSamePartIsShown) {
  const Picture picture{.width = 400, .height = 400};  // as annotated; the file has half of that
  const Box box{.x = 160, .y = 120, .w = 80, .h = 160};
  const Picture file{.width = 200, .height = 200};
  const Crop crop = support_crop(scene(file, {.x = 80, .y = 60, .w = 40, .h = 80}), picture, box,
                                 {.size = 100, .context = 10});
  expect_box(crop.box, 30, 10, 70, 90);
  EXPECT_EQ(at(crop.image, 12, 50), red);
  EXPECT_EQ(at(crop.image, 7, 50), black);
}

TEST(SupportCrop, AnyBoxOfAnyPictureHasOne) {
  for (const auto& [width, height] : {std::pair(1, 1), {1000, 1}, {1, 1000}, {33, 7}}) {
    const Picture picture{.width = width, .height = height};
    const auto w = static_cast<float>(width), h = static_cast<float>(height);
    for (const Box& box :
         {Box{.w = w, .h = h}, Box{.x = w - 0.01f, .y = h - 0.01f, .w = 0.01f, .h = 0.01f},
          Box{.w = w, .h = 0.01f}, Box{.x = w / 2, .w = 0.01f, .h = h}}) {
      const Image image({.height = height, .width = width, .channels = 3});
      for (const CropShape& shape :
           {CropShape{}, CropShape{.size = 1, .context = 0}, CropShape{.size = 33, .context = 16}})
        EXPECT_EQ(support_crop(image, picture, box, shape).image.height(), shape.size);
    }
  }
}

}  // namespace
}  // namespace lockstep::fewshot

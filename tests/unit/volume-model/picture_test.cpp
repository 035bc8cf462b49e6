// Which planes a picture shows.
#include "recipes/volume/model/picture.h"

#include <gtest/gtest.h>

#include "core/base/files/files.h"
#include "core/media/pictures/image.h"
#include "core/media/pictures/picture_file.h"

namespace lockstep::volume {
namespace {

TEST(Pictures, ShowPlanesInTheMiddleWhereForegroundIsAlike) {
  constexpr std::int64_t edge = 8;
  std::vector<float> values;
  std::vector<std::uint8_t> truth, predicted(edge * edge * edge, 0);
  for (std::int64_t z = 0; z < edge; ++z)
    for (std::int64_t y = 0; y < edge; ++y)
      for (std::int64_t x = 0; x < edge; ++x) {
        values.push_back(static_cast<float>(20 * z));
        truth.push_back(y == 0 && x < (z == 0 ? 5 : 4));  // a little more at the border
      }
  const TemporaryDirectory folder;
  write_file_atomic(folder.path() / "a.png", three_planes({.shape = {edge, edge, edge},
                                                           .values = values,
                                                           .low = 0,
                                                           .high = 255,
                                                           .truth = truth,
                                                           .predicted = predicted}));
  const Image image = read_picture(folder.path() / "a.png");
  // Background of the first panel, the plane across z.
  const auto at = static_cast<std::size_t>((200 * image.width() + 200) * image.channels());
  EXPECT_EQ(image.u8()[at], 20 * (edge / 2));
}

}  // namespace
}  // namespace lockstep::volume

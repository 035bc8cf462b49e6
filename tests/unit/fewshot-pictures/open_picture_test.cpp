// The pictures are those of the fuzzer's corpus, whose pixels are known.
#include "recipes/fewshot/pictures/open_picture.h"

#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>

#include "checkout_paths.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "tests/fakes/error_of.h"

namespace lockstep::fewshot {
namespace {

using ::testing::HasSubstr;

Picture corpus(const std::string& name, int width, int height) {
  return {.id = 7,
          .path = std::filesystem::path(LOCKSTEP_SOURCE_DIR) / "tests/fuzz/corpus/picture" / name,
          .width = width,
          .height = height};
}
Picture as_stored(const std::string& name) {
  const Picture picture = corpus(name, 1, 1);
  const ImageShape shape = read_picture_shape(picture.path, {.turn = false});
  return corpus(name, shape.width, shape.height);
}

TEST(OpenPicture, StandsAsTheSizeInItsAnnotationsSays) {
  // Stored 16 wide and 32 high, to be turned to 32 x 16.
  EXPECT_EQ(open_picture(corpus("exif6.jpg", 32, 16)),
            read_picture(corpus("exif6.jpg", 0, 0).path, {.turn = true}));
  EXPECT_EQ(open_picture(corpus("exif6.jpg", 16, 32)),
            read_picture(corpus("exif6.jpg", 0, 0).path, {.turn = false}));
  // Half a turn leaves the size: it is made, as viewers do.
  EXPECT_EQ(open_picture(corpus("exif3.jpg", 32, 16)),
            read_picture(corpus("exif3.jpg", 0, 0).path, {.turn = true}));
}

TEST(OpenPicture, AFileThatWasScaledIsTakenAsItIs) {
  EXPECT_EQ(open_picture(corpus("exif1.jpg", 64, 32)).shape(),
            (ImageShape{.height = 16, .width = 32, .channels = 3}));
  EXPECT_EQ(open_picture(corpus("exif6.jpg", 320, 161)).width(), 32);
  EXPECT_EQ(open_picture(corpus("exif6.jpg", 160, 320)).width(), 16);
}

TEST(OpenPicture, AnotherShapeIsAnErrorWithFileAndId) {
  const std::string error = error_of([] { open_picture(corpus("exif1.jpg", 64, 40)); });
  EXPECT_THAT(error, HasSubstr("exif1.jpg is 32 x 16, but its annotations are of a picture of 64 x "
                               "40 (picture id 7)"));
}

TEST(OpenPicture, EveryKindBecomesRgbOf8Bits) {
  for (const char* name : {"cmyk.jpg", "grey.jpg", "progressive.jpg", "grey16.png",
                           "grey_alpha.png", "palette.png", "rgba16.png", "bits1.png"}) {
    SCOPED_TRACE(name);
    const Picture picture = as_stored(name);
    const Image image = open_picture(picture);
    EXPECT_EQ(
        image.shape(),
        (ImageShape{.height = picture.height, .width = picture.width, .channels = 3, .bits = 8}));
  }
}

TEST(OpenPicture, FaultyFilesAreErrorsWithFileAndId) {
  for (const char* name : {"cut_off.jpg", "cut_off.png", "bad_checksum.png", "empty", "text.txt",
                           "huge.png", "no_such_file.png"}) {
    SCOPED_TRACE(name);
    const std::string error = error_of([&] { open_picture(corpus(name, 32, 16)); });
    EXPECT_THAT(error, HasSubstr(name));
    EXPECT_THAT(error, HasSubstr("(picture id 7)"));
  }
}

}  // namespace
}  // namespace lockstep::fewshot

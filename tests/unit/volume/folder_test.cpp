// Folders of slices.
#include <zlib.h>

#include "core/media/pictures/picture_file.h"
#include "recipes/volume/files/slice_names.h"
#include "volume_test.h"

namespace lockstep::volume {
namespace {

class FolderTest : public VolumeTest {
 protected:
  void picture(const std::string& name, std::uint8_t value, int height = 3, int channels = 1) {
    Image image({.height = height, .width = 4, .channels = channels});
    std::fill(image.u8().begin(), image.u8().end(), value);
    write_picture(path(name), image);
  }
  void slice(const std::string& name, std::uint8_t value) {
    write_all(*create_tiff(path(name), {.shape = {1, 3, 4, 1}}),
              std::vector<std::uint8_t>(12, value), 1);
  }
};

TEST_F(FolderTest, SlicesComeInTheNaturalOrderOfTheirNames) {
  for (int z = 8; z <= 12; ++z) {
    if (z % 2 == 0)
      picture(cat("slice_", z, ".png"), static_cast<std::uint8_t>(z));
    else
      slice(cat("slice_", z, ".TIF"), static_cast<std::uint8_t>(z));
  }
  write("notes.txt", "not a slice");
  const auto reader = open_volume(folder_.path());
  EXPECT_EQ(reader->header().shape, (VolumeShape{5, 3, 4, 1}));
  const auto voxels = voxels_of<std::uint8_t>(*reader);
  for (std::size_t z = 0; z < 5; ++z) EXPECT_EQ(voxels[12 * z], 8 + z);
}

TEST_F(FolderTest, GapsMixedSizesAndColoursAreNamed) {
  EXPECT_NE(open_error(folder_.path()).find("holds no slices"), std::string::npos);
  picture("z1.png", 1);
  EXPECT_NE(open_error(folder_.path()).find("one page"), std::string::npos);
  picture("z2.png", 2);
  picture("z4.png", 4);
  EXPECT_NE(open_error(folder_.path()).find("slices are missing between z2.png and z4.png"),
            std::string::npos);
  picture("z3.png", 3, /*height=*/5);
  EXPECT_NE(open_error(folder_.path()).find("z3.png is 5 x 4 u8, but z1.png is 3 x 4 u8"),
            std::string::npos);
  picture("z3.png", 3, 3, /*channels=*/3);
  EXPECT_NE(open_error(folder_.path()).find("z3.png: it is 4 x 3, RGB"), std::string::npos);
  picture("z3.png", 3);
  EXPECT_EQ(open_error(folder_.path()), "");
  write_all(*create_tiff(path("z5.tif"), {.shape = {2, 3, 4, 1}}), std::vector<std::uint8_t>(24),
            2);
  EXPECT_NE(open_error(folder_.path()).find("z5.tif: it has 2 pages, where a slice is expected"),
            std::string::npos);
}

TEST(SliceNames, NumbersAreComparedByValue) {
  EXPECT_TRUE(natural_less("z9", "z10"));
  EXPECT_FALSE(natural_less("z10", "z9"));
  EXPECT_TRUE(natural_less("z09b", "z9c"));
  EXPECT_TRUE(natural_less("z", "z1"));
  EXPECT_FALSE(natural_less("z1", "z1"));
  EXPECT_TRUE(natural_less("z99999999999999999999", "z100000000000000000000"));
}

TEST(SliceNames, AnySteadyStepIsAStackAndTwoSeriesAreNot) {
  EXPECT_EQ(find_gap({"z10.png", "z20.png", "z30.png"}), "");
  EXPECT_EQ(find_gap({"first.png", "z20.png"}), "");
  EXPECT_NE(find_gap({"z10.png", "z20.png", "z40.png"}), "");
  EXPECT_NE(find_gap({"z1.png", "z01.png"}), "");
  EXPECT_EQ(find_gap({"a1.png", "b1.png"}), "it holds slices of two series, a1.png and b1.png");
}

// A PNG of 4 x 1 values in `row`, packed by `bits`; with a palette of greys where `palette`.
std::string made_png(int bits, bool palette, const std::string& row) {
  const auto big = [](std::uint32_t value) {
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift);
    return bytes;
  };
  const auto chunk = [&](const std::string& type, const std::string& data) {
    const std::string body = type + data;
    const auto sum =
        crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
    return big(static_cast<std::uint32_t>(data.size())) + body +
           big(static_cast<std::uint32_t>(sum));
  };
  const std::string raw = std::string(1, '\0') + row;
  std::string pressed(100, '\0');
  uLongf size = pressed.size();
  compress(reinterpret_cast<Bytef*>(pressed.data()), &size,
           reinterpret_cast<const Bytef*>(raw.data()), static_cast<uLong>(raw.size()));
  pressed.resize(size);
  std::string png = "\x89PNG\r\n\x1A\n";
  png += chunk("IHDR", big(4) + big(1) + static_cast<char>(bits) + (palette ? '\3' : '\0') +
                           std::string(3, '\0'));
  if (palette) png += chunk("PLTE", std::string("\0\0\0\x26\x26\x26\x4B\x4B\x4B\xFF\0\0", 12));
  return png + chunk("IDAT", pressed) + chunk("IEND", "");
}

TEST_F(FolderTest, LabelsAreTheIndicesAndBitsThatAreStored) {
  const std::pair<std::string, std::vector<std::uint8_t>> forms[] = {
      {made_png(8, true, std::string("\0\1\2\3", 4)), {0, 1, 2, 3}},
      {made_png(2, true, "\x1B"), {0, 1, 2, 3}},
      {made_png(2, false, "\x1B"), {0, 1, 2, 3}},
      {made_png(1, false, "\x50"), {0, 1, 0, 1}}};
  for (const auto& [png, labels] : forms) {
    for (const char* name : {"z1.png", "z2.png"}) write(name, png);
    const auto reader = open_volume(folder_.path(), {.labels = true});
    auto both = labels;
    both.insert(both.end(), labels.begin(), labels.end());
    EXPECT_EQ(voxels_of<std::uint8_t>(*reader), both);
  }
  std::filesystem::create_directory(path("jpeg"));
  for (const char* name : {"jpeg/z1.jpg", "jpeg/z2.jpg"}) picture(name, 1);
  EXPECT_NE(open_error(path("jpeg"), {.labels = true}).find("z1.jpg is a JPEG, which keeps values"),
            std::string::npos);
  EXPECT_EQ(open_error(path("jpeg")), "");
  // Images are grey levels; a palette of an image is colour.
  EXPECT_EQ(voxels_of<std::uint8_t>(*open_volume(folder_.path()))[1], 255);
  write("z1.png", forms[0].first);
  EXPECT_NE(open_error(folder_.path()).find("z1.png: it is 4 x 1, RGB"), std::string::npos);
}

TEST_F(FolderTest, ASliceThatCannotBeReadIsNamedBeforeItsNumber) {
  slice("a.tif", 1);
  slice("b1.tif", 1);
  write("b2.tif", read_file(path("b1.tif")).substr(0, 20));
  EXPECT_NE(open_error(folder_.path()).find("b2.tif: it is not a TIFF file, or truncated"),
            std::string::npos);
}

TEST_F(FolderTest, OnePictureIsAVolumeWhereTheCallerAllowsIt) {
  picture("one.png", 7);
  EXPECT_NE(open_error(path("one.png")).find("one page"), std::string::npos);
  EXPECT_EQ(open_volume(path("one.png"), {.allow_2d = true})->header().shape,
            (VolumeShape{1, 3, 4, 1}));
}

}  // namespace
}  // namespace lockstep::volume

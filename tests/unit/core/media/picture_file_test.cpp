// The pictures of the fuzzer's corpus, written by Pillow and by hand, whose pixels are known.
#include "core/media/pictures/picture_file.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>

#include "checkout_paths.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "fakes/error_of.h"

namespace lockstep {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::filesystem::path picture(const std::string& name) {
  return std::filesystem::path(LOCKSTEP_SOURCE_DIR) / "tests/fuzz/corpus/picture" / name;
}

std::vector<int> values(const Image& image) {
  if (image.bits() == 8) return {image.u8().begin(), image.u8().end()};
  return {image.u16().begin(), image.u16().end()};
}

// Like red above left, green above right, blue below left and white below right.
void expect_upright(const Image& image) {
  ASSERT_EQ(image.shape(), (ImageShape{.height = 16, .width = 32, .channels = 3}));
  const auto near = [&](int row, int column, std::vector<int> colour) {
    for (int c = 0; c < 3; ++c)
      EXPECT_NEAR(image.u8()[static_cast<std::size_t>((row * 32 + column) * 3 + c)],
                  colour[static_cast<std::size_t>(c)], 12)
          << row << ", " << column;
  };
  near(3, 7, {220, 30, 30});
  near(3, 24, {30, 200, 30});
  near(12, 7, {30, 30, 220});
  near(12, 24, {240, 240, 240});
}

TEST(ReadPicture, TurnsJpegsAsEveryOrientationSays) {
  for (int orientation = 1; orientation <= 8; ++orientation) {
    SCOPED_TRACE(orientation);
    expect_upright(read_picture(picture(cat("exif", orientation, ".jpg"))));
  }
}

TEST(ReadPicture, LeavesPixelsAsStoredWhereThatIsAskedFor) {
  const Image stored = read_picture(picture("exif6.jpg"), {.turn = false});
  EXPECT_EQ(stored.height(), 32);
  EXPECT_EQ(stored.width(), 16);
}

TEST(ReadPicture, ReadsJpegsOfEveryKind) {
  expect_upright(read_picture(picture("progressive.jpg")));
  EXPECT_EQ(read_picture(picture("grey.jpg")).channels(), 1);
  EXPECT_EQ(read_picture(picture("little_exif.jpg")).shape(),
            (ImageShape{.height = 32, .width = 16, .channels = 1}));
}

TEST(ReadPicture, CmykBecomesRgb) { expect_upright(read_picture(picture("cmyk.jpg"))); }

TEST(ReadPicture, KeepsAllSixteenBitsOfPngs) {
  const Image grey = read_picture(picture("grey16.png"));
  EXPECT_EQ(grey.shape(), (ImageShape{.height = 3, .width = 4, .channels = 1, .bits = 16}));
  EXPECT_EQ(grey.u16()[6], 10000 + 257 * 2 + 1);
  const Image colour = read_picture(picture("rgba16.png"));
  EXPECT_THAT(std::vector<int>(colour.u16().begin() + 16, colour.u16().begin() + 20),
              ElementsAre(1001, 2001, 3001, 65534));
}

TEST(ReadPicture, ReadsPngsOfEveryKind) {
  EXPECT_THAT(values(read_picture(picture("bits1.png"))),
              ElementsAre(255, 0, 255, 0, 255, 0, 255, 0, 255, 0, 255, 0, 255, 0, 255, 0, 255, 0));
  EXPECT_THAT(values(read_picture(picture("palette.png"))),
              ElementsAre(255, 0, 0, 0, 255, 0, 0, 0, 255, 9, 8, 7));
  EXPECT_THAT(values(read_picture(picture("palette_alpha.png"))),
              ElementsAre(255, 0, 0, 0, 0, 255, 0, 128, 0, 0, 255, 255, 9, 8, 7, 255));
  EXPECT_THAT(values(read_picture(picture("transparent_grey.png"))),
              ElementsAre(5, 255, 6, 0, 7, 255));
  EXPECT_THAT(values(read_picture(picture("grey_alpha.png"))),
              ElementsAre(0, 200, 1, 201, 2, 202, 100, 200, 101, 201, 102, 202));
  EXPECT_EQ(read_picture(picture("interlaced.png")), read_picture(picture("rgb.png")));
}

TEST(ReadPicture, TurnsPngsToo) {
  EXPECT_EQ(read_picture(picture("exif.png")).shape(),
            (ImageShape{.height = 2, .width = 1, .channels = 1}));
}

TEST(ReadPicture, TheShapeIsKnownWithoutThePixels) {
  for (const auto& entry : std::filesystem::directory_iterator(picture(""))) {
    SCOPED_TRACE(entry.path());
    for (const ReadPicture& how :
         {ReadPicture{}, ReadPicture{.turn = false}, ReadPicture{.stored = true}}) {
      Image whole;
      try {
        whole = read_picture(entry.path(), how);
      } catch (const Error&) {
        continue;
      }
      EXPECT_EQ(read_picture_shape(entry.path(), how), whole.shape());
    }
  }
}

// Noise of 70 KB or more: more than is read of a file at once.
Image noise() {
  Image image({.height = 200, .width = 300, .channels = 3});
  std::uint32_t state = 1;
  for (std::uint8_t& value : image.u8())
    value = static_cast<std::uint8_t>((state = state * 1664525U + 1013904223U) >> 24);
  return image;
}

TEST(ReadPictureHeader, KnowsFilesThatEndTooEarlyWithoutDecodingThem) {
  const TemporaryDirectory folder;
  const std::filesystem::path file = folder.path() / "a";
  const auto fault_of = [&](const std::string& bytes) {
    write_file_atomic(file, bytes);
    return error_if_any([&] { read_picture_header(file); });
  };
  for (const std::string& whole : {encode_jpeg(noise(), 95), encode_png(noise())}) {
    ASSERT_GT(whole.size(), 60'000U);
    EXPECT_THAT(fault_of(whole.substr(0, whole.size() * 6 / 10)), HasSubstr("it ends too early"));
    EXPECT_THAT(fault_of(whole.substr(0, whole.size() - 2)), HasSubstr("it ends too early"));
    EXPECT_THAT(fault_of(whole.substr(0, 20)), HasSubstr("a is damaged: "));
    // Phones append films to pictures.
    EXPECT_EQ(fault_of(whole + std::string(200'000, 'x')), "");
    EXPECT_EQ(read_picture_header(file).stored.width, 300);
  }
}

TEST(ReadPictureHeader, MayBeLong) {
  const std::string picture_bytes = encode_jpeg(noise(), 95);
  std::string bytes = picture_bytes.substr(0, 2);
  for (int i = 0; i < 5; ++i)
    bytes += std::string("\xFF\xE2\xFF\xFE", 4) + std::string(0xFFFC, 'x');
  bytes += picture_bytes.substr(2);
  const TemporaryDirectory folder;
  write_file_atomic(folder.path() / "a", bytes);
  EXPECT_EQ(read_picture_header(folder.path() / "a").stored,
            (ImageShape{.height = 200, .width = 300, .channels = 3}));
}

TEST(ReadPictureHeader, TellsFilesApartByTheirSizeAndBeginning) {
  const TemporaryDirectory folder;
  const auto hash_of = [&](const std::string& bytes) {
    write_file_atomic(folder.path() / "a", bytes);
    return read_picture_header(folder.path() / "a").content_hash;
  };
  const std::string whole = encode_jpeg(noise(), 95);
  const std::uint64_t hash = hash_of(whole);
  EXPECT_NE(hash, 0U);
  EXPECT_EQ(hash_of(whole), hash);
  EXPECT_NE(hash_of(whole + "x"), hash);
  EXPECT_NE(hash_of(encode_jpeg(noise(), 94)), hash);
  std::string changed = whole;
  changed[10'000] ^= 1;
  EXPECT_NE(hash_of(changed), hash);
  changed = whole;
  changed[30'000] ^= 1;
  EXPECT_EQ(hash_of(changed), hash) << "more is not read";
}

TEST(ReadPictureHeader, HasTheOrientation) {
  for (int orientation = 1; orientation <= 8; ++orientation)
    EXPECT_EQ(read_picture_header(picture(cat("exif", orientation, ".jpg"))).orientation,
              orientation);
  EXPECT_EQ(read_picture_header(picture("exif6.jpg")).turned().width, 32);
}

TEST(ReadPicture, SaysWhichFileIsDamaged) {
  for (const char* name : {"cut_off.jpg", "cut_off.png", "bad_checksum.png", "too_few_rows.png",
                           "no_pixels.png", "exif_of_a_gigabyte.png", "head_only.jpg"}) {
    const std::string error = error_of([&] { read_picture(picture(name)); });
    EXPECT_THAT(error, HasSubstr(cat(picture(name).string(), " is damaged: "))) << name;
    EXPECT_THAT(error, HasSubstr("get the file anew")) << name;
  }
}

TEST(ReadPicture, SaysWhichFileIsNoPicture) {
  EXPECT_EQ(
      error_of([] { decode_picture("GIF89a", "a.gif"); }),
      "a.gif is neither a JPEG nor a PNG file, but a GIF | convert it to one of these, or take "
      "it out");
  EXPECT_THAT(error_of([] { decode_picture("RIFF\x24WEBPVP8 ", "a.jpg"); }),
              Not(HasSubstr("WebP")));
  EXPECT_THAT(error_of([] { decode_picture(std::string("RIFF\x24\0\0\0WEBPVP8 ", 16), "a.jpg"); }),
              HasSubstr("a.jpg is neither a JPEG nor a PNG file, but a WebP"));
  EXPECT_THAT(error_of([] { read_picture(picture("empty")); }), HasSubstr("empty is empty"));
  EXPECT_THAT(error_of([] { read_picture(picture("not-there.png")); }),
              HasSubstr("not-there.png: No such file"));
  EXPECT_THAT(error_of([] { read_picture(picture("")); }), HasSubstr("Is a directory"));
}

TEST(ReadPicture, IsBounded) {
  for (const char* name : {"huge.png", "huge.jpg"})
    EXPECT_THAT(error_of([&] { read_picture(picture(name)); }),
                HasSubstr("pixels, and a picture may have 200000000"));
  EXPECT_THAT(error_of([] { read_picture(picture("rgb.png"), {.limits = {.pixels = 63}}); }),
              HasSubstr("has 8 x 8 pixels, and a picture may have 63"));
  EXPECT_THAT(error_of([] { read_picture(picture("rgb.png"), {.limits = {.file_bytes = 100}}); }),
              HasSubstr("has 218 B, and a picture may have 100 B"));
}

TEST(ReadPicture, WaitsForNoPipe) {
  const TemporaryDirectory folder;
  ASSERT_EQ(mkfifo((folder.path() / "a.png").c_str(), 0600), 0);
  EXPECT_THAT(error_of([&] { read_picture(folder.path() / "a.png"); }), HasSubstr("a pipe"));
}

Image pattern(int channels, int bits) {
  Image image({.height = 7, .width = 5, .channels = channels, .bits = bits});
  for (std::size_t i = 0; i < image.shape().values(); ++i) {
    if (bits == 8) image.u8()[i] = static_cast<std::uint8_t>(i * 37);
    if (bits == 16) image.u16()[i] = static_cast<std::uint16_t>(i * 4099);
  }
  return image;
}

TEST(WritePicture, PngsComeBackAsTheyWere) {
  for (int channels = 1; channels <= 4; ++channels)
    for (const int bits : {8, 16}) {
      const Image image = pattern(channels, bits);
      EXPECT_EQ(decode_picture(encode_png(image), "written"), image) << channels << " " << bits;
    }
}

TEST(WritePicture, JpegsComeBackNearly) {
  const Image image = read_picture(picture("exif1.jpg"));
  expect_upright(decode_picture(encode_jpeg(image, 95), "written"));
  EXPECT_EQ(decode_picture(encode_jpeg(pattern(1, 8)), "written").shape(), pattern(1, 8).shape());
}

TEST(WritePicture, TheNameSaysTheFormat) {
  const TemporaryDirectory folder;
  write_picture(folder.path() / "a.PNG", pattern(4, 16));
  EXPECT_EQ(read_picture(folder.path() / "a.PNG"), pattern(4, 16));
  write_picture(folder.path() / "a.jpg", pattern(4, 16));
  EXPECT_EQ(read_picture(folder.path() / "a.jpg").shape(), pattern(3, 8).shape());
  EXPECT_THAT(error_of([&] { write_picture(folder.path() / "a.gif", pattern(3, 8)); }),
              HasSubstr("let the name end in .png or .jpg"));
}

TEST(WritePicture, RefusesWhatAJpegCannotHold) {
  EXPECT_THAT(error_of([] { encode_jpeg(pattern(4, 8)); }), HasSubstr("RGB and alpha, 8 bits"));
  EXPECT_THAT(error_of([] { encode_jpeg(pattern(3, 8), 0); }), HasSubstr("1 to 100, but is 0"));
  EXPECT_THAT(error_of([] { encode_jpeg(Image({.height = 1, .width = 70000, .channels = 1})); }),
              HasSubstr("cannot be written as JPEG: Maximum supported image dimension"));
}

}  // namespace
}  // namespace lockstep

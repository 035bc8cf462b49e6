// TIFF stacks, made with libtiff itself in every form that is read, and damaged ones.
#include <tiffio.h>

#include <array>
#include <cmath>
#include <thread>

#include "fakes/test_data.h"
#include "recipes/volume/files/volume_reader.h"
#include "volume_test.h"

namespace lockstep::volume {
namespace {

constexpr std::int64_t depth = 3, height = 37, width = 21;

struct Form {
  const char* mode = "w";  // b: big-endian, 8: BigTIFF
  int compression = COMPRESSION_NONE;
  int predictor = 1;
  bool tiled = false;
  int photometric = PHOTOMETRIC_MINISBLACK;
  int samples = 1;
};

struct Type {
  int bits, format;
};
template <class Voxel>
Type type_of() {
  const int format = std::is_floating_point_v<Voxel> ? SAMPLEFORMAT_IEEEFP
                     : std::is_signed_v<Voxel>       ? SAMPLEFORMAT_INT
                                                     : SAMPLEFORMAT_UINT;
  return {8 * static_cast<int>(sizeof(Voxel)), format};
}

void set_tags(TIFF* tiff, const Form& form, Type type, std::int64_t rows, std::int64_t columns) {
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, static_cast<std::uint32_t>(columns));
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, static_cast<std::uint32_t>(rows));
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, type.bits);
  TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, type.format);
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, form.samples);
  TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, form.photometric);
  TIFFSetField(tiff, TIFFTAG_COMPRESSION, form.compression);
  if (form.predictor != 1) TIFFSetField(tiff, TIFFTAG_PREDICTOR, form.predictor);
  if (form.tiled) {
    TIFFSetField(tiff, TIFFTAG_TILEWIDTH, 16);
    TIFFSetField(tiff, TIFFTAG_TILELENGTH, 32);
  } else {
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, 8);
  }
}

template <class Voxel>
void write_tiles(TIFF* tiff, const Voxel* plane) {
  for (std::uint32_t y = 0; y < height; y += 32)
    for (std::uint32_t x = 0; x < width; x += 16) {
      std::vector<Voxel> tile(16 * 32);
      for (std::uint32_t row = y; row < std::min<std::uint32_t>(y + 32, height); ++row)
        for (std::uint32_t column = x; column < std::min<std::uint32_t>(x + 16, width); ++column)
          tile[(row - y) * 16 + column - x] = plane[row * width + column];
      TIFFWriteTile(tiff, tile.data(), x, y, 0, 0);
    }
}

template <class Voxel>
void write_tiff(const std::filesystem::path& path, const Form& form, std::vector<Voxel> voxels) {
  TIFF* const tiff = TIFFOpen(path.c_str(), form.mode);
  ASSERT_NE(tiff, nullptr);
  for (std::int64_t z = 0; z < depth; ++z) {
    Voxel* const plane = voxels.data() + z * height * width;
    set_tags(tiff, form, type_of<Voxel>(), height, width);
    if (form.tiled)
      write_tiles(tiff, plane);
    else
      for (std::uint32_t row = 0; row < height; ++row)
        TIFFWriteScanline(tiff, plane + row * width, row, 0);
    TIFFWriteDirectory(tiff);
  }
  TIFFClose(tiff);
}

// A page of zeros each.
struct Page {
  std::int64_t rows = 4, columns = 4;
  Type type{8, SAMPLEFORMAT_UINT};
  Form form{};
  std::string description{};
};
void write_pages(const std::filesystem::path& path, const std::vector<Page>& pages,
                 const char* mode = "w") {
  TIFF* const tiff = TIFFOpen(path.c_str(), mode);
  ASSERT_NE(tiff, nullptr);
  for (const Page& page : pages) {
    set_tags(tiff, page.form, page.type, page.rows, page.columns);
    if (!page.description.empty())
      TIFFSetField(tiff, TIFFTAG_IMAGEDESCRIPTION, page.description.c_str());
    std::vector<char> row(static_cast<std::size_t>(page.columns * page.type.bits));
    for (std::uint32_t y = 0; y < page.rows; ++y) TIFFWriteScanline(tiff, row.data(), y, 0);
    TIFFWriteDirectory(tiff);
  }
  TIFFClose(tiff);
}

class TiffTest : public VolumeTest {
 protected:
  template <class Voxel>
  void expect_read(const Form& form, VoxelType type) {
    const std::vector<Voxel> voxels = made_voxels<Voxel>(depth * height * width);
    write_tiff(path("v.tif"), form, voxels);
    const auto reader = open_volume(path("v.tif"));
    EXPECT_EQ(reader->header().shape, (VolumeShape{depth, height, width, 1}));
    EXPECT_EQ(reader->header().type, type);
    EXPECT_EQ(reader->header().spacing_mm, std::nullopt);
    EXPECT_EQ(voxels_of<Voxel>(*reader), voxels);
  }
};

TEST_F(TiffTest, EveryFormIsReadAsItWasWritten) {
  for (const char* mode : {"wl", "wb", "wl8", "wb8"})
    for (const int compression : {COMPRESSION_NONE, COMPRESSION_LZW, COMPRESSION_ADOBE_DEFLATE,
                                  COMPRESSION_DEFLATE, COMPRESSION_PACKBITS, 50000})
      for (const bool tiled : {false, true}) {
        SCOPED_TRACE(cat(mode, " compression ", compression, tiled ? " tiled" : ""));
        const Form form{.mode = mode, .compression = compression, .tiled = tiled};
        expect_read<std::uint8_t>(form, VoxelType::u8);
        expect_read<std::int8_t>(form, VoxelType::i8);
        expect_read<std::uint16_t>(form, VoxelType::u16);
        expect_read<std::int16_t>(form, VoxelType::i16);
        expect_read<std::uint32_t>(form, VoxelType::u32);
        expect_read<std::int32_t>(form, VoxelType::i32);
        expect_read<float>(form, VoxelType::f32);
        expect_read<double>(form, VoxelType::f64);
      }
}

TEST_F(TiffTest, WholeNumbersOf64BitsAreRead) {
  for (const char* mode : {"wl", "wb8"}) {
    const Form form{.mode = mode, .compression = COMPRESSION_ADOBE_DEFLATE};
    expect_read<std::int64_t>(form, VoxelType::i64);
    expect_read<std::uint64_t>(form, VoxelType::u64);
  }
}

TEST_F(TiffTest, PredictorsAreUndone) {
  for (const int compression : {COMPRESSION_LZW, COMPRESSION_ADOBE_DEFLATE}) {
    expect_read<std::uint8_t>({.compression = compression, .predictor = 2}, VoxelType::u8);
    expect_read<std::uint16_t>({.mode = "wb", .compression = compression, .predictor = 2},
                               VoxelType::u16);
    expect_read<float>({.compression = compression, .predictor = 3}, VoxelType::f32);
  }
}

TEST_F(TiffTest, VoxelsAreAsStoredWhereZeroIsWhite) {
  const auto voxels = made_voxels<std::uint16_t>(depth * height * width);
  for (const int photometric : {PHOTOMETRIC_MINISWHITE, PHOTOMETRIC_MINISBLACK}) {
    write_tiff(path("v.tif"), {.mode = "wb", .photometric = photometric}, voxels);
    const auto reader = open_volume(path("v.tif"));
    EXPECT_EQ(voxels_of<std::uint16_t>(*reader), voxels);
    EXPECT_EQ(reader->header().white_is_zero, photometric == PHOTOMETRIC_MINISWHITE);
  }
}

// Rows of bits, the first in the highest.
std::vector<std::uint8_t> packed(const std::vector<std::uint8_t>& bits, std::size_t row) {
  std::vector<std::uint8_t> bytes((row + 7) / 8);
  for (std::size_t i = 0; i < row; ++i)
    bytes[i / 8] = static_cast<std::uint8_t>(bytes[i / 8] | (bits[i] << (7 - i % 8)));
  return bytes;
}

TEST_F(TiffTest, BitsBecomeZerosAndOnes) {
  std::vector<std::uint8_t> voxels(depth * height * width);
  for (std::size_t i = 0; i < voxels.size(); ++i) voxels[i] = i * i % 7 < 3;
  for (const int photometric : {PHOTOMETRIC_MINISBLACK, PHOTOMETRIC_MINISWHITE})
    for (const bool tiled : {false, true}) {
      TIFF* const tiff = TIFFOpen(path("v.tif").c_str(), "w");
      for (std::int64_t z = 0; z < depth; ++z) {
        set_tags(tiff, {.compression = COMPRESSION_LZW, .tiled = tiled, .photometric = photometric},
                 {1, SAMPLEFORMAT_UINT}, height, width);
        std::vector<std::vector<std::uint8_t>> rows;
        for (std::int64_t y = 0; y < height; ++y) {
          const auto* const row = voxels.data() + (z * height + y) * width;
          rows.push_back(packed({row, row + width}, width));
        }
        for (std::uint32_t y = 0; !tiled && y < height; ++y)
          TIFFWriteScanline(tiff, rows[y].data(), y, 0);
        for (std::uint32_t y = 0; tiled && y < height; y += 32)
          for (std::uint32_t x = 0; x < width; x += 16) {
            std::vector<std::uint8_t> tile(2 * 32);
            for (std::uint32_t i = 0; i < 64 && y + i / 2 < height; ++i)
              if (x / 8 + i % 2 < rows[0].size()) tile[i] = rows[y + i / 2][x / 8 + i % 2];
            TIFFWriteTile(tiff, tile.data(), x, y, 0, 0);
          }
        TIFFWriteDirectory(tiff);
      }
      TIFFClose(tiff);
      const auto reader = open_volume(path("v.tif"));
      EXPECT_EQ(reader->header().type, VoxelType::u8);
      EXPECT_EQ(voxels_of<std::uint8_t>(*reader), voxels) << tiled;
    }
}

TEST_F(TiffTest, HalvesBecomeFloats) {
  const std::vector<std::pair<std::uint16_t, float>> known{
      {0x0000, 0.0F},    {0x3C00, 1.0F},     {0xC000, -2.0F},    {0x3555, 0.333251953125F},
      {0x7BFF, 65504.F}, {0x0400, 0x1p-14F}, {0x0001, 0x1p-24F}, {0x83FF, -0x1.ff8p-15F},
      {0x7C00, INFINITY}};
  const auto width = static_cast<std::uint32_t>(known.size());
  for (const char* mode : {"wl", "wb"}) {
    TIFF* const tiff = TIFFOpen(path("v.tif").c_str(), mode);
    for (int z = 0; z < 2; ++z) {
      set_tags(tiff, {.compression = COMPRESSION_ADOBE_DEFLATE}, {16, SAMPLEFORMAT_IEEEFP}, 1,
               width);
      std::vector<std::uint16_t> row;
      for (const auto& [half, value] : known) row.push_back(half);
      TIFFWriteScanline(tiff, row.data(), 0, 0);
      TIFFWriteDirectory(tiff);
    }
    TIFFClose(tiff);
    const auto reader = open_volume(path("v.tif"));
    EXPECT_EQ(reader->header().type, VoxelType::f32);
    const std::vector<float> found = voxels_of<float>(*reader);
    for (std::size_t i = 0; i < known.size(); ++i) EXPECT_EQ(found[i], known[i].second) << i;
  }
}

TEST_F(TiffTest, PlanesComeInAnyOrder) {
  const auto voxels = made_voxels<std::uint16_t>(depth * height * width);
  write_tiff(path("v.tif"), {.compression = COMPRESSION_LZW}, voxels);
  const auto reader = open_volume(path("v.tif"));
  std::vector<float> values(height * width);
  for (const std::int64_t z : {2, 0, 1, 1, 2}) {
    reader->read_values(z, 0, values);
    for (std::size_t i = 0; i < values.size(); ++i)
      ASSERT_EQ(values[i], voxels[static_cast<std::size_t>(z * height * width) + i]);
  }
}

TEST_F(TiffTest, ReadersInSeveralThreadsDoNotMeet) {
  const auto voxels = made_voxels<std::uint16_t>(depth * height * width);
  write_tiff(path("v.tif"), {.compression = COMPRESSION_ADOBE_DEFLATE}, voxels);
  write("bad.tif", read_file(path("v.tif")).substr(0, 300));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < 20; ++round) {
        EXPECT_EQ(voxels_of<std::uint16_t>(*open_volume(path("v.tif"))), voxels);
        EXPECT_NE(open_error(path("bad.tif")), "");
      }
    });
  for (std::thread& thread : threads) thread.join();
}

TEST_F(TiffTest, WhatIsNoStackIsNamed) {
  const auto expect = [&](const std::vector<Page>& pages, const std::string& why) {
    write_pages(path("v.tif"), pages);
    EXPECT_EQ(std::string(thrown_by([&] { open_volume(path("v.tif")); }).what()),
              cat("cannot read ", path("v.tif").string(), ": ", why));
  };
  expect({{}}, "it has one page, where a stack of them is expected");
  const Page rgb{.form = {.photometric = PHOTOMETRIC_RGB, .samples = 3}};
  expect({rgb, rgb}, "page 1: it is in colour (RGB)");
  expect({{}, rgb}, "page 2: it is in colour (RGB)");
  const Page two{.form = {.samples = 2}};
  expect({two, two}, "page 1: it has 2 values a pixel");
  expect({{}, {.rows = 5}}, "page 2: it is 5 x 4 u8, but page 1 is 4 x 4 u8");
  expect({{}, {}, {.type = {16, SAMPLEFORMAT_INT}}},
         "page 3: it is 4 x 4 i16, but page 1 is 4 x 4 u8");
  expect({{.type = {4, SAMPLEFORMAT_UINT}}, {}}, "page 1: its pixels are integer of 4 bits");
  expect({{.form = {.compression = COMPRESSION_JPEG}}, {}},
         "page 1: its compression, JPEG, is not read");
}

TEST_F(TiffTest, CompressionsThatAreNotReadAreNamed) {
  write_pages(path("v.tif"), {{}, {}});
  std::string bytes = read_file(path("v.tif"));
  const std::size_t entry = bytes.find(std::string("\x03\x01\x03\0", 4));
  ASSERT_NE(entry, bytes.npos);
  const std::pair<int, const char*> compressions[] = {
      {7, "JPEG"},     {34661, "JBIG"}, {34887, "LERC"},      {34925, "LZMA"},
      {50001, "WebP"}, {4, "CCITT"},    {34712, "JPEG 2000"}, {12345, "number 12345"}};
  for (const auto& [code, name] : compressions) {
    const auto value = static_cast<std::uint16_t>(code);
    std::memcpy(&bytes[entry + 8], &value, 2);
    const std::string error = open_error(write("other.tif", bytes));
    EXPECT_NE(error.find(cat("its compression, ", name, ", is not read")), error.npos) << error;
  }
}

TEST_F(TiffTest, OnePageIsReadWhereTheCallerAllowsIt) {
  write_pages(path("v.tif"), {{}});
  EXPECT_EQ(open_volume(path("v.tif"), {.allow_2d = true})->header().shape,
            (VolumeShape{1, 4, 4, 1}));
}

TEST_F(TiffTest, WhatIsBeyondTheLimitsIsRefusedBeforeAnythingIsAllocated) {
  write_pages(path("v.tif"), {{}, {}});
  std::string bytes = read_file(path("v.tif"));
  // Width and height of the first page become a million each: entries of tags 256 and 257.
  for (const char tag : {'\0', '\1'}) {
    const std::size_t at = bytes.find({tag, '\1'}, 8);
    ASSERT_NE(at, bytes.npos);
    for (std::size_t entry = at; entry < at + 1; ++entry) {
      const std::uint16_t type = 4;
      const std::uint32_t million = 1'000'000;
      std::memcpy(&bytes[at + 2], &type, 2);
      std::memcpy(&bytes[at + 8], &million, 4);
    }
  }
  const std::string error = open_error(write("huge.tif", bytes));
  EXPECT_NE(error.find("1000000 x 1000000, more than the 1073741824 voxels a plane that are read"),
            error.npos)
      << error;
  EXPECT_NE(open_error(path("v.tif"), {.limits = {.voxels = 31}}).find("more than the 31 voxels"),
            error.npos);
  EXPECT_NE(open_error(path("v.tif"), {.limits = {.planes = 1}}).find("more than the 1 planes"),
            error.npos);
}

TEST_F(TiffTest, FilesThatAreCutOffAreRefusedAndSaySo) {
  write_tiff(path("v.tif"), {.compression = COMPRESSION_LZW},
             made_voxels<std::uint8_t>(depth * height * width));
  const std::string bytes = read_file(path("v.tif"));
  ::testing::internal::CaptureStderr();
  for (std::size_t length = 0; length < bytes.size(); length += 7) {
    const auto file = write("cut.tif", bytes.substr(0, length));
    const std::string error = error_of([&] { voxels_of<std::uint8_t>(*open_volume(file)); });
    ASSERT_NE(error.find(file.string()), error.npos) << length << " " << error;
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_NE(open_error(write("empty.tif", "")).find("it is empty"), std::string::npos);
  EXPECT_NE(open_error(write("text.tif", "hello, world")).find("it is not a TIFF file"),
            std::string::npos);
}

TEST_F(TiffTest, DamagedPixelsAreAnErrorAndNotAMessageOnStderr) {
  write_tiff(path("v.tif"), {.compression = COMPRESSION_ADOBE_DEFLATE},
             made_voxels<std::uint8_t>(depth * height * width));
  std::string bytes = read_file(path("v.tif"));
  std::fill_n(bytes.begin() + 8, 40, '\xff');
  ::testing::internal::CaptureStderr();
  const std::string error =
      error_of([&] { voxels_of<std::uint8_t>(*open_volume(write("bad.tif", bytes))); });
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_NE(error.find("bad.tif: page 1: ZIP"), error.npos) << error;
}

TEST_F(TiffTest, ImageJSaysChannelsAndSpacing) {
  Page first{.description =
                 "ImageJ=1.53t\nimages=4\nchannels=2\nslices=2\nunit=micron\nspacing=2.5\n"};
  write_pages(path("v.tif"), {first, {}, {}, {}});
  EXPECT_EQ(open_volume(path("v.tif"))->header().shape, (VolumeShape{2, 4, 4, 2}));
  first.description = "ImageJ=1.53t\nimages=4\nframes=2\nslices=2\n";
  write_pages(path("v.tif"), {first, {}, {}, {}});
  EXPECT_NE(open_error(path("v.tif")).find("time series of 2 frames"), std::string::npos);
}

TEST_F(TiffTest, OmesChannelsAndSizesAreRead) {
  std::vector<std::uint8_t> values;
  TIFF* const tiff = TIFFOpen(path("v.ome.tif").c_str(), "w");
  for (std::uint8_t page = 0; page < 6; ++page) {  // planes of the first channel, then the second
    set_tags(tiff, {}, {8, SAMPLEFORMAT_UINT}, 1, 2);
    if (page == 0)
      TIFFSetField(
          tiff, TIFFTAG_IMAGEDESCRIPTION,
          "<OME><Image><Pixels DimensionOrder='XYZCT' SizeX='2' SizeY='1' SizeZ='3' "
          "SizeC='2' SizeT='1' PhysicalSizeX='0.5' PhysicalSizeY='0.25' "
          "PhysicalSizeZ='2000' PhysicalSizeZUnit='nm'><TiffData/></Pixels></Image></OME>");
    std::array<std::uint8_t, 2> row{page, page};
    TIFFWriteScanline(tiff, row.data(), 0, 0);
    TIFFWriteDirectory(tiff);
    values.insert(values.end(), row.begin(), row.end());
  }
  TIFFClose(tiff);
  const auto reader = open_volume(path("v.ome.tif"));
  EXPECT_EQ(reader->header().shape, (VolumeShape{3, 1, 2, 2}));
  EXPECT_EQ(voxels_of<std::uint8_t>(*reader), values);
  ASSERT_TRUE(reader->header().spacing_mm);
  EXPECT_EQ(describe_spacing(*reader->header().spacing_mm), "2 x 0.25 x 0.5 \u00B5m");
}

TEST_F(TiffTest, ASliceMayKeepTheDescriptionOfItsStack) {
  write_pages(path("v.tif"), {{.description = "ImageJ=1.53t\nimages=100\nslices=100\n"}});
  EXPECT_EQ(open_volume(path("v.tif"), {.allow_2d = true})->header().shape,
            (VolumeShape{1, 4, 4, 1}));
  EXPECT_NE(open_error(path("v.tif")).find("says images=100"), std::string::npos);
}

TEST_F(TiffTest, ImageJsPlanesBehindOnePageAreRead) {
  for (const char* mode : {"wl", "wb"}) {
    write_pages(
        path("v.tif"),
        {{.type = {16, SAMPLEFORMAT_UINT}, .description = "ImageJ=1.53t\nimages=3\nslices=3\n"}},
        mode);
    // libtiff puts the pixels first, at byte 8: the other planes want to lie behind them, so the
    // directory moves.
    std::string bytes = read_file(path("v.tif"));
    const auto at = static_cast<std::uint32_t>(bytes.size());
    const std::size_t entry = bytes.find(mode[1] == 'b' ? std::string("\x01\x11\0\x04", 4)
                                                        : std::string("\x11\x01\x04\0", 4));
    ASSERT_NE(entry, bytes.npos);
    for (std::size_t i = 0; i < 4; ++i)
      bytes[entry + 8 + i] = static_cast<char>(at >> 8 * (mode[1] == 'b' ? 3 - i : i));
    for (int voxel = 0; voxel < 48; ++voxel) {
      const char low = static_cast<char>(voxel), high = 1;
      bytes += mode[1] == 'b' ? std::string{high, low} : std::string{low, high};
    }
    const auto reader = open_volume(write("raw.tif", bytes));
    EXPECT_EQ(reader->header().shape, (VolumeShape{3, 4, 4, 1}));
    const auto read = voxels_of<std::uint16_t>(*reader);
    for (std::size_t i = 0; i < 48; ++i) ASSERT_EQ(read[i], 256 + i) << mode;
    bytes.pop_back();
    EXPECT_NE(open_error(write("raw.tif", bytes)).find("truncated"), std::string::npos);
  }
}

template <class Voxel>
void expect_round_trip(const std::filesystem::path& path, VoxelType type,
                       TiffCompression compression) {
  VolumeHeader header{.shape = {5, 300, 700, 1}, .type = type, .spacing_mm = {{0.5, 0.25, 0.125}}};
  const auto voxels = made_voxels<Voxel>(5 * 300 * 700);
  write_all(*create_tiff(path, header, compression), voxels, 5);
  const auto reader = open_volume(path);
  EXPECT_EQ(reader->header().shape, header.shape);
  EXPECT_EQ(reader->header().type, type);
  EXPECT_EQ(reader->header().spacing_mm, header.spacing_mm);
  EXPECT_EQ(voxels_of<Voxel>(*reader), voxels);
}

TEST_F(TiffTest, WhatIsWrittenComesBack) {
  for (const auto compression :
       {TiffCompression::none, TiffCompression::lzw, TiffCompression::deflate}) {
    expect_round_trip<std::uint8_t>(path("v.tif"), VoxelType::u8, compression);
    expect_round_trip<std::uint16_t>(path("v.tif"), VoxelType::u16, compression);
    expect_round_trip<float>(path("v.tif"), VoxelType::f32, compression);
  }
}

TEST_F(TiffTest, AFileThatIsNotFinishedIsNotThere) {
  {
    const auto writer = create_tiff(path("v.tif"), {.shape = {2, 2, 2, 1}});
    writer->write_plane(plane_of(made_voxels<std::uint8_t>(8), 2, 0));
    EXPECT_FALSE(std::filesystem::exists(path("v.tif")));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
  EXPECT_NE(error_of([&] {
              create_tiff(path("no/v.tif"), {.shape = {2, 2, 2, 1}});
            }).find("cannot write"),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              create_tiff(path("v.tif"), {.shape = {2, 2, 2, 3}});
            }).find("3 channels"),
            std::string::npos);
}

TEST_F(TiffTest, RealStacksAreReadAndWrittenAgain) {
  const auto data = lockstep::testing::test_data("volume");
  if (data.path.empty()) GTEST_SKIP() << data.why_not;
  const std::pair<const char*, VolumeShape> files[] = {
      {"nuclei/train_images/1135.tif", {100, 100, 100, 1}},
      {"nuclei/train_labels/1135.tif", {100, 100, 100, 1}},
      {"mni/test_images/mni_y026_z000.tif", {80, 64, 80, 1}},
      {"mni/test_labels/mni_y026_z000.tif", {80, 64, 80, 1}}};
  for (const auto& [name, shape] : files) {
    const auto reader = open_volume(std::filesystem::path(data.path) / name);
    EXPECT_EQ(reader->header().shape, shape) << name;
    EXPECT_EQ(reader->header().type, VoxelType::u8);
    const auto voxels = voxels_of<std::uint8_t>(*reader);
    EXPECT_NE(std::count(voxels.begin(), voxels.end(), 0),
              static_cast<std::ptrdiff_t>(voxels.size()));
    write_all(*create_tiff(path("again.tif"), reader->header()), voxels, shape.depth);
    EXPECT_EQ(voxels_of<std::uint8_t>(*open_volume(path("again.tif"))), voxels);
  }
}

}  // namespace
}  // namespace lockstep::volume

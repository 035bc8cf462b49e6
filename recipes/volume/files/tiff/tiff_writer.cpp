// Writes TIFF stacks with libtiff.
#include <algorithm>
#include <cerrno>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "recipes/volume/files/tiff/imagej.h"
#include "recipes/volume/files/tiff/tiff_handle.h"
#include "recipes/volume/files/volume_writer.h"

namespace lockstep::volume {
namespace {

constexpr std::size_t strip_bytes = 256 << 10;
constexpr std::uint64_t most_of_classic = std::uint64_t{3'900'000'000};

std::uint16_t format_of(VoxelType type) {
  switch (type) {
    case VoxelType::i8:
    case VoxelType::i16:
    case VoxelType::i32:
    case VoxelType::i64:
      return SAMPLEFORMAT_INT;
    case VoxelType::f32:
    case VoxelType::f64:
      return SAMPLEFORMAT_IEEEFP;
    default:
      return SAMPLEFORMAT_UINT;
  }
}

std::uint16_t code_of(TiffCompression compression) {
  if (compression == TiffCompression::lzw) return COMPRESSION_LZW;
  return compression == TiffCompression::deflate ? COMPRESSION_ADOBE_DEFLATE : COMPRESSION_NONE;
}

class TiffWriter : public VolumeWriter {
 public:
  TiffWriter(const std::filesystem::path& path, const VolumeHeader& header,
             TiffCompression compression)
      : VolumeWriter(path, header), compression_(compression) {
    stream_.fd = file().fd();
    const std::uint64_t bytes =
        plane_bytes(header) * static_cast<std::uint64_t>(header.shape.depth);
    tiff_ = open_tiff_handle(stream_, path.string(), bytes > most_of_classic ? "w8" : "w");
    if (!tiff_) fail();
  }

 private:
  void write(std::span<const std::byte> plane) override {
    set_tags();
    const std::size_t row = plane_bytes(header()) / static_cast<std::size_t>(header().shape.height);
    const std::size_t strip = rows_per_strip() * row;
    for (std::size_t at = 0; at < plane.size(); at += strip) {
      const std::span piece = plane.subspan(at, std::min(strip, plane.size() - at));
      // libtiff modifies the buffer only if it swaps bytes.
      if (TIFFWriteEncodedStrip(tiff_.get(), static_cast<std::uint32_t>(at / strip),
                                const_cast<std::byte*>(piece.data()),
                                static_cast<tmsize_t>(piece.size())) < 0)
        fail();
    }
    if (!TIFFWriteDirectory(tiff_.get()) || stream_.error != 0) fail();
    first_ = false;
  }
  void close() override {
    tiff_.reset();
    if (stream_.error != 0) fail();
  }

  std::uint32_t rows_per_strip() const {
    const std::size_t row =
        static_cast<std::size_t>(header().shape.width) * bytes_of(header().type);
    return static_cast<std::uint32_t>(std::clamp<std::size_t>(
        strip_bytes / row, 1, static_cast<std::size_t>(header().shape.height)));
  }
  void set_tags() {
    TIFF* const tiff = tiff_.get();
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, static_cast<std::uint32_t>(header().shape.width));
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, static_cast<std::uint32_t>(header().shape.height));
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, static_cast<int>(8 * bytes_of(header().type)));
    TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, static_cast<int>(format_of(header().type)));
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
    TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    TIFFSetField(tiff, TIFFTAG_COMPRESSION, static_cast<int>(code_of(compression_)));
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, rows_per_strip());
    if (!header().spacing_mm) return;
    const auto& [z, y, x] = *header().spacing_mm;
    TIFFSetField(tiff, TIFFTAG_RESOLUTIONUNIT, RESUNIT_NONE);
    TIFFSetField(tiff, TIFFTAG_XRESOLUTION, 1 / x);
    TIFFSetField(tiff, TIFFTAG_YRESOLUTION, 1 / y);
    if (first_)
      TIFFSetField(tiff, TIFFTAG_IMAGEDESCRIPTION,
                   imagej_description(header().shape.depth, z).c_str());
  }
  [[noreturn]] void fail() {
    if (stream_.error != 0) file().fail(stream_.error);
    throw Error(cat("cannot write ", file().path().string(), ": ", take_tiff_message()));
  }

  TiffCompression compression_;
  TiffStream stream_;
  TiffHandle tiff_;  // destroyed before the stream
  bool first_ = true;
};

}  // namespace

std::unique_ptr<VolumeWriter> create_tiff(const std::filesystem::path& path,
                                          const VolumeHeader& header, TiffCompression compression) {
  if (header.shape.channels != 1)
    throw Error(
        cat("cannot write ", path.string(), ": it would have ", header.shape.channels, " channels"),
        "write a TIFF for each channel, or one NIfTI file");
  if (header.slope != 1 || header.intercept != 0)
    throw Error(
        cat("cannot write ", path.string(), ": a TIFF has no place for slope and intercept"),
        "write the values meant, as f32, or a NIfTI file");
  return std::make_unique<TiffWriter>(path, header, compression);
}

}  // namespace lockstep::volume

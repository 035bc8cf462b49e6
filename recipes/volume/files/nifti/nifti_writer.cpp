// Writes NIfTI files, compressed with gzip or not.
#include <zlib.h>

#include <algorithm>
#include <vector>

#include "core/base/check.h"
#include "recipes/volume/files/nifti/nifti_header.h"
#include "recipes/volume/files/volume_writer.h"

namespace lockstep::volume {
namespace {

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class PlainWriter : public VolumeWriter {
 public:
  PlainWriter(const std::filesystem::path& path, const VolumeHeader& header)
      : VolumeWriter(path, header) {
    write(make_nifti_header(header));
  }

 private:
  void write(std::span<const std::byte> bytes) override { file().append(text_of(bytes)); }
  void close() override {}
};

class GzipWriter : public VolumeWriter {
 public:
  GzipWriter(const std::filesystem::path& path, const VolumeHeader& header)
      : VolumeWriter(path, header), output_(256 << 10) {
    constexpr int gzip = 15 + 16, memory = 8;
    LOCKSTEP_CHECK(deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip, memory,
                                Z_DEFAULT_STRATEGY) == Z_OK);
    write(make_nifti_header(header));
  }
  ~GzipWriter() override { deflateEnd(&stream_); }

 private:
  void write(std::span<const std::byte> bytes) override {
    constexpr std::size_t most = std::size_t{1} << 30;
    while (!bytes.empty()) {
      const std::span piece = bytes.first(std::min(bytes.size(), most));
      press(piece, Z_NO_FLUSH);
      bytes = bytes.subspan(piece.size());
    }
  }
  void close() override { press({}, Z_FINISH); }
  void press(std::span<const std::byte> bytes, int flush) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(output_.data());
      stream_.avail_out = static_cast<uInt>(output_.size());
      LOCKSTEP_CHECK(deflate(&stream_, flush) != Z_STREAM_ERROR);
      file().append(text_of({output_.data(), output_.size() - stream_.avail_out}));
    } while (stream_.avail_out == 0);
  }

  z_stream stream_{};
  std::vector<std::byte> output_;
};

}  // namespace

std::unique_ptr<VolumeWriter> create_nifti(const std::filesystem::path& path,
                                           const VolumeHeader& header) {
  if (path.extension() == ".gz") return std::make_unique<GzipWriter>(path, header);
  return std::make_unique<PlainWriter>(path, header);
}

}  // namespace lockstep::volume

// Writes volumes plane by plane: TIFF and NIfTI.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

#include "core/base/files/new_file.h"
#include "recipes/volume/files/volume_header.h"

namespace lockstep::volume {

// The file appears under its name, complete, with finish(). Before or without that call, it does
// not exist.
class VolumeWriter {
 public:
  virtual ~VolumeWriter() = default;
  // Writes the next plane, in the machine's byte order. Planes come in the order of z; with several
  // channels, all planes of the first channel come before the second. Throws Error, which names the
  // file.
  void write_plane(std::span<const std::byte> plane);
  // Call it after all planes. The file is then durable. Throws Error.
  void finish();

 protected:
  VolumeWriter(const std::filesystem::path& path, const VolumeHeader& header);
  const VolumeHeader& header() const { return header_; }
  NewFile& file() { return file_; }
  virtual void write(std::span<const std::byte> plane) = 0;
  virtual void close() = 0;

 private:
  NewFile file_;
  VolumeHeader header_;
  std::int64_t planes_ = 0;
};

enum class TiffCompression { none, lzw, deflate };

// Writes a page per plane, with the header's shape (one channel) and type; BigTIFF if the file may
// exceed 4 GiB. A spacing is written in ImageJ's form. TIFF cannot hold slope and intercept: these
// must be 1 and 0, otherwise Error.
std::unique_ptr<VolumeWriter> create_tiff(const std::filesystem::path& path,
                                          const VolumeHeader& header,
                                          TiffCompression compression = TiffCompression::deflate);
// Writes .nii or .nii.gz, depending on the name, in the machine's byte order. Place and version are
// those of header.space; without it, only the spacing is written.
std::unique_ptr<VolumeWriter> create_nifti(const std::filesystem::path& path,
                                           const VolumeHeader& header);

}  // namespace lockstep::volume

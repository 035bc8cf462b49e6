// Writes volumes plane by plane: TIFF and NIfTI.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

#include "core/base/files/new_file.h"
#include "recipes/volume/files/volume_header.h"

namespace lockstep::volume {

// The file appears under its name when finish() returns. Until then, the name does not exist, or
// names an older file.
class VolumeWriter {
 public:
  virtual ~VolumeWriter() = default;
  // Writes the next plane, in the machine's byte order. The order is that of NIfTI: all planes of
  // the first channel in the order of z, then those of the second channel. Throws Error, which
  // names the file.
  void write_plane(std::span<const std::byte> plane);
  // Makes the file durable. Call it after all planes. Throws Error.
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

// Writes a TIFF with a page for each plane. The header must have one channel, slope 1 and intercept
// 0, because TIFF has no place for slope and intercept. Throws Error for other slopes and
// intercepts. The file is a BigTIFF if it may exceed 4 GiB. A spacing is written in ImageJ's form.
std::unique_ptr<VolumeWriter> create_tiff(const std::filesystem::path& path,
                                          const VolumeHeader& header,
                                          TiffCompression compression = TiffCompression::deflate);
// Writes .nii or .nii.gz, depending on the name, in the machine's byte order. header.space states
// the place of the voxels and the version. If that is empty, only the spacing is written.
std::unique_ptr<VolumeWriter> create_nifti(const std::filesystem::path& path,
                                           const VolumeHeader& header);

}  // namespace lockstep::volume

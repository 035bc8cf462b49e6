// Volumes written plane by plane: TIFF and NIfTI.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

#include "core/base/files/new_file.h"
#include "recipes/volume/files/volume_header.h"

namespace lockstep::volume {

// The file is there under its name after finish(), whole; before, or without it, it is not.
class VolumeWriter {
 public:
  virtual ~VolumeWriter() = default;
  // The next plane, in the machine's byte order: z by z; of several channels, all of the first
  // before the second. Throws Error, which names the file.
  void write_plane(std::span<const std::byte> plane);
  // After all planes. Durable. Throws Error.
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

// A page a plane, of the header's shape (one channel) and type; BigTIFF if 4 GiB would not do. A
// spacing is written as ImageJ has it. slope and intercept cannot be kept: 1 and 0, or an Error.
std::unique_ptr<VolumeWriter> create_tiff(const std::filesystem::path& path,
                                          const VolumeHeader& header,
                                          TiffCompression compression = TiffCompression::deflate);
// .nii, or .nii.gz by the name, in the machine's byte order, with the place and version of
// header.space if there is one and of its spacing alone otherwise.
std::unique_ptr<VolumeWriter> create_nifti(const std::filesystem::path& path,
                                           const VolumeHeader& header);

}  // namespace lockstep::volume

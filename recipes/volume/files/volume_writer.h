// Writes volumes plane by plane, as TIFF or NIfTI files.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

#include "core/base/files/new_file.h"
#include "recipes/volume/files/volume_header.h"

namespace lockstep::volume {

// The file appears under its name when finish() returns. Until then, there is no file of this name,
// or an older file keeps the name.
class VolumeWriter {
 public:
  virtual ~VolumeWriter() = default;
  // Writes the next plane, in the machine's byte order. All planes of the first channel come first,
  // in the order of z. Then come all planes of the second channel, as in NIfTI. If writing fails,
  // throws Error that names the file.
  void write_plane(std::span<const std::byte> plane);
  // Syncs the file to disk and gives it its name. Call it after all planes. Throws Error if that
  // fails.
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

// Writes a TIFF with a page for each plane. The header must have one channel. Throws Error unless
// the slope is 1 and the intercept 0, because TIFF cannot store them. The file is a BigTIFF if it
// may exceed 4 GiB. A spacing is written as ImageJ writes it (tiff/imagej.h).
std::unique_ptr<VolumeWriter> create_tiff(const std::filesystem::path& path,
                                          const VolumeHeader& header,
                                          TiffCompression compression = TiffCompression::deflate);
// Writes .nii or .nii.gz, depending on the name, in the machine's byte order. header.space states
// where the voxels lie in space, and the version of NIfTI. If header.space has no value, only the
// spacing is written.
std::unique_ptr<VolumeWriter> create_nifti(const std::filesystem::path& path,
                                           const VolumeHeader& header);

}  // namespace lockstep::volume

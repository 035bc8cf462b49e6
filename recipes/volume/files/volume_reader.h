// Reads volumes plane by plane: TIFF, NIfTI and folders of slices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "recipes/volume/files/byte_source.h"
#include "recipes/volume/files/volume_header.h"

namespace lockstep::volume {

// Only one thread at a time may use a reader. Several threads may use different readers at once.
class VolumeReader {
 public:
  virtual ~VolumeReader() = default;
  const std::string& name() const { return name_; }
  const VolumeHeader& header() const { return header_; }

  // Reads plane z of a channel as it is stored, but in the machine's byte order. out:
  // plane_bytes(header()) bytes. Planes may be read in any order, but reading is fastest in the
  // order of the file. Most TIFF files have all channels of a plane together. In NIfTI, all planes
  // of a channel are together. Going backwards in a .nii.gz reads it again from the start. If
  // reading fails, throws Error that names the file and the reason.
  void read_plane(std::int64_t z, std::int64_t channel, std::span<std::byte> out);
  // Reads the values of a plane, which are slope * stored + intercept. out: height x width values.
  // Throws Error as read_plane does.
  void read_values(std::int64_t z, std::int64_t channel, std::span<float> out);

 protected:
  VolumeReader(std::string name, VolumeHeader header) : name_(std::move(name)), header_(header) {}
  virtual void read(std::int64_t z, std::int64_t channel, std::span<std::byte> out) = 0;

 private:
  std::string name_;
  VolumeHeader header_;
};

// Opens a TIFF or NIfTI file, which is recognised by its content. Also opens a folder of slices
// (TIFF, PNG, JPEG), in the order of natural_less (slice_names.h). Reads headers only. If the
// volume cannot be read, throws Error that names the file and the reason.
std::unique_ptr<VolumeReader> open_volume(const std::filesystem::path& path,
                                          const ReadVolume& how = {});

// Returns whether a TIFF has only one page, whatever the content of the page is. Returns no value
// if the file is not a TIFF, or if libtiff cannot open it.
std::optional<bool> has_one_page(const std::filesystem::path& path);

// The readers that open_volume uses. open_folder reads a folder whose files are slices.
// open_picture reads a single image file as a folder of one slice.
std::unique_ptr<VolumeReader> open_tiff(std::unique_ptr<ByteSource> source,
                                        const ReadVolume& how = {});
std::unique_ptr<VolumeReader> open_nifti(std::unique_ptr<ByteSource> source,
                                         const ReadVolume& how = {});
std::unique_ptr<VolumeReader> open_folder(const std::filesystem::path& path,
                                          const ReadVolume& how = {});
std::unique_ptr<VolumeReader> open_picture(const std::filesystem::path& path,
                                           const ReadVolume& how = {});

}  // namespace lockstep::volume

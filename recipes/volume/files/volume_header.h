// The header of a volume, which is known before its voxels are read: shape, type, spacing and
// place.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace lockstep::volume {

enum class VoxelType { u8, i8, u16, i16, u32, i32, i64, u64, f32, f64 };
std::size_t bytes_of(VoxelType type);
const char* name_of(VoxelType type);  // "u8"

// A volume is [channels, depth, height, width]. A plane is [height, width].
struct VolumeShape {
  std::int64_t depth = 0, height = 0, width = 0, channels = 1;
  friend bool operator==(const VolumeShape&, const VolumeShape&) = default;
};
std::string describe(const VolumeShape& shape);  // "80 x 64 x 80", "80 x 64 x 80, 2 channels"

// Returns, for example, "2 x 0.5 x 0.5 mm" (z, y, x). If the smallest number is below 0.1 mm, the
// unit is µm: "40 x 2 x 2 µm".
std::string describe_spacing(const std::array<double, 3>& spacing_mm);

// The place of the voxels of a NIfTI file in space. The members have the values of the file's
// header, so they can be written again unchanged.
struct NiftiSpace {
  int version = 1;  // 1 or 2
  int units = 2;    // xyzt_units
  int qform_code = 0, sform_code = 0;
  // pixdim[0] is qfac, the sign of the third axis
  std::array<double, 8> pixdim{1, 1, 1, 1, 1, 1, 1, 1};
  std::array<double, 3> quaternion{}, offset{};  // b, c, d; x, y, z
  std::array<std::array<double, 4>, 3> srow{};
  friend bool operator==(const NiftiSpace&, const NiftiSpace&) = default;
};
struct VolumeHeader {
  VolumeShape shape;
  VoxelType type = VoxelType::u8;  // of the stored voxels
  // z, y, x; nothing if the file does not state it
  std::optional<std::array<double, 3>> spacing_mm;
  double slope = 1, intercept = 0;  // a voxel's value is slope x stored + intercept
  std::optional<NiftiSpace> space;  // only for NIfTI files
  bool white_is_zero = false;       // WhiteIsZero of a TIFF; values are not inverted
};
// Returns the affine that maps voxel (x, y, z, 1) to a place in space, in the file's unit.
// header.space must be set. The affine is the same as in nibabel:
//   - the sform, if its code is above 0
//   - else the qform, if its code is above 0
//   - else made from the spacing, with the volume's centre at 0 and x increasing to the left
// The matrix is [row][column]. Its last row is 0 0 0 1.
std::array<std::array<double, 4>, 4> affine_of(const VolumeHeader& header);
// Returns the number of bytes of one plane of one channel. The shape must be within VolumeLimits.
std::size_t plane_bytes(const VolumeHeader& header);

struct VolumeLimits {
  std::int64_t voxels = std::int64_t{1} << 36;        // of all channels
  std::int64_t plane_voxels = std::int64_t{1} << 30;  // height x width
  std::int64_t planes = 65'535;                       // channels x depth
};

struct ReadVolume {
  bool allow_2d = false;  // if false, a depth of 1 is an Error
  // If the description of a TIFF states channels or times of a single plane, reads them as planes.
  bool as_planes = false;
  // For PNG slices: reads the indices of a palette, and values of 1, 2 or 4 bits, without
  // conversion.
  bool labels = false;
  VolumeLimits limits{};
};

// Reports a fault of a file. Always throws Error, which names the file.
using Refuse = std::function<void(const std::string& why, const std::string& hint)>;

// Throws Error, which names the file, if the shape is empty or beyond the limits. Also throws Error
// for a depth of 1, unless allow_2d is set.
void check_shape(const VolumeShape& shape, const std::string& name, const ReadVolume& how);

}  // namespace lockstep::volume

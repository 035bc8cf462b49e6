// The header of a volume, before its voxels are read: shape, type, spacing and place.
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

// [channels, depth, height, width]; a plane is [height, width].
struct VolumeShape {
  std::int64_t depth = 0, height = 0, width = 0, channels = 1;
  friend bool operator==(const VolumeShape&, const VolumeShape&) = default;
};
std::string describe(const VolumeShape& shape);  // "80 x 64 x 80", "80 x 64 x 80, 2 channels"

// "2 x 0.5 x 0.5 mm" (z, y, x), or "40 x 2 x 2 µm" if the smallest is below 0.1 mm.
std::string describe_spacing(const std::array<double, 3>& spacing_mm);

// The place of voxels that a NIfTI file states, as in its header, so that it can be written again.
struct NiftiSpace {
  int version = 1;  // 1 or 2
  int units = 2;    // xyzt_units
  int qform_code = 0, sform_code = 0;
  std::array<double, 8> pixdim{1, 1, 1, 1, 1, 1, 1, 1};  // [0]: the sign of the third axis
  std::array<double, 3> quaternion{}, offset{};          // b, c, d; x, y, z
  std::array<std::array<double, 4>, 3> srow{};
  friend bool operator==(const NiftiSpace&, const NiftiSpace&) = default;
};
struct VolumeHeader {
  VolumeShape shape;
  VoxelType type = VoxelType::u8;                   // of the voxels as stored
  std::optional<std::array<double, 3>> spacing_mm;  // z, y, x; nothing: the file does not state it
  double slope = 1, intercept = 0;                  // a voxel's value is slope x stored + intercept
  std::optional<NiftiSpace> space;                  // for NIfTI files
  bool white_is_zero = false;                       // whether a TIFF says so; voxels stay as stored
};
// Maps voxel (x, y, z, 1) to the space of the file, in the file's unit, as nibabel does. It is the
// sform if its code is positive, else the qform if that has one. Otherwise it is made from the
// spacing, with the volume's centre at 0 and x running to the left. Row by row; the last row is 0 0
// 0 1. header.space must be set.
std::array<std::array<double, 4>, 4> affine_of(const VolumeHeader& header);
// The bytes of one plane of one channel. The shape must be within limits.
std::size_t plane_bytes(const VolumeHeader& header);

struct VolumeLimits {
  std::int64_t voxels = std::int64_t{1} << 36;        // of all channels
  std::int64_t plane_voxels = std::int64_t{1} << 30;  // height x width
  std::int64_t planes = 65'535;                       // channels x depth
};

struct ReadVolume {
  bool allow_2d = false;  // otherwise a depth of 1 is an Error
  // read channels or times of one plane, as a TIFF's description states them, as planes
  bool as_planes = false;
  // for PNG slices: read a palette's indices, and small numbers of few bits, as they are
  bool labels = false;
  VolumeLimits limits{};
};

// Throws Error, which names the file.
using Refuse = std::function<void(const std::string& why, const std::string& hint)>;

// Throws Error, which names the file, for an empty shape, a shape beyond the limits, and a depth of
// 1 if that is not allowed.
void check_shape(const VolumeShape& shape, const std::string& name, const ReadVolume& how);

}  // namespace lockstep::volume

// The header of a volume, which is known before its voxels are read. It contains shape, type,
// spacing, and where the voxels lie in space.
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
const char* name_of(VoxelType type);  // for example, "u8"

// A volume is [channels, depth, height, width]. A plane is [height, width].
struct VolumeShape {
  std::int64_t depth = 0, height = 0, width = 0, channels = 1;
  friend bool operator==(const VolumeShape&, const VolumeShape&) = default;
};
std::string describe(const VolumeShape& shape);  // "80 x 64 x 80", "80 x 64 x 80, 2 channels"

// Returns, for example, "2 x 0.5 x 0.5 mm" (z, y, x). If the smallest number is below 0.1 mm, the
// unit is µm: "40 x 2 x 2 µm".
std::string describe_spacing(const std::array<double, 3>& spacing_mm);

// Where the voxels of a NIfTI file lie in space. The members have the values of the file's header,
// so they can be written again unchanged.
struct NiftiSpace {
  int version = 1;  // 1 or 2
  int units = 2;    // xyzt_units of the header
  int qform_code = 0, sform_code = 0;
  // pixdim[0] is qfac, the sign of the third axis
  std::array<double, 8> pixdim{1, 1, 1, 1, 1, 1, 1, 1};
  std::array<double, 3> quaternion{}, offset{};  // b, c, d; x, y, z
  std::array<std::array<double, 4>, 3> srow{};
  friend bool operator==(const NiftiSpace&, const NiftiSpace&) = default;
};
struct VolumeHeader {
  VolumeShape shape;
  VoxelType type = VoxelType::u8;  // type of the stored voxels
  // z, y, x; no value if the file does not state the spacing
  std::optional<std::array<double, 3>> spacing_mm;
  double slope = 1, intercept = 0;  // the value of a voxel is slope * stored + intercept
  std::optional<NiftiSpace> space;  // only for NIfTI files
  bool white_is_zero = false;       // a TIFF with WhiteIsZero; values are not inverted
};
// Returns the affine that maps voxel (x, y, z, 1) to its position in space, in the unit of the
// file. header.space must be set. The affine is the same as in nibabel:
//   - the sform, if its code is above 0
//   - else the qform, if its code is above 0
//   - else an affine from the spacing, with the volume's centre at 0 and x increasing to the left
// The matrix is [row][column]. Its last row is 0 0 0 1.
std::array<std::array<double, 4>, 4> affine_of(const VolumeHeader& header);
// Returns the number of bytes of one plane of one channel. header.shape must be within
// VolumeLimits.
std::size_t plane_bytes(const VolumeHeader& header);

struct VolumeLimits {
  std::int64_t voxels = std::int64_t{1} << 36;        // of all channels together
  std::int64_t plane_voxels = std::int64_t{1} << 30;  // height x width
  std::int64_t planes = 65'535;                       // channels x depth
};

struct ReadVolume {
  bool allow_2d = false;  // if false, reading throws Error for a depth of 1
  // Whether to read channels or times as planes, if the description of a TIFF states them for a
  // single plane.
  bool as_planes = false;
  // Whether the volume contains labels. Then, for PNG slices, indices of a palette and values of 1,
  // 2 or 4 bits are read without conversion.
  bool labels = false;
  VolumeLimits limits{};
};

// A function that reports a fault of a file. It always throws Error, which names the file.
using Refuse = std::function<void(const std::string& why, const std::string& hint)>;

// Throws Error, which names the file, if the shape is empty or beyond the limits. Also throws Error
// for a depth of 1, unless allow_2d is set.
void check_shape(const VolumeShape& shape, const std::string& name, const ReadVolume& how);

}  // namespace lockstep::volume

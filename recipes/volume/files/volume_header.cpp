// Checks shapes and computes the affine of a NIfTI header.
#include "recipes/volume/files/volume_header.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/text/text.h"

namespace lockstep::volume {
namespace {

// Whether a x b is at most `most`. All must be positive.
bool product_within(std::int64_t a, std::int64_t b, std::int64_t most) { return a <= most / b; }

using Matrix = std::array<std::array<double, 4>, 4>;

// Method 2 of the NIfTI-1 standard: a rotation from a unit quaternion, and the pixel sizes.
Matrix qform(const NiftiSpace& space) {
  const auto [b, c, d] = space.quaternion;
  const double a = std::sqrt(std::max(0.0, 1 - (b * b + c * c + d * d)));
  const double sign = space.pixdim[0] < 0 ? -1 : 1;
  const std::array<double, 3> size{std::abs(space.pixdim[1]), std::abs(space.pixdim[2]),
                                   sign * std::abs(space.pixdim[3])};
  const double rotation[3][3] = {
      {a * a + b * b - c * c - d * d, 2 * (b * c - a * d), 2 * (b * d + a * c)},
      {2 * (b * c + a * d), a * a + c * c - b * b - d * d, 2 * (c * d - a * b)},
      {2 * (b * d - a * c), 2 * (c * d + a * b), a * a + d * d - c * c - b * b}};
  Matrix matrix{};
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t column = 0; column < 3; ++column)
      matrix[row][column] = rotation[row][column] * size[column];
    matrix[row][3] = space.offset[row];
  }
  matrix[3][3] = 1;
  return matrix;
}

// nibabel's affine for a header that gives no place. A size of 0 is treated as 1.
Matrix without_codes(const VolumeHeader& header) {
  const VolumeShape& shape = header.shape;
  const std::array<std::int64_t, 3> extents{shape.width, shape.height, shape.depth};
  Matrix matrix{};
  for (std::size_t row = 0; row < 3; ++row) {
    const double stored = std::abs(header.space->pixdim[row + 1]);
    const double size = (row == 0 ? -1 : 1) * (stored == 0 ? 1 : stored);
    matrix[row][row] = size;
    matrix[row][3] = -size * static_cast<double>(extents[row] - 1) / 2;
  }
  matrix[3][3] = 1;
  return matrix;
}

}  // namespace

std::size_t bytes_of(VoxelType type) {
  switch (type) {
    case VoxelType::u8:
    case VoxelType::i8:
      return 1;
    case VoxelType::u16:
    case VoxelType::i16:
      return 2;
    case VoxelType::i64:
    case VoxelType::u64:
    case VoxelType::f64:
      return 8;
    default:
      return 4;
  }
}

const char* name_of(VoxelType type) {
  static constexpr const char* names[] = {"u8",  "i8",  "u16", "i16", "u32",
                                          "i32", "i64", "u64", "f32", "f64"};
  return names[static_cast<std::size_t>(type)];
}

std::string describe(const VolumeShape& shape) {
  std::string text = cat(shape.depth, " x ", shape.height, " x ", shape.width);
  if (shape.channels != 1) text += cat(", ", shape.channels, " channels");
  return text;
}

std::string describe_spacing(const std::array<double, 3>& spacing_mm) {
  constexpr double small_mm = 0.1;
  const auto [z, y, x] = spacing_mm;
  const bool small = std::min({z, y, x}) < small_mm;
  const auto text = [&](double mm) { return general(small ? mm * 1000 : mm, 4); };
  return cat(text(z), " x ", text(y), " x ", text(x), small ? " \u00B5m" : " mm");
}

Matrix affine_of(const VolumeHeader& header) {
  const NiftiSpace& space = header.space.value();
  if (space.sform_code <= 0) return space.qform_code > 0 ? qform(space) : without_codes(header);
  Matrix matrix{};
  for (std::size_t row = 0; row < 3; ++row) matrix[row] = space.srow[row];
  matrix[3][3] = 1;
  return matrix;
}

std::size_t plane_bytes(const VolumeHeader& header) {
  return static_cast<std::size_t>(header.shape.height * header.shape.width) * bytes_of(header.type);
}

void check_shape(const VolumeShape& shape, const std::string& name, const ReadVolume& how) {
  if (std::min({shape.depth, shape.height, shape.width, shape.channels}) < 1)
    throw Error(cat("cannot read ", name, ": its shape is ", describe(shape), ", which is empty"));
  const VolumeLimits& limits = how.limits;
  const auto refuse = [&](const char* what, std::int64_t most) {
    throw Error(cat("cannot read ", name, ": its shape is ", describe(shape), ", more than the ",
                    most, " ", what, " that are read"),
                "see that the file is not damaged; cut a larger volume into parts");
  };
  if (!product_within(shape.height, shape.width, limits.plane_voxels))
    refuse("voxels a plane", limits.plane_voxels);
  if (!product_within(shape.depth, shape.channels, limits.planes)) refuse("planes", limits.planes);
  if (!product_within(shape.height * shape.width, shape.depth * shape.channels, limits.voxels))
    refuse("voxels", limits.voxels);
  if (shape.depth == 1 && !how.allow_2d)
    throw Error(cat("cannot read ", name, ": it has one page, where a stack of them is expected"),
                "a volume is a TIFF with several pages, a NIfTI file of 3 dimensions, or a folder "
                "of slices");
}

}  // namespace lockstep::volume

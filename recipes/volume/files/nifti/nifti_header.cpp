// Reads and writes header fields at fixed offsets.
#include "recipes/volume/files/nifti/nifti_header.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>

#include "core/base/error.h"
#include "core/base/text/text.h"

namespace lockstep::volume {
namespace {

// The offsets of the fields in version 1 or version 2.
struct Layout {
  int version;
  std::size_t bytes, dim, datatype, bitpix, pixdim, voxels_at, slope, intercept, units, qform,
      sform, quaternion, offset, srow, magic;
};
constexpr Layout layout1{1,   nifti1_bytes, 40,  70,  72,  76,  108, 112,
                         116, 123,          252, 254, 256, 268, 280, 344};
constexpr Layout layout2{2,   nifti2_bytes, 16,  12,  14,  104, 168, 176,
                         184, 500,          344, 348, 352, 376, 400, 4};
constexpr char magic1[4] = {'n', '+', '1', '\0'};
constexpr char magic2[8] = {'n', '+', '2', '\0', '\r', '\n', '\032', '\n'};

struct NamedType {
  int code;
  VoxelType type;
};
constexpr NamedType types[] = {
    {2, VoxelType::u8},    {256, VoxelType::i8}, {512, VoxelType::u16},  {4, VoxelType::i16},
    {768, VoxelType::u32}, {8, VoxelType::i32},  {1024, VoxelType::i64}, {1280, VoxelType::u64},
    {16, VoxelType::f32},  {64, VoxelType::f64}};

std::string name_of_code(int code) {
  switch (code) {
    case 1:
      return "bits";
    case 32:
    case 1792:
    case 2048:
      return "complex numbers";
    case 128:
    case 2304:
      return "colours (RGB)";
    case 1536:
      return "f128";
    default:
      return cat("of the unknown type ", code);
  }
}

class Fields {
 public:
  Fields(std::span<const std::byte> head, bool swapped) : head_(head), swapped_(swapped) {}
  template <class Number>
  Number get(std::size_t at) const {
    std::byte bytes[sizeof(Number)];
    std::copy_n(head_.begin() + static_cast<std::ptrdiff_t>(at), sizeof(Number), bytes);
    if (swapped_) std::reverse(bytes, bytes + sizeof(Number));
    return std::bit_cast<Number>(bytes);
  }
  // Reads a number that is narrower in version 1.
  std::int64_t extent(const Layout& layout, std::size_t i) const {
    return layout.version == 1 ? get<std::int16_t>(layout.dim + 2 * i)
                               : get<std::int64_t>(layout.dim + 8 * i);
  }
  double real(const Layout& layout, std::size_t at, std::size_t i = 0) const {
    return layout.version == 1 ? static_cast<double>(get<float>(at + 4 * i))
                               : get<double>(at + 8 * i);
  }
  int code(const Layout& layout, std::size_t at) const {
    return layout.version == 1 ? get<std::int16_t>(at) : get<std::int32_t>(at);
  }

 private:
  std::span<const std::byte> head_;
  bool swapped_;
};

[[noreturn]] void fail(const std::string& name, const std::string& why,
                       const std::string& hint = {}) {
  throw Error(cat("cannot read ", name, ": ", why), hint);
}

VolumeShape shape_of(const Fields& fields, const Layout& layout, const std::string& name) {
  const std::int64_t axes = fields.extent(layout, 0);
  if (axes < 1 || axes > 7) fail(name, cat("it is damaged: its header says ", axes, " dimensions"));
  VolumeShape shape{.depth = 1, .height = 1, .width = 1, .channels = 1};
  std::int64_t* const extents[] = {&shape.width, &shape.height, &shape.depth};
  for (std::int64_t axis = 1; axis <= axes; ++axis) {
    const std::int64_t extent = fields.extent(layout, static_cast<std::size_t>(axis));
    if (extent < 1) fail(name, cat("it is damaged: dimension ", axis, " is ", extent));
    if (axis <= 3)
      *extents[axis - 1] = extent;
    else if (extent > (std::int64_t{1} << 31) / shape.channels)
      fail(name, cat("dimension ", axis, " is ", extent, ", more than is read"));
    else
      shape.channels *= extent;
  }
  return shape;
}

VoxelType nifti_type_of(const Fields& fields, const Layout& layout, const std::string& name) {
  const int code = fields.get<std::int16_t>(layout.datatype),
            bits = fields.get<std::int16_t>(layout.bitpix);
  for (const NamedType& known : types) {
    if (known.code != code) continue;
    if (static_cast<std::size_t>(bits) == 8 * bytes_of(known.type)) return known.type;
    fail(name,
         cat("it is damaged: its voxels are ", name_of(known.type), ", but of ", bits, " bits"));
  }
  fail(name, cat("its voxels are ", name_of_code(code), ", which are not read"),
       "whole numbers of 8 to 64 bits are, and floats of 32 and 64");
}

NiftiSpace space_of(const Fields& fields, const Layout& layout) {
  NiftiSpace space;
  space.version = layout.version;
  space.units = layout.version == 1 ? fields.get<std::uint8_t>(layout.units)
                                    : fields.get<std::int32_t>(layout.units);
  space.qform_code = fields.code(layout, layout.qform);
  space.sform_code = fields.code(layout, layout.sform);
  for (std::size_t i = 0; i < 8; ++i) space.pixdim[i] = fields.real(layout, layout.pixdim, i);
  for (std::size_t i = 0; i < 3; ++i) {
    space.quaternion[i] = fields.real(layout, layout.quaternion, i);
    space.offset[i] = fields.real(layout, layout.offset, i);
    for (std::size_t j = 0; j < 4; ++j)
      space.srow[i][j] = fields.real(layout, layout.srow, 4 * i + j);
  }
  return space;
}

// The voxel size. A file without a unit is assumed to use millimetres, as other readers assume.
std::optional<std::array<double, 3>> nifti_spacing_of(const NiftiSpace& space) {
  const int unit = space.units & 7;
  const double mm = unit == 1 ? 1000 : unit == 3 ? 1e-3 : 1;
  // Some older tools wrote negative sizes.
  const std::array<double, 3> spacing{std::abs(space.pixdim[3]) * mm,
                                      std::abs(space.pixdim[2]) * mm,
                                      std::abs(space.pixdim[1]) * mm};
  for (const double size : spacing)
    if (!std::isfinite(size) || size <= 0) return std::nullopt;
  return spacing;
}

// The offset of the voxels. Some writers leave it 0 if they do not support extensions.
std::uint64_t voxels_at(const Fields& fields, const Layout& layout, const std::string& name) {
  constexpr double most = 1 << 30;
  const double at = layout.version == 1
                        ? static_cast<double>(fields.get<float>(layout.voxels_at))
                        : static_cast<double>(fields.get<std::int64_t>(layout.voxels_at));
  if (at == 0) return layout.bytes + 4;
  if (!(at >= static_cast<double>(layout.bytes) && at <= most))
    fail(name, cat("it is damaged: its voxels are said to begin at byte ", at));
  return static_cast<std::uint64_t>(at);
}

template <class Number>
void put(std::vector<std::byte>& head, std::size_t at, Number number) {
  std::memcpy(head.data() + at, &number, sizeof number);
}
void put_real(std::vector<std::byte>& head, const Layout& layout, std::size_t at, std::size_t i,
              double value) {
  if (layout.version == 1)
    put(head, at + 4 * i, static_cast<float>(value));
  else
    put(head, at + 8 * i, value);
}
void put_code(std::vector<std::byte>& head, const Layout& layout, std::size_t at, int code) {
  if (layout.version == 1)
    put(head, at, static_cast<std::int16_t>(code));
  else
    put(head, at, static_cast<std::int32_t>(code));
}

void put_shape(std::vector<std::byte>& head, const Layout& layout, const VolumeShape& shape) {
  const std::int64_t axes = shape.channels > 1 ? 4 : 3;
  const std::int64_t extents[8] = {
      axes, shape.width, shape.height, shape.depth, shape.channels, 1, 1, 1};
  for (std::size_t i = 0; i < 8; ++i) {
    if (layout.version == 1)
      put(head, layout.dim + 2 * i, static_cast<std::int16_t>(extents[i]));
    else
      put(head, layout.dim + 8 * i, extents[i]);
  }
}

void put_space(std::vector<std::byte>& head, const Layout& layout, const NiftiSpace& space) {
  if (layout.version == 1)
    put(head, layout.units, static_cast<std::uint8_t>(space.units));
  else
    put(head, layout.units, static_cast<std::int32_t>(space.units));
  put_code(head, layout, layout.qform, space.qform_code);
  put_code(head, layout, layout.sform, space.sform_code);
  for (std::size_t i = 0; i < 8; ++i) put_real(head, layout, layout.pixdim, i, space.pixdim[i]);
  for (std::size_t i = 0; i < 3; ++i) {
    put_real(head, layout, layout.quaternion, i, space.quaternion[i]);
    put_real(head, layout, layout.offset, i, space.offset[i]);
    for (std::size_t j = 0; j < 4; ++j)
      put_real(head, layout, layout.srow, 4 * i + j, space.srow[i][j]);
  }
}

NiftiSpace space_to_write(const VolumeHeader& header) {
  NiftiSpace space = header.space.value_or(NiftiSpace{});
  if (!header.space && header.spacing_mm)
    for (std::size_t axis = 0; axis < 3; ++axis)
      space.pixdim[3 - axis] = (*header.spacing_mm)[axis];
  if (!header.space && !header.spacing_mm) space.units = 0;
  // Extents in version 1 have 16 bits.
  const VolumeShape& shape = header.shape;
  if (std::max({shape.depth, shape.height, shape.width, shape.channels}) > 32'767)
    space.version = 2;
  return space;
}

}  // namespace

NiftiHeader parse_nifti_header(std::span<const std::byte> head, const std::string& name,
                               const ReadVolume& how) {
  if (head.size() < nifti1_bytes)
    fail(name, cat("it is truncated: a NIfTI header has 348 bytes or more, it ", head.size()));
  const Fields plain(head, false), reversed(head, true);
  const auto begins = [&](std::size_t bytes) {
    const auto size = static_cast<std::int32_t>(bytes);
    return plain.get<std::int32_t>(0) == size || reversed.get<std::int32_t>(0) == size;
  };
  const Layout& layout = begins(nifti2_bytes) ? layout2 : layout1;
  if (!begins(layout.bytes)) fail(name, "it is not a NIfTI file");
  if (head.size() < layout.bytes) fail(name, "it is truncated within its header");
  const bool swapped = plain.get<std::int32_t>(0) != static_cast<std::int32_t>(layout.bytes);
  const Fields& fields = swapped ? reversed : plain;
  const auto* const magic = reinterpret_cast<const char*>(head.data()) + layout.magic;
  if (std::memcmp(magic, "ni1", 4) == 0 || std::memcmp(magic, "ni2", 4) == 0)
    fail(name, "its voxels are in another file (.hdr and .img)",
         "convert the pair to one file, .nii or .nii.gz");
  if (std::memcmp(magic, layout.version == 1 ? magic1 : magic2, 4) != 0)
    fail(name, "it is not a NIfTI file, perhaps an older Analyze file",
         "convert it to .nii or .nii.gz");
  NiftiHeader header;
  VolumeHeader& volume = header.volume;
  volume.shape = shape_of(fields, layout, name);
  volume.type = nifti_type_of(fields, layout, name);
  check_shape(volume.shape, name, how);
  volume.space = space_of(fields, layout);
  volume.spacing_mm = nifti_spacing_of(*volume.space);
  const double slope = fields.real(layout, layout.slope),
               intercept = fields.real(layout, layout.intercept);
  if (slope != 0 && std::isfinite(slope)) {
    if (!std::isfinite(intercept))
      fail(name, cat("its scl_slope is ", slope, ", but its scl_inter is ", intercept),
           "write scl_inter into the header: 0 unless values are shifted");
    volume.slope = slope;
    volume.intercept = intercept;
  }
  header.voxels_at = voxels_at(fields, layout, name);
  header.swapped = swapped;
  return header;
}

std::vector<std::byte> make_nifti_header(const VolumeHeader& header) {
  const NiftiSpace space = space_to_write(header);
  const Layout& layout = space.version == 2 ? layout2 : layout1;
  std::vector<std::byte> head(layout.bytes + 4);  // the 4 bytes say that there are no extensions
  put(head, 0, static_cast<std::int32_t>(layout.bytes));
  std::memcpy(head.data() + layout.magic, layout.version == 1 ? magic1 : magic2,
              layout.version == 1 ? 4 : 8);
  put_shape(head, layout, header.shape);
  for (const NamedType& known : types)
    if (known.type == header.type)
      put(head, layout.datatype, static_cast<std::int16_t>(known.code));
  put(head, layout.bitpix, static_cast<std::int16_t>(8 * bytes_of(header.type)));
  if (layout.version == 1)
    put(head, layout.voxels_at, static_cast<float>(head.size()));
  else
    put(head, layout.voxels_at, static_cast<std::int64_t>(head.size()));
  put_real(head, layout, layout.slope, 0, header.slope);
  put_real(head, layout, layout.intercept, 0, header.intercept);
  put_space(head, layout, space);
  return head;
}

}  // namespace lockstep::volume

// Recognizes the type of a file and converts voxels to values.
#include "recipes/volume/files/volume_reader.h"

#include <array>
#include <cstring>
#include <vector>

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/base/text/text.h"

namespace lockstep::volume {
namespace {

enum class Kind { tiff, nifti, picture, other };

Kind kind_of(std::string_view head) {
  using namespace std::string_view_literals;
  for (const std::string_view magic : {"II*\0"sv, "MM\0*"sv, "II+\0"sv, "MM\0+"sv})
    if (head.starts_with(magic)) return Kind::tiff;
  // The magic bytes of gzip, and the length of a NIfTI header (348 or 540) in both byte orders.
  for (const std::string_view magic :
       {"\x1f\x8b"sv, "\x5c\x01\0\0"sv, "\0\0\x01\x5c"sv, "\x1c\x02\0\0"sv, "\0\0\x02\x1c"sv})
    if (head.starts_with(magic)) return Kind::nifti;
  if (head.starts_with("\x89PNG") || head.starts_with("\xff\xd8\xff")) return Kind::picture;
  return Kind::other;
}

template <class Voxel>
void to_values(std::span<const std::byte> plane, const VolumeHeader& header, std::span<float> out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    Voxel voxel;
    std::memcpy(&voxel, plane.data() + i * sizeof voxel, sizeof voxel);
    const double value = header.slope * static_cast<double>(voxel) + header.intercept;
    out[i] = static_cast<float>(value);
  }
}

void convert(std::span<const std::byte> plane, const VolumeHeader& header, std::span<float> out) {
  switch (header.type) {
    case VoxelType::u8:
      return to_values<std::uint8_t>(plane, header, out);
    case VoxelType::i8:
      return to_values<std::int8_t>(plane, header, out);
    case VoxelType::u16:
      return to_values<std::uint16_t>(plane, header, out);
    case VoxelType::i16:
      return to_values<std::int16_t>(plane, header, out);
    case VoxelType::u32:
      return to_values<std::uint32_t>(plane, header, out);
    case VoxelType::i32:
      return to_values<std::int32_t>(plane, header, out);
    case VoxelType::i64:
      return to_values<std::int64_t>(plane, header, out);
    case VoxelType::u64:
      return to_values<std::uint64_t>(plane, header, out);
    case VoxelType::f32:
      return to_values<float>(plane, header, out);
    case VoxelType::f64:
      return to_values<double>(plane, header, out);
  }
}

}  // namespace

void VolumeReader::read_plane(std::int64_t z, std::int64_t channel, std::span<std::byte> out) {
  LOCKSTEP_CHECK(z >= 0 && z < header_.shape.depth);
  LOCKSTEP_CHECK(channel >= 0 && channel < header_.shape.channels);
  LOCKSTEP_CHECK(out.size() == plane_bytes(header_));
  read(z, channel, out);
}

void VolumeReader::read_values(std::int64_t z, std::int64_t channel, std::span<float> out) {
  std::vector<std::byte> plane(plane_bytes(header_));
  LOCKSTEP_CHECK(out.size() * bytes_of(header_.type) == plane.size());
  read_plane(z, channel, plane);
  convert(plane, header_, out);
}

std::unique_ptr<VolumeReader> open_volume(const std::filesystem::path& path,
                                          const ReadVolume& how) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return open_folder(path, how);
  std::unique_ptr<ByteSource> source = file_source(path);
  if (source->size() == 0) throw Error(cat("cannot read ", path.string(), ": it is empty"));
  std::array<char, 4> head{};
  source->read(0, std::as_writable_bytes(std::span(head)));
  switch (kind_of({head.data(), head.size()})) {
    case Kind::tiff:
      return open_tiff(std::move(source), how);
    case Kind::nifti:
      return open_nifti(std::move(source), how);
    case Kind::picture:
      return open_picture(path, how);
    case Kind::other:
      break;
  }
  const std::string ending = path.extension().string();
  const bool tiff = ending == ".tif" || ending == ".tiff";
  throw Error(cat("cannot read ", path.string(), ": it is ",
                  tiff ? "not a TIFF file" : "neither a TIFF nor a NIfTI file"),
              "a volume is a TIFF with several pages (.tif), a NIfTI file (.nii, .nii.gz) or a "
              "folder of slices");
}

}  // namespace lockstep::volume

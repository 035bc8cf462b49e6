// Reads volumes and labels from files.
#include "recipes/volume/voxels/voxels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "core/base/error.h"
#include "core/base/text/text.h"

namespace lockstep::volume {
namespace {

bool stays_as_it_is(const VolumeHeader& header) {
  return (header.type == VoxelType::u8 || header.type == VoxelType::u16) && header.slope == 1 &&
         header.intercept == 0;
}

std::string place_of(std::int64_t z, std::size_t index, std::int64_t width) {
  const auto at = static_cast<std::int64_t>(index);
  return cat("z ", z, ", y ", at / width, ", x ", at % width);
}

void check_finite(std::span<const float> plane, const VolumeReader& reader, std::int64_t z) {
  for (std::size_t i = 0; i < plane.size(); ++i)
    if (!std::isfinite(plane[i]))
      throw Error(cat("cannot use ", reader.name(), ": the voxel at ",
                      place_of(z, i, reader.header().shape.width), " is ",
                      std::isnan(plane[i]) ? "NaN" : "infinite"),
                  "write the file with finite values, and mark voxels without one in the labels "
                  "(data.ignore)");
}

std::string classes_text(std::int64_t classes, std::optional<std::int64_t> ignore) {
  std::string text = classes <= 2 ? "0 and 1" : cat("0 to ", classes - 1);
  return ignore ? cat(text, " (data.classes=", classes, ") and ", *ignore, " (data.ignore)")
                : cat(text, " (data.classes=", classes, ")");
}

// The values that labels may have.
class Allowed {
 public:
  Allowed(std::int64_t classes, std::optional<std::int64_t> ignore)
      : classes_(classes), ignore_(ignore) {
    for (std::int64_t label = 0; label < 256; ++label)
      allowed_[static_cast<std::size_t>(label)] =
          label < std::max<std::int64_t>(classes, 2) || label == ignore;
  }
  bool has(std::uint8_t label) const { return allowed_[label]; }
  // The allowed label that is at most `tolerance` away from the value.
  std::optional<std::uint8_t> near(float value, float tolerance) const {
    if (!(value >= -tolerance && value <= 255 + tolerance)) return std::nullopt;
    const float label = std::clamp(std::round(value), 0.0F, 255.0F);
    if (std::abs(value - label) > tolerance || !allowed_[static_cast<std::size_t>(label)])
      return std::nullopt;
    return static_cast<std::uint8_t>(label);
  }
  [[noreturn]] void refuse(const std::string& name, double value, const std::string& place,
                           const std::string& scale = {}) const {
    throw Error(cat("cannot use the labels in ", name, ": the label at ", place, " is ",
                    general(value, 7), scale, ", but labels are ", classes_text(classes_, ignore_)),
                value != std::round(value)
                    ? "round the labels and write them as whole numbers of 8 bits"
                    : "write foreground as 1 where it is 255; set data.classes to more than one "
                      "class, or data.ignore to the label that counts nowhere");
  }

 private:
  std::int64_t classes_;
  std::optional<std::int64_t> ignore_;
  std::array<bool, 256> allowed_{};
};

void read_stored(VolumeReader& reader, std::int64_t z, const Allowed& allowed,
                 std::span<std::uint8_t> out) {
  reader.read_plane(z, 0, std::as_writable_bytes(out));
  for (std::size_t i = 0; i < out.size(); ++i)
    if (!allowed.has(out[i]))
      allowed.refuse(reader.name(), out[i], place_of(z, i, reader.header().shape.width));
}

// How far a value may be from a label. nibabel writes float labels with the header of an integer
// image, so a slope scales integers to them. Half a step of that scale is allowed.
float tolerance_of(const VolumeHeader& header) {
  constexpr double rounding = 255.0 / (1 << 23);  // the rounding of values near 255 in fp32
  const double slope = std::abs(header.slope);
  const bool real = header.type == VoxelType::f32 || header.type == VoxelType::f64;
  return real || slope >= 1 ? 0 : static_cast<float>(slope / 2 + rounding);
}

void read_converted(VolumeReader& reader, std::int64_t z, const Allowed& allowed,
                    std::span<float> values, std::span<std::uint8_t> out) {
  const VolumeHeader& header = reader.header();
  const float tolerance = tolerance_of(header);
  reader.read_values(z, 0, values);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto label = allowed.near(values[i], tolerance);
    if (!label)
      allowed.refuse(reader.name(), values[i], place_of(z, i, header.shape.width),
                     header.slope == 1 && header.intercept == 0
                         ? ""
                         : cat(" (scl_slope is ", general(header.slope, 7), ", scl_inter ",
                               general(header.intercept, 7), ")"));
    out[i] = *label;
  }
}

}  // namespace

Voxels read_voxels(VolumeReader& reader) {
  const VolumeHeader& header = reader.header();
  const bool stored = stays_as_it_is(header);
  Voxels voxels{
      .shape = header.shape, .type = stored ? header.type : VoxelType::f32, .source = header};
  const auto plane = static_cast<std::size_t>(header.shape.height * header.shape.width);
  const std::size_t bytes = plane * bytes_of(voxels.type);
  voxels.values.resize(bytes * static_cast<std::size_t>(header.shape.depth) *
                       static_cast<std::size_t>(header.shape.channels));
  std::vector<float> values(stored ? 0 : plane);
  std::span<std::byte> out = voxels.values;
  for (std::int64_t channel = 0; channel < header.shape.channels; ++channel)
    for (std::int64_t z = 0; z < header.shape.depth; ++z, out = out.subspan(bytes)) {
      if (stored) {
        reader.read_plane(z, channel, out.first(bytes));
        continue;
      }
      reader.read_values(z, channel, values);
      check_finite(values, reader, z);
      std::memcpy(out.data(), values.data(), bytes);
    }
  return voxels;
}

std::vector<std::uint8_t> read_labels(VolumeReader& reader, std::int64_t classes,
                                      std::optional<std::int64_t> ignore) {
  const VolumeHeader& header = reader.header();
  if (header.shape.channels != 1)
    throw Error(cat("cannot use the labels in ", reader.name(), ": they have ",
                    header.shape.channels, " channels"),
                "labels are one volume with a class per voxel");
  const Allowed allowed(classes, ignore);
  const bool stored = header.type == VoxelType::u8 && header.slope == 1 && header.intercept == 0;
  const auto plane = static_cast<std::size_t>(header.shape.height * header.shape.width);
  std::vector<std::uint8_t> labels(plane * static_cast<std::size_t>(header.shape.depth));
  std::vector<float> values(stored ? 0 : plane);
  for (std::int64_t z = 0; z < header.shape.depth; ++z) {
    const auto out = std::span(labels).subspan(static_cast<std::size_t>(z) * plane, plane);
    if (stored)
      read_stored(reader, z, allowed, out);
    else
      read_converted(reader, z, allowed, values, out);
  }
  return labels;
}

}  // namespace lockstep::volume

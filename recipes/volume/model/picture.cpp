#include "recipes/volume/model/picture.h"

#include "core/base/text/text.h"
#include "core/media/pictures/draw.h"
#include "core/media/pictures/image.h"
#include "core/media/pictures/picture_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <vector>

namespace lockstep::volume {
namespace {

constexpr int gap = 6, head = 22, least_height = 256;
constexpr const char* axis_names[] = {"z", "y", "x"};

// Chooses the plane across `axis` to show. It is the plane nearest to the middle among those with
// nearly the most foreground, because planes at the border show little context.
std::int64_t shown_plane(const PictureInput& input, std::size_t axis) {
  const bool labelled = std::any_of(input.truth.begin(), input.truth.end(),
                                    [&](std::uint8_t l) { return l != 0 && l != input.no_label; });
  const std::span<const std::uint8_t> labels = labelled ? input.truth : input.predicted;
  std::vector<std::int64_t> counts(static_cast<std::size_t>(input.shape[axis]), 0);
  std::array<std::int64_t, 3> at{};
  std::size_t i = 0;
  for (at[0] = 0; at[0] < input.shape[0]; ++at[0])
    for (at[1] = 0; at[1] < input.shape[1]; ++at[1])
      for (at[2] = 0; at[2] < input.shape[2]; ++at[2], ++i)
        counts[static_cast<std::size_t>(at[axis])] += labels[i] != 0 && labels[i] != input.no_label;
  constexpr double nearly = 0.8;
  const double least =
      nearly * static_cast<double>(*std::max_element(counts.begin(), counts.end()));
  const std::int64_t middle = input.shape[axis] / 2;
  std::int64_t best = -1;
  for (std::int64_t plane = 0; plane < input.shape[axis]; ++plane)
    if (static_cast<double>(counts[static_cast<std::size_t>(plane)]) >= least &&
        (best < 0 || std::abs(plane - middle) < std::abs(best - middle)))
      best = plane;
  return best;
}

// A plane. `down` is the axis along which its rows follow each other; `across` is the axis of its
// columns.
struct Plane {
  std::size_t axis, down, across;
  std::int64_t index;
  int row_zoom, column_zoom;
  int height, width;
};

Plane plane_of(const PictureInput& input, std::size_t axis) {
  Plane plane{.axis = axis, .down = axis == 0 ? 1UL : 0UL, .across = axis == 2 ? 1UL : 2UL};
  plane.index = shown_plane(input, axis);
  const double smallest = std::min(input.spacing[plane.down], input.spacing[plane.across]);
  const auto zoom = [&](std::size_t along) {
    const double voxel = std::clamp(input.spacing[along] / smallest, 1.0, 16.0);
    const double all = voxel * static_cast<double>(input.shape[along]);
    return std::max(1, static_cast<int>(std::lround(voxel * std::max(1.0, least_height / all))));
  };
  plane.row_zoom = zoom(plane.down);
  plane.column_zoom = zoom(plane.across);
  plane.height = plane.row_zoom * static_cast<int>(input.shape[plane.down]);
  plane.width = plane.column_zoom * static_cast<int>(input.shape[plane.across]);
  return plane;
}

void draw_plane(Image& image, int left, const PictureInput& input, const Plane& plane) {
  const float range = std::max(input.high - input.low, 1e-6F);
  const auto pixels = image.u8();
  for (int row = 0; row < plane.height; ++row)
    for (int column = 0; column < plane.width; ++column) {
      std::array<std::int64_t, 3> at{};
      at[plane.axis] = plane.index;
      at[plane.down] = row / plane.row_zoom;
      at[plane.across] = column / plane.column_zoom;
      const auto voxel =
          static_cast<std::size_t>((at[0] * input.shape[1] + at[1]) * input.shape[2] + at[2]);
      const float grey = std::clamp((input.values[voxel] - input.low) / range, 0.0F, 1.0F) * 255;
      std::array<float, 3> colour{grey, grey, grey};
      const std::uint8_t truth = input.truth.empty() ? input.predicted[voxel] : input.truth[voxel];
      const bool found = input.predicted[voxel] != 0;
      const auto tint = [&](float red, float green, float blue) {
        const std::array<float, 3> over{red, green, blue};
        for (std::size_t c = 0; c < 3; ++c) colour[c] = 0.55F * colour[c] + 0.45F * over[c];
      };
      if (truth == input.no_label)
        tint(20, 20, 40);
      else if (found && truth == input.predicted[voxel])
        tint(40, 220, 60);
      else if (found)
        tint(240, 50, 40);
      else if (truth != 0)
        tint(50, 110, 255);
      const auto out =
          (static_cast<std::size_t>(head + row) * static_cast<std::size_t>(image.width()) +
           static_cast<std::size_t>(left + column)) *
          3;
      for (std::size_t c = 0; c < 3; ++c) pixels[out + c] = static_cast<std::uint8_t>(colour[c]);
    }
  draw_text(image, left + 4, head + 4, cat(axis_names[plane.axis], " ", plane.index),
            Colour{255, 255, 255});
}

}  // namespace

std::string three_planes(const PictureInput& input) {
  std::vector<Plane> planes;
  int width = -gap, height = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    planes.push_back(plane_of(input, axis));
    width += planes.back().width + gap;
    height = std::max(height, planes.back().height);
  }
  Image image({.height = height + head, .width = width, .channels = 3});
  int left = 0;
  for (const Plane& plane : planes) {
    draw_plane(image, left, input, plane);
    left += plane.width + gap;
  }
  draw_text(image, 4, 4, input.title, Colour{255, 255, 255});
  return encode_png(image);
}

}  // namespace lockstep::volume

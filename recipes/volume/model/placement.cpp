#include "recipes/volume/model/placement.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace lockstep::volume {

Turned turned_box(const Triple& corner, const Triple& size, const TurnOptions& options,
                  Random& random) {
  // The number of draws does not depend on the options. So an option changes only its own effect.
  const std::uint32_t draws = random.next_u32();
  const auto drawn = [&](std::size_t bit) { return (draws >> bit & 1) != 0; };
  Turned box{.origin = corner, .step = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};
  const auto flip = [&](std::size_t axis) {
    for (std::size_t i = 0; i < 3; ++i) {
      box.origin[i] += box.step[axis][i] * (size[axis] - 1);
      box.step[axis][i] = -box.step[axis][i];
    }
  };
  if (options.rotate90) {
    // A quarter turn swaps both axes and flips one of them. A half turn flips both.
    if (size[1] == size[2] && drawn(3)) {
      std::swap(box.step[1], box.step[2]);
      flip(1);
    }
    if (drawn(4)) {
      flip(1);
      flip(2);
    }
  }
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (options.flip && drawn(axis)) flip(axis);
  return box;
}

Triple corner_around(const Triple& middle, const Triple& size, const Triple& begin,
                     const Triple& end) {
  Triple corner{};
  for (std::size_t i = 0; i < 3; ++i) {
    const std::int64_t extent = end[i] - begin[i];
    corner[i] = extent < size[i] ? begin[i] - (size[i] - extent) / 2
                                 : std::clamp(middle[i] - size[i] / 2, begin[i], end[i] - size[i]);
  }
  return corner;
}

Triple any_corner(const Triple& size, const Triple& begin, const Triple& end, Random& random) {
  Triple corner{};
  for (std::size_t i = 0; i < 3; ++i) {
    const std::int64_t extent = end[i] - begin[i];
    corner[i] = extent < size[i]
                    ? begin[i] - (size[i] - extent) / 2
                    : begin[i] + static_cast<std::int64_t>(random.below(
                                     static_cast<std::uint64_t>(extent - size[i] + 1)));
  }
  return corner;
}

Warp::Warp(const Turned& box, const Triple& size, const std::array<double, 3>& spacing,
           const WarpOptions& options, Random& random)
    : size_(size) {
  using Matrix = std::array<std::array<double, 3>, 3>;
  const auto product = [](const Matrix& a, const Matrix& b) {
    Matrix c{};
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j)
        for (std::size_t k = 0; k < 3; ++k) c[i][j] += a[i][k] * b[k][j];
    return c;
  };
  // Rotates in the plane of each pair of axes, in millimetres, because voxels may be longer along
  // one axis.
  Matrix turn{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double angle = (2 * random.uniform() - 1) * options.rotate * std::numbers::pi / 180;
    const std::size_t a = (axis + 1) % 3, b = (axis + 2) % 3;
    Matrix plane{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    plane[a][a] = plane[b][b] = std::cos(angle);
    plane[a][b] = -std::sin(angle) * spacing[b] / spacing[a];
    plane[b][a] = std::sin(angle) * spacing[a] / spacing[b];
    turn = product(turn, plane);
  }
  // To enlarge the scene, a smaller part of it is read.
  const double factor = 1 / (1 + (2 * random.uniform() - 1) * options.scale);
  std::array<double, 3> middle{};
  for (std::size_t i = 0; i < 3; ++i) {
    middle[i] = static_cast<double>(box.origin[i]);
    for (std::size_t axis = 0; axis < 3; ++axis)
      middle[i] += static_cast<double>(box.step[axis][i]) * static_cast<double>(size[axis] - 1) / 2;
  }
  first_ = middle;
  for (std::size_t axis = 0; axis < 3; ++axis)
    for (std::size_t i = 0; i < 3; ++i) {
      double step = 0;
      for (std::size_t k = 0; k < 3; ++k)
        step += factor * turn[i][k] * static_cast<double>(box.step[axis][k]);
      per_step_[axis][i] = step;
      first_[i] -= step * static_cast<double>(size[axis] - 1) / 2;
    }
  if (options.elastic <= 0) return;
  shifts_.resize(knots * knots * knots);
  for (auto& shift : shifts_)
    for (float& along : shift)
      along = static_cast<float>((2 * random.uniform() - 1) * options.elastic);
}

// The knots are spread evenly over the patch.
Warp::Between Warp::between_knots(std::size_t axis, std::int64_t voxel) const {
  if (size_[axis] == 1) return {};
  const double place = static_cast<double>(voxel) * static_cast<double>(knots - 1) /
                       static_cast<double>(size_[axis] - 1);
  const std::size_t low = std::min(static_cast<std::size_t>(place), knots - 2);
  return {low, place - static_cast<double>(low)};
}

std::array<std::array<double, 3>, Warp::knots> Warp::bend(std::int64_t z, std::int64_t y) const {
  const Between down = between_knots(0, z), along = between_knots(1, y);
  std::array<std::array<double, 3>, knots> row{};
  for (std::size_t corner = 0; corner < 4; ++corner) {
    const std::size_t dz = corner >> 1, dy = corner & 1;
    const double weight =
        (dz != 0 ? down.share : 1 - down.share) * (dy != 0 ? along.share : 1 - along.share);
    const auto* shifts = &shifts_[((down.low + dz) * knots + along.low + dy) * knots];
    for (std::size_t knot = 0; knot < knots; ++knot)
      for (std::size_t i = 0; i < 3; ++i)
        row[knot][i] += weight * static_cast<double>(shifts[knot][i]);
  }
  return row;
}

void Warp::row(std::int64_t z, std::int64_t y, std::array<std::vector<float>, 3>& places) const {
  const std::int64_t width = size_[2];
  const bool bent = !shifts_.empty();
  const auto shifts = bent ? bend(z, y) : decltype(bend(z, y)){};
  for (std::size_t i = 0; i < 3; ++i) {
    places[i].resize(static_cast<std::size_t>(width));
    float* const out = places[i].data();
    const double start = first_[i] + per_step_[0][i] * static_cast<double>(z) +
                         per_step_[1][i] * static_cast<double>(y);
    // The shift is linear between two knots, so the position is linear too.
    std::int64_t x = 0;
    for (std::size_t knot = 0; x < width; ++knot) {
      const bool last = !bent || width == 1 || knot + 2 == knots;
      const double voxels = static_cast<double>(width - 1) / static_cast<double>(knots - 1);
      double origin = start + shifts[knot][i], step = per_step_[2][i];
      if (bent && width > 1) {
        const double slope = (shifts[knot + 1][i] - shifts[knot][i]) / voxels;
        origin -= slope * voxels * static_cast<double>(knot);
        step += slope;
      }
      std::int64_t end = width;
      if (!last) end = static_cast<std::int64_t>(std::ceil(voxels * static_cast<double>(knot + 1)));
      for (; x < end; ++x) out[x] = static_cast<float>(origin + step * static_cast<double>(x));
    }
  }
}

}  // namespace lockstep::volume

// The metrics by their definitions, voxel by voxel.
#pragma once

#include <array>
#include <cstdlib>
#include <limits>
#include <set>

#include "recipes/volume/metrics/components.h"
#include "tests/unit/volume-metrics/volumes.h"

namespace lockstep::volume::brute {

using Voxel = std::array<std::int64_t, 3>;

inline bool inside(const Shape& shape, const Voxel& voxel) {
  for (std::size_t i = 0; i < 3; ++i)
    if (voxel[i] < 0 || voxel[i] >= shape[i]) return false;
  return true;
}

inline bool at(const Mask& mask, const Voxel& voxel) {
  return inside(mask.shape(), voxel) && mask.at(voxel[0], voxel[1], voxel[2]);
}

inline std::vector<Voxel> voxels(const Shape& shape) {
  std::vector<Voxel> all;
  for (std::int64_t z = 0; z < shape[0]; ++z)
    for (std::int64_t y = 0; y < shape[1]; ++y)
      for (std::int64_t x = 0; x < shape[2]; ++x) all.push_back({z, y, x});
  return all;
}

inline std::size_t index(const Shape& shape, const Voxel& v) {
  return static_cast<std::size_t>((v[0] * shape[1] + v[1]) * shape[2] + v[2]);
}

// By flooding from each voxel in turn.
inline std::vector<std::int32_t> labels(const Mask& mask, bool corners) {
  std::vector<std::int32_t> result(static_cast<std::size_t>(voxel_count(mask.shape())));
  std::int32_t label = 0;
  for (const Voxel& start : voxels(mask.shape())) {
    if (!at(mask, start) || result[index(mask.shape(), start)] != 0) continue;
    ++label;
    std::vector<Voxel> open{start};
    while (!open.empty()) {
      const Voxel v = open.back();
      open.pop_back();
      if (!at(mask, v) || result[index(mask.shape(), v)] != 0) continue;
      result[index(mask.shape(), v)] = label;
      for (const Voxel& step : voxels({3, 3, 3})) {
        const std::int64_t moved =
            std::abs(step[0] - 1) + std::abs(step[1] - 1) + std::abs(step[2] - 1);
        if (corners || moved == 1)
          open.push_back({v[0] + step[0] - 1, v[1] + step[1] - 1, v[2] + step[2] - 1});
      }
    }
  }
  return result;
}

// Cells of the cubical complex lie on the grid of half voxels; a cell has as many dimensions as odd
// coordinates.
inline std::int64_t euler(const Mask& mask) {
  std::set<Voxel> cells;
  for (const Voxel& v : voxels(mask.shape()))
    if (at(mask, v))
      for (const Voxel& step : voxels({3, 3, 3}))
        cells.insert({2 * v[0] + step[0], 2 * v[1] + step[1], 2 * v[2] + step[2]});
  std::int64_t sum = 0;
  for (const Voxel& cell : cells)
    sum += (cell[0] % 2 + cell[1] % 2 + cell[2] % 2) % 2 == 0 ? 1 : -1;
  return sum;
}

inline std::vector<Voxel> set_voxels(const Mask& mask) {
  std::vector<Voxel> set;
  for (const Voxel& v : voxels(mask.shape()))
    if (at(mask, v)) set.push_back(v);
  return set;
}

inline double squared_distance(const std::vector<Voxel>& points, const Voxel& from,
                               const Spacing& spacing) {
  double least = std::numeric_limits<double>::infinity();
  for (const Voxel& point : points) {
    double sum = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      const double apart = static_cast<double>(point[i] - from[i]) * spacing[i];
      sum += apart * apart;
    }
    least = std::min(least, sum);
  }
  return least;
}

}  // namespace lockstep::volume::brute

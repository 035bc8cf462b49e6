// Compares the corners of two grids.
#include "recipes/volume/files/same_place.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/text/text.h"

namespace lockstep::volume {
namespace {

// The affine that SimpleITK assumes for a file without codes: x to the left, y to the front, origin
// 0.
PlaceAffine simpleitk_affine(const VolumeHeader& header) {
  PlaceAffine affine{};
  for (std::size_t row = 0; row < 3; ++row) {
    const double size = std::abs(header.space->pixdim[row + 1]);
    affine[row][row] = (row < 2 ? -1 : 1) * (size == 0 ? 1 : size);
  }
  affine[3][3] = 1;
  return affine;
}

// Whether the affine is numpy.eye(4), or the one that SimpleITK writes for an array without a
// place.
bool is_default(const PlaceAffine& affine) {
  for (const double sign : {1.0, -1.0}) {
    const std::array<double, 3> diagonal{sign, sign, 1};
    bool same = true;
    for (std::size_t row = 0; row < 3; ++row)
      for (std::size_t column = 0; column < 4; ++column)
        same = same && affine[row][column] == (row == column ? diagonal[row] : 0);
    if (same) return true;
  }
  return false;
}

// The difference, or 0 if both are NaN.
double difference(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b)) ? 0 : a - b;
}

// The affines that different programs may read from the header.
std::vector<PlaceAffine> affines_of(const VolumeHeader& header) {
  std::vector<PlaceAffine> affines{affine_of(header)};
  if (!has_place(header)) affines.push_back(simpleitk_affine(header));
  return affines;
}

}  // namespace

bool has_place(const VolumeHeader& header) {
  return header.space && (header.space->sform_code > 0 || header.space->qform_code > 0);
}

bool corners_agree(const PlaceAffine& a, const PlaceAffine& b, const VolumeShape& shape) {
  constexpr double most_apart = 0.1;  // as a share of a voxel
  const std::array<double, 3> last{static_cast<double>(shape.width - 1),
                                   static_cast<double>(shape.height - 1),
                                   static_cast<double>(shape.depth - 1)};
  double voxel = std::numeric_limits<double>::infinity();
  for (std::size_t axis = 0; axis < 3; ++axis)
    voxel = std::min(voxel, std::hypot(a[0][axis], a[1][axis], a[2][axis]));
  for (std::size_t row = 0; row < 3; ++row) {
    double least = difference(a[row][3], b[row][3]), most = least;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double across = difference(a[row][axis], b[row][axis]) * last[axis];
      (across < 0 ? least : most) += across;
    }
    if (!(most <= most_apart * voxel && -least <= most_apart * voxel)) return false;
  }
  return true;
}

SamePlace same_place(const VolumeHeader& a, const VolumeHeader& b) {
  if (!a.space || !b.space) return SamePlace::yes;
  for (const PlaceAffine& of_a : affines_of(a))
    for (const PlaceAffine& of_b : affines_of(b))
      if (corners_agree(of_a, of_b, a.shape)) return SamePlace::yes;
  const auto says_nothing = [](const VolumeHeader& header) {
    return !has_place(header) || is_default(affine_of(header));
  };
  return says_nothing(a) || says_nothing(b) ? SamePlace::unknown : SamePlace::no;
}

std::string describe_place(const VolumeHeader& header) {
  const PlaceAffine affine = affine_of(header);
  std::vector<std::string> rows;
  for (std::size_t i = 0; i < 3; ++i)
    rows.push_back(cat(general(affine[i][0], 4), " ", general(affine[i][1], 4), " ",
                       general(affine[i][2], 4), " ", general(affine[i][3], 4)));
  return cat("the affine [", join(rows, "; "), "]",
             !has_place(header)   ? " (it says no place: both codes are 0)"
             : is_default(affine) ? " (what libraries write where they are given none)"
                                  : "");
}

}  // namespace lockstep::volume

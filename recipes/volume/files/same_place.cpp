// Corners of two grids.
#include "recipes/volume/files/same_place.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/text.h"

namespace lockstep::volume {
namespace {

using PlaceAffine = std::array<std::array<double, 4>, 4>;

bool has_no_code(const VolumeHeader& header) {
  return header.space->sform_code <= 0 && header.space->qform_code <= 0;
}

// Where SimpleITK puts a file without codes: x to the left and y to the front, from 0 on.
PlaceAffine simpleitk_affine(const VolumeHeader& header) {
  PlaceAffine affine{};
  for (std::size_t row = 0; row < 3; ++row) {
    const double size = std::abs(header.space->pixdim[row + 1]);
    affine[row][row] = (row < 2 ? -1 : 1) * (size == 0 ? 1 : size);
  }
  affine[3][3] = 1;
  return affine;
}

// numpy.eye(4), and what SimpleITK writes of an array alone.
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

bool agree(const PlaceAffine& a, const PlaceAffine& b, const VolumeShape& shape) {
  const std::array<double, 3> ends{static_cast<double>(shape.width),
                                   static_cast<double>(shape.height),
                                   static_cast<double>(shape.depth)};
  double apart = 0, voxel = std::numeric_limits<double>::infinity();
  for (std::size_t row = 0; row < 3; ++row) {
    double least = a[row][3] - b[row][3], most = least;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double across = (a[row][axis] - b[row][axis]) * ends[axis];
      (across > 0 ? most : least) += across;
    }
    apart = std::max({apart, most, -least});
  }
  for (std::size_t axis = 0; axis < 3; ++axis) {
    double squares = 0;
    for (std::size_t row = 0; row < 3; ++row) squares += a[row][axis] * a[row][axis];
    voxel = std::min(voxel, std::sqrt(squares));
  }
  return apart <= 0.1 * voxel;
}

// As its readers see it.
std::vector<PlaceAffine> affines_of(const VolumeHeader& header) {
  std::vector<PlaceAffine> affines{affine_of(header)};
  if (has_no_code(header)) affines.push_back(simpleitk_affine(header));
  return affines;
}

}  // namespace

SamePlace same_place(const VolumeHeader& a, const VolumeHeader& b) {
  if (!a.space || !b.space) return SamePlace::yes;
  for (const PlaceAffine& of_a : affines_of(a))
    for (const PlaceAffine& of_b : affines_of(b))
      if (agree(of_a, of_b, a.shape)) return SamePlace::yes;
  const auto says_nothing = [](const VolumeHeader& header) {
    return has_no_code(header) || is_default(affine_of(header));
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
             has_no_code(header)  ? " (it says no place: both codes are 0)"
             : is_default(affine) ? " (what libraries write where they are given none)"
                                  : "");
}

}  // namespace lockstep::volume

// Computes Dice and IoU of classes from counts of voxels. Counts of parts of a volume, and of
// several volumes, can be added.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace lockstep::volume {

// The numbers of voxels of one class: in the truth, in the prediction, and in both. Ignored voxels
// are not counted.
struct OverlapCounts {
  std::int64_t truth = 0;
  std::int64_t predicted = 0;
  std::int64_t both = 0;

  OverlapCounts& operator+=(const OverlapCounts& other);
  bool operator==(const OverlapCounts&) const = default;
};

// Returns 2 both / (truth + predicted). Returns 1 if the class is neither in the truth nor in the
// prediction.
double dice(const OverlapCounts& counts);
// Returns both / (truth + predicted - both). Returns 1 if the class is neither in the truth nor in
// the prediction.
double iou(const OverlapCounts& counts);

// Return the mean over the classes from index `first_class` on. Only classes that occur in truth or
// prediction are included. first_class = 1 leaves out the background. The mean is 1 if none of
// these classes occurs.
double mean_dice(std::span<const OverlapCounts> classes, std::size_t first_class = 0);
double mean_iou(std::span<const OverlapCounts> classes, std::size_t first_class = 0);

// Returns the counts of classes 0 to `classes` - 1. Voxels whose truth is `ignore` are left out.
// Label is std::uint8_t, std::uint16_t or std::int32_t. truth, predicted: dense arrays of the same
// shape. Throws Error if the sizes differ. Also throws Error if the label of a voxel that is not
// left out is not a class.
template <typename Label>
std::vector<OverlapCounts> overlap(std::span<const Label> truth, std::span<const Label> predicted,
                                   int classes, std::optional<std::int64_t> ignore);

}  // namespace lockstep::volume

// Dice and IoU per class, as counts of voxels that can be added up over parts of a volume and over
// volumes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace lockstep::volume {

// The counts of one class. Ignored voxels are not counted.
struct OverlapCounts {
  std::int64_t truth = 0;
  std::int64_t predicted = 0;
  std::int64_t both = 0;

  OverlapCounts& operator+=(const OverlapCounts& other);
  bool operator==(const OverlapCounts&) const = default;
};

double dice(
    const OverlapCounts& counts);  // 2 both / (truth + predicted); 1 if the class is in neither
double iou(const OverlapCounts& counts);  // both / union; 1 if the class is in neither

// The mean over the classes in truth or prediction, beginning with `first_class` (1 omits the
// background). 1 if there is no such class.
double mean_dice(std::span<const OverlapCounts> classes, std::size_t first_class = 0);
double mean_iou(std::span<const OverlapCounts> classes, std::size_t first_class = 0);

// The counts of classes 0 .. classes-1. Voxels whose truth is `ignore` are left out, whatever is
// predicted there. Label is std::uint8_t, std::uint16_t or std::int32_t. Truth and prediction may
// have any shape, but the same. Throws Error if the sizes differ, or if a label is no class.
template <typename Label>
std::vector<OverlapCounts> overlap(std::span<const Label> truth, std::span<const Label> predicted,
                                   int classes, std::optional<std::int64_t> ignore);

}  // namespace lockstep::volume

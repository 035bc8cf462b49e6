#include "recipes/volume/metrics/voi.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "recipes/volume/metrics/components.h"

namespace lockstep::volume {
namespace {

// The number of voxels for each pair of labels.
class PairCounts {
 public:
  void add(std::int32_t truth, std::int32_t predicted, std::int64_t voxels) {
    const std::uint64_t pair =
        static_cast<std::uint64_t>(truth) << 32 | static_cast<std::uint32_t>(predicted);
    if (latest_ == nullptr || pair != latest_pair_) {
      latest_ = &counts_[pair];
      latest_pair_ = pair;
    }
    *latest_ += voxels;
  }

  // Sorted, so that sums do not depend on the order of the hash table.
  std::vector<std::pair<std::uint64_t, std::int64_t>> sorted() const {
    std::vector<std::pair<std::uint64_t, std::int64_t>> pairs(counts_.begin(), counts_.end());
    std::sort(pairs.begin(), pairs.end());
    return pairs;
  }

 private:
  std::unordered_map<std::uint64_t, std::int64_t> counts_;
  std::uint64_t latest_pair_ = 0;
  std::int64_t* latest_ = nullptr;  // references to elements stay valid when the map grows
};

// Counts the segments of a row in which neither label changes.
void count_row(std::span<const Run> truth, std::span<const Run> predicted, PairCounts& counts) {
  constexpr std::int32_t none = std::numeric_limits<std::int32_t>::max();
  std::size_t t = 0;
  std::size_t p = 0;
  std::int32_t x = 0;
  while (t < truth.size() || p < predicted.size()) {
    const std::int32_t truth_begin = t < truth.size() ? truth[t].begin : none;
    const std::int32_t predicted_begin = p < predicted.size() ? predicted[p].begin : none;
    x = std::max(x, std::min(truth_begin, predicted_begin));
    const bool in_truth = truth_begin <= x;
    const bool in_predicted = predicted_begin <= x;
    const std::int32_t end = std::min(in_truth ? truth[t].end : truth_begin,
                                      in_predicted ? predicted[p].end : predicted_begin);
    counts.add(in_truth ? truth[t].label : 0, in_predicted ? predicted[p].label : 0, end - x);
    x = end;
    if (in_truth && truth[t].end == x) ++t;
    if (in_predicted && predicted[p].end == x) ++p;
  }
}

}  // namespace

VariationOfInformation variation_of_information(const Mask& truth, const Mask& predicted) {
  check_same_shape(truth, predicted);
  const Components truth_parts = components(truth, Connectivity::corners_26);
  const Components predicted_parts = components(predicted, Connectivity::corners_26);
  PairCounts counts;
  for (std::int64_t z = 0; z < truth.shape()[0]; ++z)
    for (std::int64_t y = 0; y < truth.shape()[1]; ++y)
      count_row(truth_parts.row(z, y), predicted_parts.row(z, y), counts);

  const auto pairs = counts.sorted();
  std::vector<std::int64_t> of_truth(truth_parts.sizes.size() + 1);
  std::vector<std::int64_t> of_predicted(predicted_parts.sizes.size() + 1);
  std::int64_t all = 0;
  for (const auto& [pair, voxels] : pairs) {
    of_truth[pair >> 32] += voxels;
    of_predicted[pair & 0xffffffff] += voxels;
    all += voxels;
  }
  VariationOfInformation voi;
  for (const auto& [pair, voxels] : pairs) {
    const auto both = static_cast<double>(voxels);
    const double share = both / static_cast<double>(all);
    voi.merge += share * std::log2(static_cast<double>(of_predicted[pair & 0xffffffff]) / both);
    voi.split += share * std::log2(static_cast<double>(of_truth[pair >> 32]) / both);
  }
  return voi;
}

double voi_score(const VariationOfInformation& voi, double alpha) {
  return 1 / (1 + alpha * (voi.split + voi.merge));
}

}  // namespace lockstep::volume

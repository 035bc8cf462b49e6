#include "recipes/volume/metrics/overlap.h"

#include "core/base/error.h"
#include "core/base/text/text.h"

namespace lockstep::volume {
namespace {

[[noreturn]] void refuse_label(const char* what, std::int64_t label, std::size_t voxel,
                               int classes) {
  throw Error(
      cat("the ", what, " has label ", label, " at voxel ", voxel, ", which is not a class"),
      cat("classes are 0 to ", classes - 1, "; set the ignore value if ", label,
          " means unlabelled"));
}

template <typename Score>
double mean(std::span<const OverlapCounts> classes, std::size_t first_class, Score score) {
  double sum = 0;
  int present = 0;
  for (std::size_t i = first_class; i < classes.size(); ++i) {
    if (classes[i].truth + classes[i].predicted == 0) continue;
    sum += score(classes[i]);
    ++present;
  }
  return present == 0 ? 1 : sum / present;
}

}  // namespace

OverlapCounts& OverlapCounts::operator+=(const OverlapCounts& other) {
  truth += other.truth;
  predicted += other.predicted;
  both += other.both;
  return *this;
}

double dice(const OverlapCounts& counts) {
  const std::int64_t sum = counts.truth + counts.predicted;
  return sum == 0 ? 1 : 2 * static_cast<double>(counts.both) / static_cast<double>(sum);
}

double iou(const OverlapCounts& counts) {
  const std::int64_t sum = counts.truth + counts.predicted - counts.both;
  return sum == 0 ? 1 : static_cast<double>(counts.both) / static_cast<double>(sum);
}

double mean_dice(std::span<const OverlapCounts> classes, std::size_t first_class) {
  return mean(classes, first_class, dice);
}

double mean_iou(std::span<const OverlapCounts> classes, std::size_t first_class) {
  return mean(classes, first_class, iou);
}

template <typename Label>
std::vector<OverlapCounts> overlap(std::span<const Label> truth, std::span<const Label> predicted,
                                   int classes, std::optional<std::int64_t> ignore) {
  if (classes < 1) throw Error(cat(classes, " classes cannot be"), "at least 1");
  if (truth.size() != predicted.size())
    throw Error(cat("the truth has ", truth.size(), " voxels, the prediction ", predicted.size()),
                "truth and prediction must be volumes of the same depth, height and width");
  // Counts all pairs of labels in one table, so that the loop does one addition per voxel.
  const auto width = static_cast<std::size_t>(classes);
  std::vector<std::int64_t> pairs(width * width);
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const std::int64_t expected = truth[i];
    if (ignore && expected == *ignore) continue;
    const std::int64_t found = predicted[i];
    if (expected < 0 || expected >= classes) refuse_label("truth", expected, i, classes);
    if (found < 0 || found >= classes) refuse_label("prediction", found, i, classes);
    ++pairs[static_cast<std::size_t>(expected) * width + static_cast<std::size_t>(found)];
  }
  std::vector<OverlapCounts> counts(width);
  for (std::size_t t = 0; t < width; ++t)
    for (std::size_t p = 0; p < width; ++p) {
      counts[t].truth += pairs[t * width + p];
      counts[p].predicted += pairs[t * width + p];
      if (t == p) counts[t].both += pairs[t * width + p];
    }
  return counts;
}

template std::vector<OverlapCounts> overlap(std::span<const std::uint8_t>,
                                            std::span<const std::uint8_t>, int,
                                            std::optional<std::int64_t>);
template std::vector<OverlapCounts> overlap(std::span<const std::uint16_t>,
                                            std::span<const std::uint16_t>, int,
                                            std::optional<std::int64_t>);
template std::vector<OverlapCounts> overlap(std::span<const std::int32_t>,
                                            std::span<const std::int32_t>, int,
                                            std::optional<std::int64_t>);

}  // namespace lockstep::volume

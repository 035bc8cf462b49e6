#include "recipes/volume/model/evaluation.h"

#include "core/base/text/text.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <numeric>

namespace lockstep::volume {

at::Tensor to_tensor(const VolumeRecord& record) {
  std::vector<double> numbers = {record.score, record.surface_dice, record.voi_score,
                                 record.topology_score};
  for (const OverlapCounts& counts : record.classes)
    for (const std::int64_t count : {counts.truth, counts.predicted, counts.both})
      numbers.push_back(static_cast<double>(count));
  at::Tensor tensor = at::empty({std::ssize(numbers)}, at::kDouble);
  std::copy(numbers.begin(), numbers.end(), tensor.mutable_data_ptr<double>());
  return tensor;
}

VolumeRecord record_from(const at::Tensor& numbers) {
  const at::Tensor dense = numbers.contiguous();
  const double* values = dense.const_data_ptr<double>();
  VolumeRecord record{.classes = {},
                      .score = values[0],
                      .surface_dice = values[1],
                      .voi_score = values[2],
                      .topology_score = values[3]};
  for (std::int64_t i = 4; i + 2 < dense.numel(); i += 3)
    record.classes.push_back({static_cast<std::int64_t>(values[i]),
                              static_cast<std::int64_t>(values[i + 1]),
                              static_cast<std::int64_t>(values[i + 2])});
  return record;
}

std::vector<Metric> volume_metrics(const std::vector<VolumeRecord>& records, bool topology) {
  const auto mean = [&](const std::string& name, auto value) {
    const double sum = std::accumulate(
        records.begin(), records.end(), 0.0,
        [&](double all, const VolumeRecord& record) { return all + value(record); });
    return Metric{name, sum / static_cast<double>(records.size()), "", /*lower_is_better=*/false};
  };
  std::vector<Metric> metrics = {
      mean("dice", [](const VolumeRecord& record) { return record.dice(); }),
      mean("iou", [](const VolumeRecord& record) { return record.iou(); })};
  if (!topology) return metrics;
  metrics.push_back(mean("score", [](const VolumeRecord& record) { return record.score; }));
  metrics.push_back(
      mean("surface_dice", [](const VolumeRecord& record) { return record.surface_dice; }));
  metrics.push_back(mean("voi_score", [](const VolumeRecord& record) { return record.voi_score; }));
  metrics.push_back(
      mean("topology_score", [](const VolumeRecord& record) { return record.topology_score; }));
  return metrics;
}

ItemTable volume_table(const std::vector<VolumeRecord>& records,
                       const std::vector<std::string>& ids, bool topology) {
  ItemTable table{.columns = {"id", "dice", "iou"}, .rows = {}};
  const std::size_t classes = records.empty() ? 2 : records.front().classes.size();
  if (topology)
    table.columns.insert(table.columns.end(),
                         {"score", "surface_dice", "voi_score", "topology_score"});
  for (std::size_t c = 1; classes > 2 && c < classes; ++c) table.columns.push_back(cat("dice_", c));
  for (std::size_t c = 1; c < classes; ++c) {
    const std::string end = classes > 2 ? cat("_", c) : "";
    table.columns.push_back("voxels" + end);
    table.columns.push_back("predicted_voxels" + end);
  }
  for (std::size_t i = 0; i < records.size(); ++i) {
    const VolumeRecord& record = records[i];
    std::vector<Cell> row = {ids.at(i), record.dice(), record.iou()};
    if (topology)
      for (const double value :
           {record.score, record.surface_dice, record.voi_score, record.topology_score})
        row.emplace_back(value);
    for (std::size_t c = 1; classes > 2 && c < classes; ++c)
      row.emplace_back(dice(record.classes[c]));
    for (std::size_t c = 1; c < classes; ++c) {
      row.emplace_back(record.classes[c].truth);
      row.emplace_back(record.classes[c].predicted);
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace lockstep::volume

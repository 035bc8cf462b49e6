// Converts the records of evaluated volumes to the engine's forms: tensors, metrics and a table.
#pragma once

#include "recipes/volume/metrics/volume_record.h"
#include "training/recipe/recipe.h"

#include <string>
#include <vector>

namespace lockstep::volume {

// Returns f64 [4 + 3 * classes], with the background as a class.
at::Tensor to_tensor(const VolumeRecord& record);
VolumeRecord record_from(const at::Tensor& numbers);

// Returns means over the volumes. topology: whether the records have SurfaceDice, VOI and topology.
std::vector<Metric> volume_metrics(const std::vector<VolumeRecord>& records, bool topology);
// Returns a table with a row for each volume. ids: one for each record.
ItemTable volume_table(const std::vector<VolumeRecord>& records,
                       const std::vector<std::string>& ids, bool topology);

}  // namespace lockstep::volume

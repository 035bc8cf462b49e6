// Converts records of volumes into the engine's forms: tensors, metrics, a table.
#pragma once

#include "recipes/volume/metrics/volume_record.h"
#include "training/recipe/recipe.h"

#include <string>
#include <vector>

namespace lockstep::volume {

// f64 [4 + 3 * classes].
at::Tensor to_tensor(const VolumeRecord& record);
VolumeRecord record_from(const at::Tensor& numbers);

// Means over the volumes.
std::vector<Metric> volume_metrics(const std::vector<VolumeRecord>& records, bool topology);
// A row per volume. ids: one per record.
ItemTable volume_table(const std::vector<VolumeRecord>& records,
                       const std::vector<std::string>& ids, bool topology);

}  // namespace lockstep::volume

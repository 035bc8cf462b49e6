// Converts the records of evaluated volumes to what the engine needs: tensors, metrics and a table.
#pragma once

#include "recipes/volume/metrics/volume_record.h"
#include "training/recipe/recipe.h"

#include <string>
#include <vector>

namespace lockstep::volume {

// Returns a record as f64 [4 + 3 * classes], where the background counts as a class.
at::Tensor to_tensor(const VolumeRecord& record);
VolumeRecord record_from(const at::Tensor& numbers);

// Returns the means of the scores over the volumes. topology: whether the records have SurfaceDice,
// VOI and topology scores.
std::vector<Metric> volume_metrics(const std::vector<VolumeRecord>& records, bool topology);
// Returns a table with a row for each volume. ids: the id of each record's volume.
ItemTable volume_table(const std::vector<VolumeRecord>& records,
                       const std::vector<std::string>& ids, bool topology);

}  // namespace lockstep::volume

// Computes the results that a window reports to its batch.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace lockstep::gbdt {

// Returns results from metadata.json by name, as numbers and texts:
//   - "used.NAME" for each parameter that was requested and that the booster read;
//   - "rows.train", "rows.valid" and "rows.test";
//   - "trees" and "best_iteration";
//   - "data" (hash of the prices), "model_hash" (hash of the trees) and "device";
//   - the metrics of the test ("test.auc", …), or without a test those of validation
//     ("validation.auc", …).
nlohmann::json job_results(const nlohmann::json& metadata);

}  // namespace lockstep::gbdt

// Chooses the results that the training of a window reports to its batch.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace lockstep::gbdt {

// Returns results from metadata.json as a flat object of numbers and texts, with these names:
//   - "used.NAME" for each requested parameter, with the value that the model states;
//   - "rows.train", "rows.valid" and "rows.test";
//   - "trees" and "best_iteration";
//   - "data" (hash of the prices), "model_hash" (hash of the trees) and "device";
//   - the metrics of the test ("test.auc", …), or without a test those of validation
//     ("validation.auc", …).
nlohmann::json job_results(const nlohmann::json& metadata);

}  // namespace lockstep::gbdt

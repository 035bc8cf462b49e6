// The results that a window reports to its batch.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace lockstep::gbdt {

// The results in metadata.json, as numbers and texts by name: "used.NAME" for each parameter that
// was requested and that the booster read, "rows.train", "rows.valid" and "rows.test", "trees",
// "best_iteration", "data" (hash of the prices), "model_hash" (of the trees), "device", and the
// metrics of the test ("test.auc", …), or of the validation if there was no test.
nlohmann::json job_results(const nlohmann::json& metadata);

}  // namespace lockstep::gbdt

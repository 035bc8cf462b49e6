#include "training/trainer/output/best_so_far.h"

#include "core/base/text/text.h"
#include "planning/words.h"
#include "runtime/run/events/json_lines.h"

namespace lockstep {

nlohmann::json to_json(const BestSoFar& best) {
  nlohmann::json json{{"last_evaluation_step", best.last_step},
                      {"evaluations_since_best", best.evaluations_since}};
  if (best.value) json.update({{"best", *best.value}, {"best_step", best.step}});
  return json;
}

BestSoFar best_from_json(const nlohmann::json& state) {
  BestSoFar best;
  if (state.contains("best") && state["best"].is_number()) best.value = state["best"].get<double>();
  const std::int64_t step = integer_or(state, "step", 0);
  if (best.value) best.step = integer_or(state, "best_step", step);
  best.last_step = integer_or(state, "last_evaluation_step", step);
  best.evaluations_since = integer_or(state, "evaluations_since_best", 0);
  return best;
}

std::string out_of_patience(const TrainOptions& options, const BestSoFar& best,
                            const std::string& metric, std::int64_t steps_per_epoch) {
  const auto& stop = options.stop;
  const std::string since =
      best.value ? cat(" since step ", best.step) : std::string(" since the start");
  if (stop.patience > 0 && best.evaluations_since >= stop.patience)
    return cat("no better ", metric, " in ", count_of(best.evaluations_since, "evaluation"), since);
  const double epochs = static_cast<double>(best.last_step - best.step) /
                        static_cast<double>(steps_per_epoch > 0 ? steps_per_epoch : 1);
  if (stop.patience_epochs > 0 && best.evaluations_since > 0 &&
      epochs >= stop.patience_epochs * (1 - 1e-12))
    return cat("no better ", metric, " in ", general(epochs, 4), " epochs", since);
  return "";
}

}  // namespace lockstep

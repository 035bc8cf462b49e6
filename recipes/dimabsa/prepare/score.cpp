// Predictions in files against gold.
#include "base/error.h"
#include "recipes/dimabsa/prepare/prepare.h"
#include "recipes/dimabsa/sentences/score_files.h"

namespace lockstep::dimabsa {

std::vector<Score> score_predictions(const DimabsaOptions& options, const ScoreContext& context) {
  if (options.data.path.empty())
    throw Error("data.path does not say what the predictions are compared with",
                "lockstep score dimabsa predictions=DIR data.path=gold.jsonl");
  return score_files({.task = options.task(),
                      .gold = options.data.path,
                      .language = options.data.language,
                      .domain = options.data.domain},
                     context);
}

}  // namespace lockstep::dimabsa

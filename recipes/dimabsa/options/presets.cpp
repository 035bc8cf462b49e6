// Named sets of options, each with the result that it reproduces.
#include "recipes/dimabsa/options/dimabsa_options.h"

namespace lockstep::dimabsa {

const std::vector<Preset>& presets() {
  static const std::vector<Preset> all = {
      {"kaggle",
       "a BERT of model.path on two T4s: fp16, 8 sentences per step, 3 epochs",
       {{"batch.global", "8"},
        {"precision", "fp16"},
        {"stop.epochs", "3"},
        {"stop.after", "8h30m"},
        {"predict.submission", "submission.zip"}}},
  };
  return all;
}

}  // namespace lockstep::dimabsa

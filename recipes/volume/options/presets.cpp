// Named sets of options, each with the result that it reproduces.
#include "recipes/volume/options/volume_options.h"

namespace lockstep::volume {
namespace {

using Values = std::vector<std::pair<std::string, std::string>>;

// The residual attention U-Net with 22.9 M parameters, and its optimizer.
Values full(const Values& more) {
  Values values = {{"model.width", "32"},
                   {"model.depth", "4"},
                   {"model.attention", "true"},
                   {"model.dropout", "0.2"},
                   {"model.decoder_dropout", "0.15"},
                   {"data.patch", "64"},
                   {"data.patches", "8"},
                   {"data.positive", "0.6"},
                   {"optimizer.kind", "adamw"},
                   {"optimizer.lr", "2e-3"},
                   {"optimizer.weight_decay", "1e-4"},
                   {"optimizer.decay_norms_and_biases", "true"},
                   {"optimizer.clip", "1.0"},
                   {"schedule.unit", "epochs"}};
  values.insert(values.end(), more.begin(), more.end());
  return values;
}

const Values restarts = {{"schedule.kind", "cosine_restarts"},
                         {"schedule.period", "10"},
                         {"schedule.period_mult", "2"},
                         {"schedule.min_lr", "1e-6"}};

Values joined(Values values, const Values& more) {
  values.insert(values.end(), more.begin(), more.end());
  return values;
}

}  // namespace

const std::vector<Preset>& presets() {
  static const std::vector<Preset> all = {
      {"small",
       "0.4 M parameters on patches of 32³, for CPUs; the default without a GPU",
       {{"model.width", "8"},
        {"model.depth", "3"},
        {"model.dropout", "0"},
        {"model.decoder_dropout", "0"},
        {"data.patch", "32"},
        {"data.patches", "8"},
        {"batch.global", "4"},
        {"optimizer.lr", "3e-3"},
        {"optimizer.weight_decay", "1e-4"},
        {"schedule.kind", "cosine"},
        {"schedule.unit", "epochs"},
        {"stop.epochs", "4"},
        {"eval.every_epochs", "4"}}},
      {"full", "22.9 M parameters on patches of 64³; the default with a GPU",
       full({{"batch.global", "32"},
             {"schedule.kind", "cosine"},
             {"schedule.warmup", "1"},
             {"schedule.min_lr", "1e-6"},
             {"stop.epochs", "40"}})},
      {"kaggle",
       "as full, with the settings of two T4s for the Vesuvius surfaces: 16 x 2 x 2 = 64 patches "
       "per step",
       full(joined({{"batch.global", "64"},
                    {"batch.micro", "16"},
                    {"precision", "fp16"},
                    {"schedule.warmup", "0"},
                    {"stop.epochs", "40"},
                    {"checkpoint.every", "1h"},
                    {"checkpoint.every_epochs", "5"},
                    {"stop.budget", "45h"},
                    {"stop.after", "8h30m"},
                    {"predict.submission", "submission.zip"}},
                   restarts))},
      {"kaggle-single", "the baseline for one T4: 8 patches per step, polynomial schedule",
       full({{"batch.global", "8"},
             {"precision", "fp16"},
             {"optimizer.lr", "1e-3"},
             {"schedule.kind", "polynomial"},
             {"schedule.power", "0.9"},
             {"schedule.warmup", "3"},
             {"stop.epochs", "50"},
             {"checkpoint.every", "1h"},
             {"checkpoint.every_epochs", "5"},
             {"predict.submission", "submission.zip"}})},
      {"bench-volume",
       "as full, for speed measurements: fp16, two micro-batches of 16 patches per step",
       full({{"batch.micro", "16"},
             {"batch.accumulation", "2"},
             {"precision", "fp16"},
             {"optimizer.lr", "1e-4"},
             {"schedule.kind", "constant"},
             {"schedule.warmup", "0"},
             {"data.valid_share", "0"},
             {"eval.every_epochs", "0"},
             {"stop.steps", "100"}})},
  };
  return all;
}

}  // namespace lockstep::volume

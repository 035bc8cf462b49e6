// Named sets of options, each with its purpose.
#include "recipes/fewshot/options/fewshot_options.h"

namespace lockstep::fewshot {

const std::vector<Preset>& presets() {
  static const std::vector<Preset> all = {
      {"small",
       "a ResNet-18 with a quarter of the channels, queries of 128² and examples of 64²; for CPUs, "
       "the default without a GPU",
       {{"model.depth", "18"},
        {"model.width", "16"},
        {"model.neck", "64"},
        {"model.hidden", "256"},
        {"model.embedding", "64"},
        {"model.anchor_sizes", "16,32,64,96"},
        {"model.regions", "24"},
        {"episode.size", "128"},
        {"episode.support_size", "64"},
        {"episode.context", "8"},
        {"episode.k_shot", "3"},
        {"episode.queries", "5"},
        {"predict.regions", "100"},
        {"evaluate.episodes", "10"},
        {"batch.global", "2"},
        {"optimizer.lr", "1e-3"},
        {"optimizer.weight_decay", "1e-4"},
        {"schedule.kind", "cosine"},
        {"stop.episodes", "1000"}}},
      {"resnet50",
       "ResNet-50 on pictures of 320², 10 queries; the default with a GPU",
       {{"model.depth", "50"},
        {"model.width", "64"},
        {"episode.size", "320"},
        {"batch.global", "8"},
        {"optimizer.lr", "2e-4"},
        {"optimizer.weight_decay", "5e-4"},
        {"schedule.kind", "cosine"},
        {"stop.episodes", "16000"}}},
      {"t4x2",
       "ResNet-50, 5 classes by 4 examples, 10 queries of 384², fp16; for two T4s of 16 GB",
       {{"model.depth", "50"},
        {"model.width", "64"},
        {"episode.n_way", "5"},
        {"episode.k_shot", "4"},
        {"episode.queries", "10"},
        {"episode.size", "384"},
        {"precision", "fp16"},
        {"batch.global", "8"},
        {"optimizer.lr", "2e-4"},
        {"optimizer.weight_decay", "5e-4"},
        {"schedule.kind", "cosine"},
        {"stop.episodes", "16000"}}}};
  return all;
}

}  // namespace lockstep::fewshot

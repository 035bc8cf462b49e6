// Translates other programs' names for batch sizes. They are translated together, because those
// programs count samples per device, and Lockstep counts samples over all devices.
#pragma once

#include "core/config/synonym.h"
#include "planning/options/train_options.h"
#include "tools/cli/words/vocabulary.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lockstep::cli {

enum class BatchName { none, per_device, accumulation, global };

// Returns the kind of batch size that the name means. Returns `none` for all other names, and if
// the name is an option of the recipe or the engine.
BatchName batch_name(const Vocabulary& known, const std::string& typed);

// The batch sizes on a command line whose values are whole numbers. A size is 0 if it is not typed.
struct ForeignBatch {
  std::int64_t per_device = 0, accumulation = 0, global = 0;
  // Whether the recipe has options for the micro-batch and the accumulation, into which the sizes
  // can be translated.
  bool writes_micro = false, writes_accumulation = false;
  // Whether the accumulation of `in_force` (batch_words) is used if no accumulation is typed. If
  // false, 1 is used.
  bool has_presets_accumulation = true;
  // whether per_device is the size of all devices together, as with nn.DataParallel
  bool is_shared = false;

  bool is_typed() const { return per_device > 0 || accumulation > 0 || global > 0; }
};
ForeignBatch foreign_batch(const Vocabulary& known, std::span<const TypedName> typed);

struct BatchWords {
  std::vector<OurWord> words;
  bool sums_up_devices = false;  // whether batch.global was computed from the number of devices
  // whether batch.global was computed from a size of all devices together
  bool is_shared = false;
};
// Returns the translation of the sizes, such as "batch.global=128 batch.micro=16". Sizes that do
// not divide the global batch are left out. in_force: the options that result from all other words
// of the line. devices: the number of devices, or 0 if unknown. Returns nothing if that number is
// needed but unknown.
std::optional<BatchWords> batch_words(const ForeignBatch& typed, const TrainOptions& in_force,
                                      std::int64_t devices);

}  // namespace lockstep::cli

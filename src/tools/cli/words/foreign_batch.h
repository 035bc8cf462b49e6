// Other programs' names for batch sizes. They must be read together, because those programs count
// per device, and Lockstep over all devices.
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

// The kind of such a name. Also none if the name is an option here.
BatchName batch_name(const Vocabulary& known, const std::string& typed);

// The sizes on a command line that have whole numbers as values. 0: not typed.
struct ForeignBatch {
  std::int64_t per_device = 0, accumulation = 0, global = 0;
  // Whether the recipe's micro-batch and accumulation count samples, so that they can be
  // translated.
  bool writes_micro = false, writes_accumulation = false;
  // an accumulation is in force if none is typed; false: the program had none
  bool has_presets_accumulation = true;
  bool is_shared = false;  // per_device is for all devices together, as with nn.DataParallel

  bool is_typed() const { return per_device > 0 || accumulation > 0 || global > 0; }
};
ForeignBatch foreign_batch(const Vocabulary& known, std::span<const TypedName> typed);

struct BatchWords {
  std::vector<OurWord> words;
  bool sums_up_devices = false;  // a value was computed from the number of devices
  bool is_shared = false;        // batch.global is the typed size, for all devices together
};
// The translation in which the sizes agree: "batch.global=128 batch.micro=16". in_force: the
// options with all other words of the line applied. devices: their number, 0 if unknown. Nothing if
// the number is needed but unknown.
std::optional<BatchWords> batch_words(const ForeignBatch& typed, const TrainOptions& in_force,
                                      std::int64_t devices);

}  // namespace lockstep::cli

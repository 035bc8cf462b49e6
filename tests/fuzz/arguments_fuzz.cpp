// key=value arguments, one per line, and the plan that is made from them. If a value is accepted,
// its printed form must be accepted too and give the same value.
#include "fuzz.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "core/config/options.h"
#include "planning/options/train_options.h"
#include "planning/plan.h"
#include "planning/precision.h"
#include "recipes/textgen/options/text_options.h"

namespace lockstep {
namespace {

struct Options {
  TrainOptions train;
  textgen::TextOptions text;
  std::vector<OptionTable*> tables{&train.table, &text.table};
};

// Of a machine with two GPUs or two CPU ranks.
void plan(Options& options) {
  const Facts facts{.train_samples = 5000,
                    .valid_samples = 500,
                    .units_per_sample = 64,
                    .parameters = 1'000'000,
                    .default_global = 32,
                    .flops_per_sample = 1e9};
  for (const DeviceKind kind : {DeviceKind::cpu, DeviceKind::cuda}) {
    const Device device{
        .kind = kind, .name = "GPU", .memory_bytes = std::uint64_t{16} << 30, .compute_major = 9};
    const Precision asked = options.train.precision;
    resolve_precision(options.train, options.text.low_precision(), {device});
    const MemoryEstimate memory = options.text.RecipeOptions::memory(options.train, facts);
    const Plan made = make_plan(options.train, facts, memory, {device, device});
    to_text(made, /*curve=*/false);
    options.train.precision = asked;
    for (const std::int64_t step : {std::int64_t{0}, made.total_steps / 2, made.total_steps - 1})
      LOCKSTEP_CHECK(learning_rate(made.schedule, step) >= 0);
  }
}

}  // namespace
}  // namespace lockstep

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  std::string_view text = fuzz::text_of(data, size);
  std::vector<std::string> arguments;
  while (!text.empty()) arguments.emplace_back(fuzz::take_part(text, '\n'));
  Options options;
  if (!fuzz::accepts([&] { apply_config(options.tables, {}, arguments); })) return 0;

  Options again;
  for (std::size_t i = 0; i < options.tables.size(); ++i) {
    for (const OptionInfo& option : options.tables[i]->options())
      if (options.tables[i]->is_set(option.key))
        again.tables[i]->set(option.key, options.tables[i]->get(option.key));
    LOCKSTEP_CHECK(again.tables[i]->to_json() == options.tables[i]->to_json());
  }
  fuzz::accepts([&] {
    options.text.check(options.train);
    plan(options);
  });
  return 0;
}

#include "tools/cli/plan/fitting_sample.h"

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/base/whole_number.h"
#include "planning/memory/memory.h"

#include <algorithm>
#include <optional>

namespace lockstep::cli {
namespace {

// The options that an advice names. For example, "episode.size" in "a smaller episode
// (episode.size=512 instead of 1024, or …)".
std::vector<std::string> options_named_in(const std::string& advice, const OptionTable& table) {
  std::vector<std::string> keys;
  for (const std::string& word : split(advice, ' ')) {
    std::string key = word.substr(0, word.find('='));
    if (key.starts_with('(')) key.erase(0, 1);
    if (key.size() < word.size() && table.has(key)) keys.push_back(std::move(key));
  }
  return keys;
}

bool fits(const RunSetup& setup, double available) try {
  const TrainOptions& train = *setup.train;
  setup.options->check(train);
  const MemoryEstimate memory = setup.options->memory(train, setup.prepared.facts);
  const std::int64_t blocks = train.memory.recompute == Recompute::off ? 0 : memory.blocks;
  return needed_bytes(memory, setup.plan.batch.micro, blocks) <= available;
} catch (const Error&) {  // the recipe does not accept such a small value
  return false;
}

std::optional<std::int64_t> value_that_fits(RunSetup& setup, const std::string& key,
                                            std::int64_t now, double available) {
  OptionTable& table = setup.options->table;
  for (std::int64_t value = now / 2; value > 0; value /= 2) {
    try {
      table.set_json(key, value, {.kind = ValueSource::Kind::record});
    } catch (const Error&) {  // below the option's minimum
      return std::nullopt;
    }
    if (fits(setup, available)) return value;
  }
  return std::nullopt;
}

}  // namespace

std::string sample_that_fits(RunSetup& setup, const std::vector<Device>& devices) {
  const std::string advice = setup.prepared.facts.smaller_sample;
  const auto tightest = tightest_device(devices);
  OptionTable& table = setup.options->table;
  const std::vector<std::string> keys = options_named_in(advice, table);
  if (!tightest || keys.empty()) return advice;
  std::vector<std::string> ways;
  for (const OptionInfo& option : table.options()) {
    if (std::find(keys.begin(), keys.end(), option.key) == keys.end()) continue;
    const auto now = whole_number<std::int64_t>(table.get(option.key));
    if (!now) continue;
    const auto value = value_that_fits(setup, option.key, *now, tightest->available_bytes);
    table.set_json(option.key, *now, option.source);
    if (value) ways.push_back(cat(option.key, "=", *value, " instead of ", *now));
  }
  if (ways.empty()) return "";
  return cat(advice.substr(0, advice.find('(')), "(", join(ways, ", or "), ")");
}

}  // namespace lockstep::cli

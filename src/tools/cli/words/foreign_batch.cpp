#include "tools/cli/words/foreign_batch.h"

#include "core/base/text/text.h"
#include "core/base/whole_number.h"
#include "planning/options/synonyms.h"

#include <algorithm>

namespace lockstep::cli {
namespace {

constexpr std::int64_t largest_size = 1'000'000'000;

bool is_of_engine(const std::string& typed, const char* ours) {
  static const std::vector<Synonym> engine = engine_synonyms();
  const Synonym* const synonym = find_synonym(engine, typed);
  return synonym != nullptr && synonym->ours == ours;
}

bool writes(const Synonym& synonym, const char* part) {
  return synonym.ours.find(part) != std::string::npos;
}

bool is_given(const TrainOptions& options, const char* key) {
  return options.table.is_given(key) && options.table.get(key) != "0";
}

// The number of micro-batches that a device accumulates per step, whatever the typed micro-batch
// is.
std::int64_t accumulation_for(const ForeignBatch& typed, const TrainOptions& options,
                              std::int64_t devices) {
  if (typed.accumulation > 0) return typed.accumulation;
  if (!typed.has_presets_accumulation && !is_given(options, "batch.accumulation")) return 1;
  const auto& batch = options.batch;
  if (batch.accumulation > 0) return batch.accumulation;
  if (is_given(options, "batch.global") || batch.global <= 0 || batch.micro <= 0) return 1;
  return std::max<std::int64_t>(1, batch.global / (devices * batch.micro));
}

// Whether the named batch size is divided among the program's devices.
bool shares_batch(const Vocabulary& known, const TypedName& name) {
  const Synonym* const synonym = find_synonym(known.synonyms, name.name);
  if (synonym == nullptr || !synonym->shares_batch || known.has(plain_name(name.name)))
    return false;
  const std::vector<OurWord> words = written_here(*synonym, name.value, {});
  return std::any_of(words.begin(), words.end(),
                     [](const OurWord& word) { return word.means_several; });
}

}  // namespace

BatchName batch_name(const Vocabulary& known, const std::string& typed) {
  if (!known.is_of_engine || known.has(plain_name(typed))) return BatchName::none;
  const Synonym* const synonym = find_synonym(known.synonyms, typed);
  if (synonym == nullptr) return BatchName::none;
  if (writes(*synonym, "{total}")) return BatchName::per_device;
  if (synonym->ours == "batch.global={value}") return BatchName::global;
  const bool counts = synonym->ours.empty() || synonym->ours == "batch.accumulation={value}";
  return counts && is_of_engine(typed, "batch.accumulation={value}") ? BatchName::accumulation
                                                                     : BatchName::none;
}

ForeignBatch foreign_batch(const Vocabulary& known, std::span<const TypedName> typed) {
  ForeignBatch batch;
  if (const Synonym* const size = find_synonym(known.synonyms, "batch_size"))
    batch.writes_micro = writes(*size, "batch.micro=");
  for (const TypedName& name : typed) {
    batch.is_shared |= shares_batch(known, name);
    const BatchName which = batch_name(known, name.name);
    const auto size = whole_number<std::int64_t>(name.value, 1, largest_size);
    if (which == BatchName::none || !size) continue;
    const Synonym& synonym = *find_synonym(known.synonyms, name.name);
    if (which == BatchName::global) batch.global = *size;
    if (which == BatchName::per_device) {
      batch.per_device = *size;
      batch.writes_micro = writes(synonym, "batch.micro=");
    }
    if (which == BatchName::accumulation) {
      batch.accumulation = *size;
      batch.writes_accumulation = !synonym.ours.empty();
    }
  }
  return batch;
}

std::optional<BatchWords> batch_words(const ForeignBatch& typed, const TrainOptions& in_force,
                                      std::int64_t devices) {
  const bool is_shared = typed.is_shared && typed.per_device > 0;
  const bool needs_devices = typed.global == 0 && typed.per_device > 0 && !is_shared;
  if (devices == 0 && needs_devices) return std::nullopt;
  BatchWords all;
  const bool is_given_here = is_given(in_force, "batch.global");
  std::int64_t global = typed.global;
  if (global == 0 && is_given_here) {
    global = in_force.batch.global;
  } else if (global == 0 && is_shared) {
    global = typed.per_device * std::max<std::int64_t>(1, typed.accumulation);
    all.is_shared = true;
  } else if (global == 0) {
    const std::int64_t micro =
        typed.per_device > 0 ? typed.per_device : std::max<std::int64_t>(in_force.batch.micro, 0);
    global = devices * micro * accumulation_for(typed, in_force, devices);
    all.sums_up_devices = global > 0;
  }
  const auto divides = [&](std::int64_t size) {
    return devices > 0 && size > 0 && global % (devices * size) == 0;
  };
  if (global > 0 && !is_given_here)
    all.words.push_back({.name = "batch.global", .value = cat(global)});
  const bool has_micro = typed.writes_micro && !is_shared && divides(typed.per_device);
  if (has_micro) all.words.push_back({.name = "batch.micro", .value = cat(typed.per_device)});
  const bool agrees = global == 0 ? true
                      : has_micro ? devices * typed.per_device * typed.accumulation == global
                      : is_shared || !typed.writes_micro ? false
                                                         : divides(typed.accumulation);
  if (typed.writes_accumulation && agrees)
    all.words.push_back({.name = "batch.accumulation", .value = cat(typed.accumulation)});
  return all;
}

}  // namespace lockstep::cli

#include "planning/options/batch_options.h"

#include "core/base/text/text.h"

#include <string>
#include <utility>
#include <vector>

namespace lockstep {
namespace {

constexpr const char* global_key = "batch.global";
constexpr const char* micro_key = "batch.micro";
constexpr const char* accumulation_key = "batch.accumulation";

ValueSource source_of(const OptionTable& table, const std::string& key) {
  for (const OptionInfo& option : table.options())
    if (option.key == key) return option.source;
  return {};
}

// Whether the user set the size. A value of 0 means that the size must be found.
bool is_set_by_user(const OptionTable& table, const char* key) {
  return table.is_given(key) && table.get(key) != "0";
}

bool is_of_preset(const OptionTable& table, const char* key) {
  return source_of(table, key).kind == ValueSource::Kind::preset && table.get(key) != "0";
}

void leave_open(OptionTable& table, const char* key) {
  if (is_of_preset(table, key)) table.set(key, "0", source_of(table, key));
}

}  // namespace

void prefer_given_batch(TrainOptions& options, std::int64_t devices) {
  OptionTable& table = options.table;
  const bool global = is_set_by_user(table, global_key);
  const bool micro = is_set_by_user(table, micro_key);
  const bool accumulation = is_set_by_user(table, accumulation_key);
  // A preset without a global batch sets micro-batch and accumulation per device, for any number of
  // devices.
  const bool has_global = global || is_of_preset(table, global_key);
  if (has_global && (global || micro)) leave_open(table, accumulation_key);
  if (has_global && (global || accumulation)) leave_open(table, micro_key);
  if (micro && accumulation && options.batch.micro > 0) leave_open(table, global_key);
  const auto& batch = options.batch;
  const bool are_of_preset = is_of_preset(table, global_key) && is_of_preset(table, micro_key);
  if (are_of_preset && batch.micro > 0 && batch.accumulation == 0 && !options.exact &&
      devices > 0 && batch.global % devices == 0 && batch.global / devices % batch.micro != 0)
    leave_open(table, micro_key);
}

std::string size_source(const TrainOptions& options, const std::string& key) {
  const ValueSource source = source_of(options.table, key);
  const std::string value = options.table.get(key);
  const bool is_preset = source.kind == ValueSource::Kind::preset;
  if (value == "0" || (!is_preset && source.kind != ValueSource::Kind::file)) return "";
  return cat(key, "=", value, " from ", is_preset ? "preset " : "", source.where);
}

std::string batch_sources(const TrainOptions& options) {
  std::vector<std::string> sources;
  for (const char* key : {global_key, micro_key, accumulation_key})
    if (std::string source = size_source(options, key); !source.empty())
      sources.push_back(std::move(source));
  return join(sources, ", ");
}

}  // namespace lockstep

// lockstep train gbdt: one symbol and window.
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/cells.h"
#include "base/error.h"
#include "base/text.h"
#include "base/whole_number.h"
#include "recipes/gbdt/train/train_window.h"

namespace lockstep::gbdt {
namespace {

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::string first_symbol(const GbdtOptions& options) {
  if (!options.symbol.empty()) return options.symbol;
  return batch_symbols(options).front();
}

std::string number(const Interval& value) {
  if (std::isnan(value.estimate)) return "undefined";
  if (std::isnan(value.low)) return fixed(value.estimate, 3);
  return cat(fixed(value.estimate, 3), " (", fixed(value.low, 3), " to ", fixed(value.high, 3),
             ")");
}

std::string rows_of(const char* part, const BinaryMetrics& metrics) {
  return cat(part, ", ", metrics.counts.rows(), " rows");
}

// A line for each metric, with 95 % intervals.
std::string metric_table(const WindowResult& result) {
  constexpr int name_width = 12, value_width = 28;
  const bool tested = result.test.counts.rows() > 0;
  const auto line = [&](const std::string& name, const std::string& valid,
                        const std::string& test) {
    return cat(pad_cells(name, name_width), pad_cells(valid, tested ? value_width : 0),
               tested ? test : "", "\n");
  };
  std::string text = line("", rows_of("validation", result.valid), rows_of("test", result.test));
  const std::pair<const char*, Interval BinaryMetrics::*> rows[] = {
      {"base rate", &BinaryMetrics::base_rate},
      {"AUC", &BinaryMetrics::auc},
      {"log-loss", &BinaryMetrics::log_loss},
      {"accuracy", &BinaryMetrics::accuracy},
      {"precision", &BinaryMetrics::precision},
      {"recall", &BinaryMetrics::recall},
      {"F1", &BinaryMetrics::f1}};
  for (const auto& [name, field] : rows)
    text += line(name, number(result.valid.*field), number(result.test.*field));
  return text;
}

std::vector<std::string> next_commands(const GbdtOptions& options, const std::string& symbol) {
  const std::string data = options.made() ? "" : cat(" data.path=", options.data.path);
  std::vector<std::string> commands = {
      cat("lockstep train gbdt preset=experiment symbol=", symbol, data),
      cat("lockstep batch gbdt", data)};
  if (options.made())
    commands.emplace_back("lockstep train gbdt data.path=DIR symbol=NAME start=2022-01-01");
  return commands;
}

DirectResult train(const GbdtOptions& options, const DirectContext& context) {
  const LightGbm library(find_lightgbm(options.gbdt.library));
  resolve_parameters(library, options.parameters());  // before any work
  const std::string symbol = first_symbol(options);
  const WindowTask task{
      .symbol = symbol,
      .load = [&] { return load_symbol(options, symbol); },
      .folder = context.folder,
      .batch_id = environment("LOCKSTEP_BATCH"),
      .run_id = context.name,
      .attempt = whole_number<std::int64_t>(environment("LOCKSTEP_TRY")).value_or(1)};
  const WindowResult result = train_window(options, library, task, context.say);
  if (result.status == DirectResult::Status::success) {
    const auto& model = result.metadata.at("model");
    context.say(cat(result.metadata.at("window_label").get<std::string>(), ": ",
                    result.metadata.at("sample_counts").at("train").get<int>(), " rows, ",
                    model.at("trees").get<int>(), " trees of at most ",
                    model.at("most_leaves").get<int>(), " leaves, ended by ",
                    model.at("ended_by").get<std::string>()));
  }
  return {.status = result.status,
          .why = result.skip_reason,
          .record = result.metadata,
          .table = result.status == DirectResult::Status::success ? metric_table(result) : "",
          .next = next_commands(options, symbol)};
}

[[maybe_unused]] const bool train_linked = [] {
  trainer.train = train;
  return true;
}();

}  // namespace
}  // namespace lockstep::gbdt

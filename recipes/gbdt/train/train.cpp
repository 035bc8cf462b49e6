// lockstep train gbdt: one symbol and window.
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

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
  return std::isnan(value.estimate) ? std::string("undefined") : fixed(value.estimate, 3);
}

std::string summary(const WindowResult& result) {
  const bool tested = result.test.counts.rows() > 0;
  const BinaryMetrics& m = tested ? result.test : result.valid;
  return cat(tested ? "test" : "validation", ": ", m.counts.rows(), " rows, base rate ",
             number(m.base_rate), ", AUC ", number(m.auc), ", accuracy ", number(m.accuracy),
             ", precision ", number(m.precision), ", recall ", number(m.recall), ", F1 ",
             number(m.f1), ", log-loss ", number(m.log_loss));
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
      .attempt = whole_number<std::int64_t>(environment("LOCKSTEP_ATTEMPT")).value_or(1)};
  const WindowResult result = train_window(options, library, task, context.say);
  if (result.status == DirectResult::Status::success) {
    const auto& model = result.metadata.at("model");
    context.say(cat(result.metadata.at("window_label").get<std::string>(), ": ",
                    result.metadata.at("sample_counts").at("train").get<int>(), " rows, ",
                    model.at("trees").get<int>(), " trees of at most ",
                    model.at("most_leaves").get<int>(), " leaves, ended by ",
                    model.at("ended_by").get<std::string>()));
    context.say(summary(result));
  }
  return {.status = result.status, .why = result.skip_reason, .record = result.metadata};
}

[[maybe_unused]] const bool linked = [] {
  trainer = {.train = train};
  return true;
}();

}  // namespace
}  // namespace lockstep::gbdt

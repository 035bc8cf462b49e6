// Reports all measurements, and the machine on which they were made.
#include "tools/cli/bench/bench_report.h"

#include "built_with.h"
#include "core/base/clock.h"
#include "core/base/text/text.h"
#include "core/base/version.h"
#include "planning/words.h"
#include "tools/cli/context.h"

namespace lockstep::cli {
namespace {

nlohmann::json names_of(const std::vector<Device>& devices) {
  nlohmann::json names = nlohmann::json::array();
  for (const Device& device : devices) names.push_back(device.name);
  return names;
}

}  // namespace

std::string count_text(const Bench& bench, int count) {
  return count_of(count, rank_word(bench.devices));
}

nlohmann::json report_json(const Bench& bench, const std::vector<ScalingRow>& rows) {
  nlohmann::json json{{"recipe", bench.setup.recipe},
                      {"scaling", bench.scaling == Scaling::strong ? "strong" : "weak"},
                      {"steps", bench.steps},
                      {"warm_up", bench.warm_up},
                      {"repeats", bench.repeats},
                      {"device_names", names_of(bench.devices)},
                      {"lockstep", version()},
                      {"torch", LOCKSTEP_TORCH_VERSION},
                      {"driver", probe().driver_version()},
                      {"time", system_clock().wall_s()},
                      {"config", nlohmann::json::object()},
                      {"rows", nlohmann::json::array()}};
  for (OptionTable* table : bench.setup.tables()) json["config"].update(table->to_json());
  for (const char* key : {"batch.global", "batch.micro", "batch.accumulation"})
    json["config"].erase(key);  // each row has its own value
  for (const ScalingRow& row : rows) json["rows"].push_back(to_json(row));
  return json;
}

std::string report_text(const Bench& bench, const std::vector<ScalingRow>& rows) {
  const bool strong = bench.scaling == Scaling::strong;
  std::string text = cat(bench.setup.recipe, " on ", count_text(bench, bench.counts.back()), " (",
                         bench.devices[0].name, "), ", strong ? "strong" : "weak", " scaling: ",
                         strong ? "the same global batch on any number of devices"
                                : "the global batch grows with the devices",
                         "\n", bench.steps, " steps after ", bench.warm_up, " of warm-up, ",
                         count_of(bench.repeats, "repeat"), "\n\n", scaling_text(rows));
  if (const std::string& why = rows.front().mfu_unknown; !why.empty())
    text += cat("\nMFU unknown: ", why, "\n");
  return text;
}

}  // namespace lockstep::cli

#include "tools/report/facts/abtest_facts.h"

#include <cmath>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "runtime/run/events/json_lines.h"
#include "runtime/run/folder/run_summary.h"
#include "tools/report/facts/json_member.h"

namespace lockstep {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* abtest_file = "abtest.json";
constexpr std::int64_t known_format = 1;

void add_abtest_place(const json& machine, Trial& trial) {
  const auto place = FactKind::place;
  const auto text = [&](const char* key) {
    const std::string found = text_or(machine, key, "");
    return found.empty() ? json() : json(found);
  };
  const json gpus = member_or_null(machine, "gpus");
  trial.set("devices", place,
            gpus.is_array() && !gpus.empty() ? devices_text(gpus) : std::string("no GPU"));
  trial.set("cpu", place, text("cpu"));
  trial.set("host", place, text("host"));
  trial.set("driver", place, text("driver"));
}

Scale scale_of(const json& quantity) {
  return text_or(quantity, "scale", "") == "difference" ? Scale::difference : Scale::ratio;
}

Trial side_of_pair(const json& record, const json& pair, const char* side, const fs::path& folder) {
  const json measured = member_or_null(pair, side);
  Trial trial{.name = cat("pair ", integer_or(pair, "number", 0), ", ", side),
              .path = fs::absolute(folder).lexically_normal().string(),
              .source = "timing"};
  trial.set("data", FactKind::work, "of the commands");
  trial.set("options", FactKind::work, "of the commands");
  trial.set("command", FactKind::means,
            text_or(member_or_null(member_or_null(record, "commands"), side), "text", "?"));
  add_abtest_place(member_or_null(record, "machine"), trial);
  const auto number = [&](const char* key) -> std::optional<double> {
    const double value = number_or(measured, key, NAN);
    return std::isnan(value) ? std::nullopt : std::optional(value);
  };
  trial.measure({.name = "wall_s", .title = "time", .unit = "s"}, number("wall_s"));
  const std::optional<double> user = number("user_s"), system = number("system_s");
  if (user && system)
    trial.measure({.name = "cpu_s", .title = "processor time", .unit = "s"}, *user + *system);
  trial.measure({.name = "peak_bytes",
                 .title = "memory of the largest process, peak",
                 .unit = "bytes",
                 .aspect = Aspect::memory},
                number("peak_bytes"));
  const json quantity = member_or_null(record, "quantity");
  trial.measure({.name = "metric",
                 .title = cat("metric ", text_or(quantity, "pattern", "")),
                 .scale = scale_of(quantity),
                 .better = is_true(quantity, "higher_is_better") ? Better::higher : Better::lower,
                 .aspect = Aspect::quality},
                number("metric"));
  return trial;
}

}  // namespace

bool is_abtest_folder(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_regular_file(folder / abtest_file, ignored);
}

AbtestSides read_abtest(const fs::path& folder) {
  const fs::path file = folder / abtest_file;
  const json record = parse_object(read_file(file));
  if (record.is_discarded() || text_or(record, "kind", "") != "abtest")
    throw Error(cat(file.string(), " is damaged, or no record of lockstep abtest"));
  if (integer_or(record, "format", 0) > known_format)
    throw Error(cat(file.string(), " is of a later Lockstep"), "compare it with that one");
  AbtestSides sides{.a = {.name = "A", .trials = {}}, .b = {.name = "B", .trials = {}}};
  const json pairs = member_or_null(record, "pairs");
  for (const json& pair : pairs.is_array() ? pairs : json::array()) {
    sides.a.trials.push_back(side_of_pair(record, pair, "a", folder));
    sides.b.trials.push_back(side_of_pair(record, pair, "b", folder));
  }
  if (sides.a.trials.empty())
    throw Error(cat(folder.string(), " has no pair that was measured"),
                "see how the trial ended: its state stands in abtest.json");
  const json quantity = member_or_null(record, "quantity"), rule = member_or_null(record, "rule");
  sides.by = text_or(quantity, "key", "");
  sides.scale = scale_of(quantity);
  if (const double margin = number_or(rule, "margin", NAN); margin > 0 && std::isfinite(margin))
    sides.margin = margin;
  if (const double share = number_or(rule, "confidence", NAN); share > 0 && share < 1)
    sides.confidence = share;
  return sides;
}

}  // namespace lockstep

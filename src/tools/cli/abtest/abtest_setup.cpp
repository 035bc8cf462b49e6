#include "tools/cli/abtest/abtest_setup.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/base/whole_number.h"
#include "core/config/parse.h"
#include "runtime/run/names.h"
#include "tools/cli/context.h"
#include "tools/cli/output.h"
#include "tools/cli/percent.h"
#include "tools/cli/run_root.h"
#include "tools/cli/words/command_words.h"

namespace lockstep::cli {
namespace fs = std::filesystem;

namespace {

constexpr double usual_margin = 0.02, usual_budget_s = 600;

int whole_of(const Parsed& parsed, const std::string& flag, int otherwise, int least) {
  if (!parsed.has(flag)) return otherwise;
  const auto number = whole_number<int>(parsed.value(flag), least, 1'000'000);
  if (!number)
    throw Error(
        cat(flag, " must be a number from ", least, " to 1000000, but is ", parsed.value(flag)));
  return *number;
}

AbtestCommand words_of_command(const std::string& text, char side) {
  return {text, command_words(text, cat("the command of ", side))};
}

PairOrder order_of(const Parsed& parsed) {
  const std::string word = parsed.value("--order", "balanced");
  if (word == "balanced") return PairOrder::balanced;
  if (word == "ab") return PairOrder::a_first;
  throw Error(cat("--order must be balanced or ab, but is ", word));
}

// The margin. If differences are compared, it is in the unit of the metric.
double margin_of(const Parsed& parsed, const AbtestSetup& setup) {
  if (setup.trial.rule.scale == Scale::ratio) {
    const double otherwise = setup.fail_if_slower && *setup.fail_if_slower > 0
                                 ? std::min(usual_margin, *setup.fail_if_slower)
                                 : usual_margin;
    constexpr double least = 0.0001;
    return share_of(parsed, "--margin", otherwise, least);
  }
  const std::string text = parsed.value("--margin");
  if (text.empty())
    throw Error("--difference needs --margin, in the metric's own unit",
                "for example --difference --margin 0.005");
  const auto margin = detail::parse_real(text);
  if (!margin || *margin <= 0)
    throw Error(
        cat("with --difference --margin must be a number above 0 in the metric's own unit, "
            "but is ",
            text));
  return *margin;
}

void read_metric(const Parsed& parsed, AbtestSetup& setup) {
  if (parsed.has("--metric")) setup.metric.emplace(parsed.value("--metric"));
  for (const char* flag : {"--higher-is-better", "--difference"})
    if (parsed.has(flag) && !setup.metric)
      throw Error(
          cat(flag, " is about a metric, and there is none: time is better where it is less"),
          "give --metric REGEX too, or leave it out");
  setup.more_is_better = parsed.has("--higher-is-better");
  if (parsed.has("--difference")) setup.trial.rule.scale = Scale::difference;
}

void read_gate(const Parsed& parsed, AbtestSetup& setup) {
  if (!parsed.has("--fail-if-slower")) return;
  if (setup.trial.rule.scale == Scale::difference)
    throw Error("--fail-if-slower is a share, and --difference has none", "leave one of them out");
  setup.fail_if_slower = share_of(parsed, "--fail-if-slower", 0);
}

void read_limits(const Parsed& parsed, AbtestSetup& setup) {
  AbtestSpec& trial = setup.trial;
  trial.order = order_of(parsed);
  if (parsed.has("--seed") && trial.order == PairOrder::a_first)
    throw Error("--seed draws which order comes first, and with --order ab A always does",
                "leave one of them out");
  trial.seed = static_cast<std::uint64_t>(whole_of(parsed, "--seed", 0, 0));
  trial.warmup = whole_of(parsed, "--warmup", 1, 0);
  if (parsed.has("--repeats")) trial.repeats = whole_of(parsed, "--repeats", 1, 1);
  constexpr double least_s = 0.001;
  if (parsed.has("--budget"))
    trial.budget_s = duration_of(parsed, "--budget", 0, least_s);
  else if (!trial.repeats)
    trial.budget_s = usual_budget_s;
  if (parsed.has("--timeout")) setup.timeout_s = duration_of(parsed, "--timeout", 0, least_s);
}

std::vector<Device> gpus_of(std::vector<Device> devices) {
  std::erase_if(devices, [](const Device& device) { return device.kind != DeviceKind::cuda; });
  return devices;
}

void read_devices(const Parsed& parsed, AbtestSetup& setup) {
  setup.sets_gpus = parsed.has("--devices") || parsed.has("--parallel");
  if (setup.sets_gpus) {
    setup.gpus = gpus_of(devices_for(parsed.value("--devices")));
  } else {
    try {
      setup.gpus = gpus_of(devices_for("all"));
    } catch (const Error&) {  // Lockstep cannot use these GPUs, but the commands may
    }
  }
  if (!parsed.has("--parallel")) return;
  if (setup.gpus.size() < 2)
    throw Error(cat("--parallel runs a pair on each of several GPUs, but there ",
                    setup.gpus.empty() ? "is none" : "is only one",
                    parsed.has("--devices") ? " among --devices" : ""),
                "leave --parallel out: pairs then run one after the other");
  setup.trial.places = static_cast<int>(setup.gpus.size());
}

fs::path record_folder(const Parsed& parsed) {
  if (parsed.has("--out") && parsed.has("--name"))
    throw Error("--out and --name both say where the record goes", "leave one of them out");
  std::error_code ignored;
  if (parsed.has("--out")) {
    const fs::path folder = parsed.value("--out");
    if (folder.empty()) throw Error("--out must be a folder, but is empty");
    if (fs::exists(folder, ignored) &&
        !(fs::is_directory(folder, ignored) && fs::is_empty(folder, ignored)))
      throw Error(cat(folder.string(), " is there already"), "name a folder that is not there yet");
    return folder;
  }
  const fs::path root = run_root(parsed);
  if (parsed.has("--name")) {
    RunDir::check_new(root, parsed.value("--name"));
    return root / parsed.value("--name");
  }
  return root / make_folder_by_time(root, "abtest");
}

}  // namespace

VerdictWords AbtestSetup::words() const {
  if (!metric) return {.less = "faster", .more = "slower"};
  return more_is_better ? VerdictWords{.less = "lower (worse)", .more = "higher (better)"}
                        : VerdictWords{.less = "lower (better)", .more = "higher (worse)"};
}

AbtestSetup abtest_setup(const Parsed& parsed) {
  AbtestSetup setup{.a = words_of_command(parsed.positionals[0], 'A'),
                    .b = words_of_command(parsed.positionals[1], 'B')};
  read_metric(parsed, setup);
  read_gate(parsed, setup);
  setup.trial.rule.margin = margin_of(parsed, setup);
  read_limits(parsed, setup);
  read_devices(parsed, setup);
  setup.folder = record_folder(parsed);
  return setup;
}

}  // namespace lockstep::cli

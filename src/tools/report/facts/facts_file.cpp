#include "tools/report/facts/facts_file.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "core/config/read_toml.h"
#include "runtime/run/events/json_lines.h"
#include "tools/report/facts/result_facts.h"

namespace lockstep {
namespace {

using detail::TomlEntry;
using nlohmann::json;

constexpr double known_version = 1;
constexpr const char* version_key = "lockstep_facts";

class FactsReader {
 public:
  explicit FactsReader(const std::filesystem::path& file) : file_(file) {
    trial_.name = file.stem().string();
    trial_.path = std::filesystem::absolute(file).lexically_normal().string();
    trial_.source = "facts";
  }

  Trial read() {
    const std::vector<TomlEntry> entries = detail::read_toml(file_);
    const bool named = std::any_of(entries.begin(), entries.end(),
                                   [](const TomlEntry& entry) { return entry.key == version_key; });
    if (!named)
      throw Error(
          cat(file_.string(), " is no file of facts: it does not say ", version_key, " = 1"),
          "docs/reference/comparison.md, \"A file of facts\", shows one");
    for (const TomlEntry& entry : entries) take(entry);
    finish();
    return std::move(trial_);
  }

 private:
  [[noreturn]] void fail(const TomlEntry& entry, const std::string& what) const {
    throw Error(cat(file_.string(), ", line ", entry.line, ": ", entry.key, " ", what),
                "docs/reference/comparison.md, \"A file of facts\", lists what may stand there");
  }

  double number(const TomlEntry& entry) const {
    if (!entry.value.is_number()) fail(entry, "must be a number");
    return entry.value.get<double>();
  }

  void top(const TomlEntry& entry) {
    if (entry.key == "name") {
      if (!entry.value.is_string()) fail(entry, "must be a text");
      trial_.name = entry.value.get<std::string>();
    } else if (entry.key == version_key) {
      if (number(entry) != known_version) fail(entry, "must be 1: this Lockstep reads no other");
    } else if (!entry.value.is_object()) {
      fail(entry, "is not known");
    }
  }

  void take(const TomlEntry& entry) {
    const std::size_t dot = entry.key.find('.');
    if (dot == entry.key.npos) return top(entry);
    const std::string table = entry.key.substr(0, dot), name = entry.key.substr(dot + 1);
    if (const std::optional<FactKind> kind = fact_kind(table)) {
      if (name.starts_with("used.")) has_options_ = true;
      if (*kind == FactKind::work && name != "data" && name != "recipe") has_options_ = true;
      trial_.set(name, *kind, entry.value);
    } else if (table == "asked") {
      trial_.set("asked." + name, FactKind::note, entry.value);
    } else if (table == "counts") {
      count(entry, name);
    } else if (table == "measured") {
      measured(entry, name);
    } else if (table == "better") {
      if (entry.value != "lower" && entry.value != "higher")
        fail(entry, "must be \"lower\" or \"higher\"");
      better_[name] = entry.value == "lower" ? Better::lower : Better::higher;
    } else {
      fail(entry, cat("is in [", table, "], which is no table of such a file"));
    }
  }

  void count(const TomlEntry& entry, const std::string& name) {
    const double value = number(entry);
    if (!(value >= 0 && value < 0x1p53) || value != std::floor(value))
      fail(entry, "must be a whole number");
    if (name != "jobs" && name != "failed" && name != "skipped") fail(entry, "is not known");
    counts_[name] = static_cast<std::int64_t>(value);
  }

  void measured(const TomlEntry& entry, const std::string& name) {
    constexpr std::string_view busy = "busy_percent.";
    if (name.starts_with(busy)) {
      busy_[name.substr(busy.size())] = number(entry);
      return;
    }
    trial_.measure(quantity_of_name(name), number(entry));
  }

  // Reads the number of devices from a text such as "2 x NVIDIA A100".
  void count_devices() {
    const json devices = trial_.value("devices");
    if (!devices.is_string() || trial_.facts.contains("device_count")) return;
    const std::string text = devices.get<std::string>();
    int count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error == std::errc() && std::string_view(end).starts_with(" x "))
      trial_.set("device_count", FactKind::note, count);
  }

  void finish() {
    if (has_options_) trial_.set("options", FactKind::work, "listed");
    if (!busy_.empty()) trial_.set("busy_percent", FactKind::note, busy_);
    count_devices();
    if (counts_.contains("jobs"))
      for (const char* name : {"failed", "skipped"})
        if (counts_.contains(name)) {
          if (counts_[name] > counts_["jobs"])
            throw Error(cat(file_.string(), ": more jobs are ", name, " than there are"),
                        "[counts] jobs is the number of all");
          trial_.counts[name] = {counts_[name], counts_["jobs"]};
        }
    for (Quantity& quantity : trial_.quantities)
      if (const auto found = better_.find(quantity.name); found != better_.end())
        quantity.better = found->second;
  }

  const std::filesystem::path& file_;
  Trial trial_;
  std::map<std::string, std::int64_t> counts_;
  std::map<std::string, Better> better_;
  json busy_ = json::object();
  bool has_options_ = false;
};

}  // namespace

Trial read_facts_file(const std::filesystem::path& file) { return FactsReader(file).read(); }

}  // namespace lockstep

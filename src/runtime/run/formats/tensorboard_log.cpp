#include "runtime/run/formats/tensorboard_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/files/write_all.h"
#include "core/base/process/host_name.h"
#include "core/base/text/text.h"
#include "runtime/run/events/json_lines.h"

namespace lockstep {
namespace {

// Two names with the same tag would hide each other, so the later one gets a number.
void give_own_tags(std::vector<TensorboardScalar>& scalars) {
  std::set<std::string> taken;
  for (TensorboardScalar& scalar : scalars) {
    const std::string tag = scalar.first;
    for (int number = 2; !taken.insert(scalar.first).second; ++number)
      scalar.first = cat(tag, "_", number);
  }
}

// TensorBoard groups tags by the text before a slash.
std::string tag_part(std::string name) {
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
}

void add_measured(std::vector<TensorboardScalar>& scalars, const nlohmann::json& object,
                  const char* key, const std::string& tag) {
  if (const double value = number_or(object, key, NAN); !std::isnan(value))
    scalars.emplace_back(tag, value);
}

void add_scalars_of_step(std::vector<TensorboardScalar>& scalars, const nlohmann::json& event,
                         const std::string& unit) {
  if (event.contains("loss")) scalars.emplace_back("train/loss", number_or(event, "loss", NAN));
  for (const char* key : {"lr", "grad_norm", "loss_scale", "epoch"})
    add_measured(scalars, event, key, cat("train/", key));
  if (const auto terms = event.find("terms"); terms != event.end() && terms->is_array())
    for (std::size_t i = 0; i < terms->size(); ++i)
      scalars.emplace_back(cat("train/term_", i + 1),
                           (*terms)[i].is_number() ? (*terms)[i].get<double>() : NAN);
  if (const auto logged = event.find("logged"); logged != event.end() && logged->is_object())
    for (const auto& [name, value] : logged->items())
      add_measured(scalars, *logged, name.c_str(), cat("train/", tag_part(name)));
  add_measured(scalars, event, "units_per_s", cat("throughput/", tag_part(unit), "_per_s"));
  for (const char* key : {"step_s", "mfu"})
    add_measured(scalars, event, key, cat("throughput/", key));
  for (const char* key : {"compute_share", "data_share", "wait_share", "save_share"})
    add_measured(scalars, event, key, cat("time/", key));
  if (const auto memory = event.find("memory"); memory != event.end() && memory->is_array())
    for (std::size_t rank = 0; rank < memory->size(); ++rank)
      add_measured(scalars, (*memory)[rank], "peak", cat("memory/rank", rank, "_peak_bytes"));
}

void add_scalars_of_evaluation(std::vector<TensorboardScalar>& scalars,
                               const nlohmann::json& event) {
  if (const auto metrics = event.find("metrics"); metrics != event.end() && metrics->is_object())
    for (const auto& [name, value] : metrics->items())
      if (value.is_number() || value.is_null())
        scalars.emplace_back(cat("eval/", tag_part(name)),
                             value.is_number() ? value.get<double>() : NAN);
  add_measured(scalars, event, "seconds", "time/evaluation_s");
}

}  // namespace

std::vector<TensorboardScalar> scalars_of_event(const nlohmann::json& event,
                                                const std::string& unit) {
  std::vector<TensorboardScalar> scalars;
  const std::string kind = text_or(event, "kind", "");
  if (kind == "step") add_scalars_of_step(scalars, event, unit);
  if (kind == "eval") add_scalars_of_evaluation(scalars, event);
  give_own_tags(scalars);
  return scalars;
}

std::string tensorboard_file_name(double time, const std::string& host, int process, int number) {
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%010lld",
                static_cast<long long>(std::clamp(time, 0.0, 1e15)));
  return cat("events.out.tfevents.", seconds, ".", tag_part(host), ".", process, ".", number);
}

std::string TensorboardLog::begin(double time, std::int64_t step) try {
  constexpr int most_names = 1000;
  if (!run_.make_folder(tensorboard_folder)) run_.fail("create folder", tensorboard_folder, errno);
  for (int number = 0; !file_; ++number) {
    const auto path = std::filesystem::path(tensorboard_folder) /
                      tensorboard_file_name(time, host_name(), getpid(), number);
    file_ = run_.open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND);
    if (!file_ && (errno != EEXIST || number == most_names)) run_.fail("write", path, errno);
  }
  return append(tensorboard_version(time) + tensorboard_restart(time, step + 1));
} catch (const Error& error) {
  return error.what();
}

// Stops writing after an error, because a record that a full disk cut off hides all later records.
std::string TensorboardLog::append(const std::string& records) {
  if (write_all(file_.get(), records)) return "";
  const std::string fault = cat("cannot write into ", (run_.path() / tensorboard_folder).string(),
                                ": ", errno_text(errno));
  file_.reset();
  return fault;
}

std::string TensorboardLog::write(const nlohmann::json& event) {
  if (broken_) return "";
  const double time = number_or(event, "time", 0);
  const std::int64_t step = integer_or(event, "step", 0);
  std::string fault;
  if (text_or(event, "kind", "") == "start") {
    unit_ = text_or(event, "unit", "samples");
    fault = begin(time, step);
  } else if (file_) {
    const std::vector<TensorboardScalar> scalars = scalars_of_event(event, unit_);
    if (!scalars.empty()) fault = append(tensorboard_scalars(time, step, scalars));
  }
  broken_ = !fault.empty();
  return broken_ ? cat(fault, "; nothing more is written for TensorBoard") : "";
}

}  // namespace lockstep

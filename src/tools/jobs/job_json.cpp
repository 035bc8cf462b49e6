#include "tools/jobs/job_json.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include <type_traits>
#include <utility>

#include "core/base/error.h"
#include "core/base/json/json_text.h"
#include "core/base/text/text.h"

namespace lockstep {
namespace {

const Job ordinary;

// Writes members in the order of the calls.
class JobWriter {
 public:
  JobWriter() { text_.reserve(usual_bytes); }

  template <typename T>
  void always(const char* key, const T& value) {
    text_ += text_.empty() ? "{\"" : ",\"";
    text_ += key;
    text_ += "\":";
    add(value);
  }
  template <typename T>
  void put(const char* key, const T& value, const T& otherwise) {
    if (value != otherwise) always(key, value);
  }
  std::string finish() { return std::move(text_) + "}"; }

 private:
  static constexpr std::size_t usual_bytes = 512;

  void add(const std::string& text) {
    if (append_json_text(text_, text)) return;
    throw Error(cat("a job's command, folder or environment is not valid UTF-8: ", printable(text)),
                "rename the file, or give it through a link");
  }
  void add(bool value) { text_ += value ? "true" : "false"; }
  void add(double number) { append_json_number(text_, number); }
  void add(std::int64_t number) { text_ += std::to_string(number); }
  void add(int number) { add(std::int64_t{number}); }
  void add(const std::pair<std::string, std::string>& texts) {
    text_ += '[';
    add(texts.first);
    text_ += ',';
    add(texts.second);
    text_ += ']';
  }
  template <typename T>
  void add(const std::vector<T>& values) {
    text_ += '[';
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i > 0) text_ += ',';
      add(values[i]);
    }
    text_ += ']';
  }

  std::string text_;
};

template <typename T>
void get(const nlohmann::json& from, const char* key, T& value) {
  if (const auto found = from.find(key); found != from.end()) found->get_to(value);
}

[[noreturn]] void damaged(const std::string& why) {
  throw Error(cat("the ledger holds no job where one should be: ", why),
              "it was made by another version of Lockstep, or is damaged");
}

// Reads a number with checks, because the ledger may come from a stranger.
template <typename T>
T number_of(const nlohmann::json& value, const char* key, T least, T most) {
  const bool fits = std::is_floating_point_v<T> ? value.is_number() : value.is_number_integer();
  // The value is compared as a double. That is exact enough, and no number is too large.
  const double given = fits ? value.get<double>() : NAN;
  if (!(given >= static_cast<double>(least) && given <= static_cast<double>(most)))
    damaged(cat(key, " is ", value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)));
  return value.get<T>();
}

template <typename T>
void get(const nlohmann::json& from, const char* key, T& value, T least, T most) {
  if (const auto found = from.find(key); found != from.end())
    value = number_of(*found, key, least, most);
}

template <typename Kind>
Kind kind_in(const nlohmann::json& from, const char* key, Kind last) {
  int value = 0;
  get(from, key, value, 0, static_cast<int>(last));
  return static_cast<Kind>(value);
}

}  // namespace

std::string job_json(const Job& job) {
  JobWriter json;
  json.put("after", job.after, ordinary.after);
  json.always("command", job.command);
  json.put("cpus", job.cpus, ordinary.cpus);
  json.put("environment", job.environment, ordinary.environment);
  json.always("folder", job.folder);
  json.put("gpu_devices", job.gpus.devices, 0);
  json.put("gpu_memory", static_cast<int>(job.gpu_memory.kind), 0);
  json.put("gpu_memory_bytes", job.gpu_memory.bytes, std::int64_t{0});
  json.put("gpu_share", job.gpus.share, 0.0);
  json.put("gpus", static_cast<int>(job.gpus.kind), static_cast<int>(ordinary.gpus.kind));
  json.put("keeps_worker", job.keeps_worker, ordinary.keeps_worker);
  json.put("outputs", job.outputs, ordinary.outputs);
  json.put("parameters", job.parameters, ordinary.parameters);
  json.put("priority", job.priority, ordinary.priority);
  json.put("retries", job.retries, ordinary.retries);
  json.put("retry_delay_s", job.retry_delay_s, ordinary.retry_delay_s);
  json.put("shell", job.shell, ordinary.shell);
  json.put("skip_codes", job.skip_codes, ordinary.skip_codes);
  if (job.timeout_s) json.always("timeout_s", *job.timeout_s);
  return json.finish();
}

Job job_from_json(const nlohmann::json& value) {
  Job job;
  try {
    value.at("command").get_to(job.command);
    value.at("folder").get_to(job.folder);
    get(value, "parameters", job.parameters);
    get(value, "shell", job.shell);
    get(value, "environment", job.environment);
    get(value, "outputs", job.outputs);
    get(value, "cpus", job.cpus, 0.0, most_cpus);
    job.gpus.kind = kind_in(value, "gpus", GpuRequest::Kind::automatic);
    get(value, "gpu_devices", job.gpus.devices, 0, most_gpus_of_a_job);
    get(value, "gpu_share", job.gpus.share, 0.0, 1.0);
    job.gpu_memory.kind = kind_in(value, "gpu_memory", GpuMemoryRequest::Kind::all);
    get(value, "gpu_memory_bytes", job.gpu_memory.bytes, std::int64_t{0}, std::int64_t{1} << 62);
    get(value, "priority", job.priority, -most_priority, most_priority);
    get(value, "after", job.after);
    get(value, "retries", job.retries, 0, std::numeric_limits<int>::max());
    job.retries = std::min(job.retries, most_retries);  // earlier versions had no limit
    constexpr double most_s = std::numeric_limits<double>::max();
    get(value, "retry_delay_s", job.retry_delay_s, 0.0, most_s);
    if (value.contains("timeout_s"))
      job.timeout_s = number_of(value.at("timeout_s"), "timeout_s", 0.0, most_s);
    if (value.contains("skip_codes"))
      for (const auto& code : value.at("skip_codes").get_ref<const nlohmann::json::array_t&>())
        job.skip_codes.push_back(number_of(code, "skip_codes", 1, 255));
    get(value, "keeps_worker", job.keeps_worker);
  } catch (const nlohmann::json::exception& problem) {
    damaged(problem.what());
  }
  return job;
}

}  // namespace lockstep

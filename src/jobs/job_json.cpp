#include "jobs/job_json.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"

namespace lockstep {
namespace {

const Job ordinary;

template <typename T>
void put(nlohmann::json& to, const char* key, const T& value, const T& otherwise) {
  if (value != otherwise) to[key] = value;
}

template <typename T>
void get(const nlohmann::json& from, const char* key, T& value) {
  if (const auto found = from.find(key); found != from.end()) found->get_to(value);
}

void get(const nlohmann::json& from, const char* key, std::optional<double>& value) {
  if (const auto found = from.find(key); found != from.end()) value = found->get<double>();
}

}  // namespace

nlohmann::json job_json(const Job& job) {
  nlohmann::json result{{"command", job.command}, {"folder", job.folder}};
  put(result, "parameters", job.parameters, ordinary.parameters);
  put(result, "shell", job.shell, ordinary.shell);
  put(result, "environment", job.environment, ordinary.environment);
  put(result, "outputs", job.outputs, ordinary.outputs);
  put(result, "cpus", job.cpus, ordinary.cpus);
  put(result, "gpus", static_cast<int>(job.gpus.kind), static_cast<int>(ordinary.gpus.kind));
  put(result, "gpu_devices", job.gpus.devices, 0);
  put(result, "gpu_share", job.gpus.share, 0.0);
  put(result, "gpu_memory", static_cast<int>(job.gpu_memory.kind), 0);
  put(result, "gpu_memory_bytes", job.gpu_memory.bytes, std::int64_t{0});
  put(result, "priority", job.priority, ordinary.priority);
  put(result, "after", job.after, ordinary.after);
  put(result, "retries", job.retries, ordinary.retries);
  put(result, "retry_delay_s", job.retry_delay_s, ordinary.retry_delay_s);
  if (job.timeout_s) result["timeout_s"] = *job.timeout_s;
  put(result, "skip_codes", job.skip_codes, ordinary.skip_codes);
  return result;
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
    get(value, "cpus", job.cpus);
    job.gpus.kind = static_cast<GpuRequest::Kind>(value.value("gpus", 0));
    get(value, "gpu_devices", job.gpus.devices);
    get(value, "gpu_share", job.gpus.share);
    job.gpu_memory.kind = static_cast<GpuMemoryRequest::Kind>(value.value("gpu_memory", 0));
    get(value, "gpu_memory_bytes", job.gpu_memory.bytes);
    get(value, "priority", job.priority);
    get(value, "after", job.after);
    get(value, "retries", job.retries);
    get(value, "retry_delay_s", job.retry_delay_s);
    get(value, "timeout_s", job.timeout_s);
    get(value, "skip_codes", job.skip_codes);
  } catch (const nlohmann::json::exception& problem) {
    throw Error(cat("the ledger holds no job where one should be: ", problem.what()),
                "it was made by another version of Lockstep, or is damaged");
  }
  return job;
}

}  // namespace lockstep

#include "tools/jobs/process/job_environment.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "core/base/text/text.h"
#include "tools/jobs/process/process_tree.h"

namespace lockstep {
namespace {

// For OpenMP (also used by LightGBM, XGBoost and torch), MKL, OpenBLAS, numexpr, polars and Rayon.
constexpr const char* thread_variables[] = {"OMP_NUM_THREADS",      "MKL_NUM_THREADS",
                                            "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS",
                                            "POLARS_MAX_THREADS",   "RAYON_NUM_THREADS"};

constexpr std::string_view parameter_prefix = "LOCKSTEP_PARAM_";

}  // namespace

std::vector<std::string> job_environment(const Job& job, const AttemptPlace& place) {
  std::map<std::string, std::string> variables;
  for (const char* name : thread_variables) variables[name] = cat(place.threads);
  for (const auto& [name, value] : job.parameters) variables[cat(parameter_prefix, name)] = value;
  for (const auto& [name, value] : job.environment) variables[name] = value;
  variables["CUDA_VISIBLE_DEVICES"] = join(place.devices, ",");
  if (!place.devices.empty()) variables["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID";
  variables["LOCKSTEP_DEVICE"] = place.devices.empty() ? "cpu" : "gpu";
  variables["LOCKSTEP_OUT"] = place.out;
  variables["LOCKSTEP_EVENTS"] = cat(place.out, "/", events_file);
  variables["LOCKSTEP_JOB"] = job.name;
  variables["LOCKSTEP_SLOT"] = cat(place.slot);
  variables["LOCKSTEP_TRY"] = cat(place.number);
  variables[attempt_variable] = place.mark;
  std::vector<std::string> result;
  for (const auto& [name, value] : variables) result.push_back(cat(name, "=", value));
  return result;
}

std::string_view variable_name(std::string_view variable) {
  return variable.substr(0, variable.find('='));
}

bool is_of_attempt(std::string_view name) {
  constexpr std::string_view names[] = {"LOCKSTEP_OUT",  "LOCKSTEP_EVENTS", "LOCKSTEP_JOB",
                                        "LOCKSTEP_SLOT", "LOCKSTEP_TRY",    attempt_variable};
  return name.starts_with(parameter_prefix) ||
         std::find(std::begin(names), std::end(names), name) != std::end(names);
}

}  // namespace lockstep

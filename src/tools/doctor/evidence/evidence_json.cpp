// Writes evidence as lines of a recording, and reads it back.
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/json/json_number.h"
#include "core/base/text/text.h"
#include "runtime/run/events/json_lines.h"
#include "tools/doctor/evidence/evidence.h"
#include "tools/monitor/recording.h"

namespace lockstep {
namespace {

using nlohmann::json;

template <class Value>
json or_null(const std::optional<Value>& value) {
  return value ? json(*value) : json();
}

std::optional<double> number_of(const json& object, const char* key) {
  const double value = number_or(object, key, -1);
  return value < 0 ? std::nullopt : std::optional(value);
}

json process_json(const ProcessEvidence& process) {
  json threads = json::array();
  for (const ThreadEvidence& thread : process.busiest)
    threads.push_back({thread.tid, thread.name, thread.cpu_s});
  return {{"pid", process.pid},
          {"parent", process.parent},
          {"group", process.group},
          {"session", process.session},
          {"user", process.user},
          {"command", process.command},
          {"state", std::string(1, process.state)},
          {"age_s", process.age_s},
          {"cpu_s", process.cpu_s},
          {"io_s", or_null(process.io_s)},
          {"read_bytes", or_null(process.read_bytes)},
          {"threads", process.threads},
          {"busiest", std::move(threads)},
          {"environment", process.environment},
          {"gpu_files", process.gpu_files},
          {"control_file", process.control_file},
          {"uvm_file", process.uvm_file},
          {"elsewhere", process.elsewhere},
          {"libraries", process.libraries},
          {"unreadable", process.unreadable}};
}

std::vector<std::string> texts_of(const json& object, const char* key) {
  std::vector<std::string> texts;
  if (object.contains(key) && object[key].is_array())
    for (const json& one : object[key])
      if (one.is_string()) texts.push_back(one);
  return texts;
}

std::set<int> numbers_of(const json& object, const char* key) {
  std::set<int> numbers;
  if (object.contains(key) && object[key].is_array())
    for (const json& one : object[key])
      if (const auto number = whole_number_of<int>(one)) numbers.insert(*number);
  return numbers;
}

int int_of(const json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? 0 : whole_number_of<int>(*found).value_or(0);
}

std::map<std::string, std::string> environment_in(const json& object) {
  std::map<std::string, std::string> environment;
  const json members = object.value("environment", json::object());
  if (members.is_object())
    for (const auto& [name, value] : members.items())
      if (value.is_string()) environment[name] = value;
  return environment;
}

ProcessEvidence process_in(const json& object) {
  ProcessEvidence process{.pid = int_of(object, "pid"),
                          .parent = int_of(object, "parent"),
                          .group = int_of(object, "group"),
                          .session = int_of(object, "session"),
                          .user = text_or(object, "user", "?"),
                          .command = text_or(object, "command", "?"),
                          .state = (text_or(object, "state", "") + "?").front(),
                          .age_s = number_or(object, "age_s", 0),
                          .cpu_s = number_or(object, "cpu_s", 0),
                          .io_s = number_of(object, "io_s"),
                          .read_bytes = number_of(object, "read_bytes"),
                          .threads = int_of(object, "threads"),
                          .control_file = is_true(object, "control_file"),
                          .uvm_file = is_true(object, "uvm_file"),
                          .elsewhere = is_true(object, "elsewhere"),
                          .unreadable = texts_of(object, "unreadable")};
  if (object.contains("busiest") && object["busiest"].is_array())
    for (const json& row : object["busiest"])
      if (row.is_array() && row.size() == 3 && row[1].is_string() && row[2].is_number())
        if (const auto tid = whole_number_of<int>(row[0]))
          process.busiest.push_back({*tid, row[1], row[2]});
  process.environment = environment_in(object);
  process.gpu_files = numbers_of(object, "gpu_files");
  for (const std::string& library : texts_of(object, "libraries"))
    process.libraries.insert(library);
  return process;
}

}  // namespace

json place_json(const Evidence& evidence) {
  json places = json::array();
  for (const GpuPlace& place : evidence.places) {
    json faults = json::array();
    for (const GpuFault& fault : place.faults)
      faults.push_back({{"xid", fault.xid}, {"times", fault.times}, {"at", fault.at_s}});
    places.push_back({{"device_file", place.device_file},
                      {"denied", place.denied},
                      {"compute_mode", place.compute_mode},
                      {"mig", or_null(place.mig)},
                      {"mig_instances", place.mig_instances},
                      {"pcie_generation", place.pcie_generation},
                      {"pcie_lanes", place.pcie_lanes},
                      {"default_power_limit_w", or_null(place.default_power_limit_w)},
                      {"ecc_uncorrected", or_null(place.ecc_uncorrected)},
                      {"remap_pending", place.remap_pending},
                      {"remap_failed", place.remap_failed},
                      {"faults", std::move(faults)}});
  }
  return {{"doctor",
           {{"places", std::move(places)},
            {"driver", evidence.driver},
            {"no_gpus", evidence.no_gpus},
            {"gpus_of_host", evidence.gpus_of_host},
            {"numbers_of_host", evidence.numbers_of_host},
            {"cores", evidence.cores},
            {"environment", evidence.environment},
            {"cuda_fastest", or_null(evidence.cuda_fastest)},
            {"subject", or_null(evidence.subject)}}}};
}

json snapshot_json(const ProcessSnapshot& snapshot) {
  json list = json::array();
  for (const auto& [pid, process] : snapshot.processes) list.push_back(process_json(process));
  json parents = json::array();
  for (const auto& [pid, parent] : snapshot.parents) parents.push_back({pid, parent});
  return {{"kind", "processes"},   {"at", snapshot.at_s},     {"files_seen", snapshot.files_seen},
          {"gone", snapshot.gone}, {"list", std::move(list)}, {"parents", std::move(parents)}};
}

Evidence read_evidence(const std::filesystem::path& path) {
  Recording recording(path);
  const json place = recording.head().value("doctor", json());
  if (!place.is_object())
    throw Error(
        cat(path.string(), " holds samples, but nothing of the processes"),
        "make one with lockstep doctor --record FILE; lockstep monitor --replay shows this");
  Evidence evidence{.gpus = recording.gpus(),
                    .driver = text_or(place, "driver", ""),
                    .no_gpus = text_or(place, "no_gpus", ""),
                    .gpus_of_host = int_of(place, "gpus_of_host"),
                    .numbers_of_host = is_true(place, "numbers_of_host"),
                    .cores = std::max(1, int_of(place, "cores"))};
  const json places = place.value("places", json::array());
  if (!places.is_array() || places.size() != evidence.gpus.size())
    throw Error(cat(path.string(), ", line 1: it has other GPUs than places"));
  for (const json& one : places) {
    GpuPlace gpu{.device_file = text_or(one, "device_file", ""),
                 .denied = text_or(one, "denied", ""),
                 .compute_mode = text_or(one, "compute_mode", ""),
                 .mig_instances = int_of(one, "mig_instances"),
                 .pcie_generation = int_of(one, "pcie_generation"),
                 .pcie_lanes = int_of(one, "pcie_lanes"),
                 .remap_pending = is_true(one, "remap_pending"),
                 .remap_failed = is_true(one, "remap_failed")};
    if (one.contains("mig") && one["mig"].is_boolean()) gpu.mig = one["mig"].get<bool>();
    if (const double limit_w = number_or(one, "default_power_limit_w", 0); limit_w > 0)
      gpu.default_power_limit_w = limit_w;
    if (one.contains("ecc_uncorrected"))
      gpu.ecc_uncorrected = whole_number_of<std::uint64_t>(one["ecc_uncorrected"]);
    if (one.contains("faults") && one["faults"].is_array())
      for (const json& fault : one["faults"])
        gpu.faults.push_back(
            {int_of(fault, "xid"), int_of(fault, "times"), number_or(fault, "at", 0)});
    evidence.places.push_back(std::move(gpu));
  }
  if (place.contains("cuda_fastest") && place["cuda_fastest"].is_array())
    evidence.cuda_fastest = texts_of(place, "cuda_fastest");
  if (const int subject = int_of(place, "subject"); subject > 0) evidence.subject = subject;
  evidence.environment = environment_in(place);
  recording.on_other = [&](const json& line) {
    if (text_or(line, "kind", "") != "processes") return;
    ProcessSnapshot snapshot{.at_s = number_or(line, "at", 0),
                             .files_seen = is_true(line, "files_seen"),
                             .gone = numbers_of(line, "gone")};
    const json list = line.value("list", json::array());
    for (const json& one : list)
      if (one.is_object() && whole_number_of<int>(one.value("pid", json())))
        snapshot.processes[int_of(one, "pid")] = process_in(one);
    const json parents = line.value("parents", json::array());
    for (const json& row : parents)
      if (row.is_array() && row.size() == 2) {
        const auto pid = whole_number_of<int>(row[0]), parent = whole_number_of<int>(row[1]);
        if (pid && parent) snapshot.parents[*pid] = *parent;
      }
    evidence.snapshots.push_back(std::move(snapshot));
  };
  while (std::optional<MonitorSample> sample = recording.next())
    evidence.samples.push_back(std::move(*sample));
  return evidence;
}

}  // namespace lockstep

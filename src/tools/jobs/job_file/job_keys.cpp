#include "tools/jobs/job_file/job_keys.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/text/path_pattern.h"
#include "core/base/text/text.h"
#include "core/config/options.h"
#include "core/config/value.h"
#include "tools/jobs/job_file/job_requests.h"
#include "tools/jobs/matrix/matrix_values.h"

namespace lockstep {
namespace {

using detail::TomlNode;
using Kind = TomlNode::Kind;

// A number, time or boolean with the same checks as an option.
nlohmann::json checked(const JobKey& key, const TomlNode& node, OptionType type,
                       OptionSpec spec = {}) {
  spec.meaning = key.meaning;
  const OptionInfo option{
      .key = key.key, .type = type, .spec = std::move(spec), .default_text = {}};
  const bool is_scalar =
      node.kind != Kind::table && node.kind != Kind::list && node.kind != Kind::time;
  return detail::check_value(option, is_scalar ? node.value : nlohmann::json::array());
}

// One text, or a list of texts.
std::vector<std::string> texts(const std::string& key, const TomlNode& node) {
  if (node.kind != Kind::list) return {scalar_text(node, key)};
  std::vector<std::string> all;
  for (const TomlNode& item : node.items) all.push_back(scalar_text(item, key));
  return all;
}

void read_command(const JobKey& key, const TomlNode& node, JobKeyTarget& target) {
  target.group.job.command = texts(key.key, node);
  target.command_is_text = node.kind != Kind::list;
  if (target.group.job.command.empty() || target.group.job.command[0].empty())
    throw Error("command is empty", "write command = [\"python3\", \"train.py\", \"{lr}\"]");
}

void read_shell(const JobKey& key, const TomlNode& node, JobKeyTarget& target) {
  target.group.job.shell = checked(key, node, OptionType::boolean).get<bool>();
}

void read_name(const JobKey& key, const TomlNode& node, JobKeyTarget& target) {
  target.group.job.name = scalar_text(node, key.key);
  if (target.group.job.name.empty()) throw Error("name is empty");
}

void read_matrix(const JobKey&, const TomlNode& node, JobKeyTarget& target) {
  Matrix& matrix = target.group.matrix;
  if (node.kind != Kind::table)
    throw Error("matrix must be a table of parameters",
                "write [matrix] and lr = [0.1, 0.01] below");
  matrix.place = {target.group.place.file, node.line};
  for (const auto& [name, values] : node.members)
    matrix.axes.push_back(read_axis(name, values, target.folder, matrix.place.file));
}

// The tables of `include` or `exclude`.
const std::vector<TomlNode>& tables(const JobKey& key, const TomlNode& node) {
  const bool all = node.kind == Kind::list &&
                   std::all_of(node.items.begin(), node.items.end(), [](const TomlNode& item) {
                     return item.kind == Kind::table && !item.members.empty();
                   });
  if (!all)
    throw Error(cat(key.key, " must be a list of tables that name parameters"),
                cat("write ", key.key, " = [{symbol = \"A\", lr = 0.1}]"));
  return node.items;
}

void read_include(const JobKey& key, const TomlNode& node, JobKeyTarget& target) {
  Matrix& matrix = target.group.matrix;
  for (const TomlNode& item : tables(key, node)) {
    Matrix::Inclusion& inclusion = matrix.include.emplace_back();
    inclusion.place = {target.group.place.file, item.line};
    for (const auto& [name, value] : item.members) {
      check_parameter_name(name);
      inclusion.values.emplace_back(name, scalar_text(value, name));
    }
  }
}

void read_exclude(const JobKey& key, const TomlNode& node, JobKeyTarget& target) {
  for (const TomlNode& item : tables(key, node)) {
    Matrix::Exclusion& exclusion = target.group.matrix.exclude.emplace_back();
    exclusion.place = {target.group.place.file, item.line};
    for (const auto& [name, values] : item.members)
      exclusion.values.emplace_back(name, texts(name, values));
  }
}

void read_cpus(const JobKey& key, const TomlNode& node, JobKeyTarget& target) {
  target.group.job.cpus =
      checked(key, node, OptionType::real, {.unit = "cores", .min = 0, .max = most_cpus});
}

void read_gpus(const JobKey& key, const TomlNode& node, JobKeyTarget& target) {
  target.group.job.gpus = parse_gpus(scalar_text(node, key.key));
}

void read_gpu_memory(const JobKey& key, const TomlNode& node, JobKeyTarget& target) {
  target.group.job.gpu_memory = parse_gpu_memory(scalar_text(node, key.key));
}

void read_priority(const JobKey& key, const TomlNode& node, JobKeyTarget& target) {
  target.group.job.priority =
      checked(key, node, OptionType::integer, {.min = -most_priority, .max = most_priority});
}

void read_after(const JobKey& key, const TomlNode& node, JobKeyTarget& target) {
  target.group.job.after = texts(key.key, node);
}

void read_retries(const JobKey& key, const TomlNode& node, JobKeyTarget& target) {
  target.group.job.retries =
      checked(key, node, OptionType::integer, {.min = 0, .max = most_retries});
}

void read_retry_delay(const JobKey& key, const TomlNode& node, JobKeyTarget& target) {
  target.group.job.retry_delay_s = checked(key, node, OptionType::duration);
}

void read_timeout(const JobKey& key, const TomlNode& node, JobKeyTarget& target) {
  target.group.job.timeout_s =
      checked(key, node, OptionType::duration, {.min = 0.001}).get<double>();
}

void read_skip_codes(const JobKey& key, const TomlNode& node, JobKeyTarget& target) {
  std::vector<int>& codes = target.group.job.skip_codes;
  codes.clear();
  const auto add = [&](const TomlNode& code) {
    codes.push_back(checked(key, code, OptionType::integer, {.min = 1, .max = 255}).get<int>());
  };
  if (node.kind != Kind::list) return add(node);
  for (const TomlNode& code : node.items) add(code);
}

void read_workers(const JobKey& key, const TomlNode& node, JobKeyTarget& target) {
  target.group.job.keeps_worker = parse_workers(scalar_text(node, key.key));
}

void read_max_failure_rate(const JobKey& key, const TomlNode& node, JobKeyTarget& target) {
  target.limits.max_failure_rate =
      checked(key, node, OptionType::real, {.min = 0, .max = 1}).get<double>();
}

void read_min_finished(const JobKey& key, const TomlNode& node, JobKeyTarget& target) {
  target.limits.min_finished = checked(key, node, OptionType::integer, {.unit = "jobs", .min = 1});
}

void read_left_out(const JobKey& key, const TomlNode& node, JobKeyTarget& target) {
  target.limits.left_out = texts(key.key, node);
}

void check_variable(const std::string& name) {
  if (name.empty() || name.find('=') != name.npos || name.find('\0') != name.npos)
    throw Error(cat("\"", name, "\" cannot be the name of an environment variable"));
}

void read_env(const JobKey&, const TomlNode& node, JobKeyTarget& target) {
  if (node.kind != Kind::table)
    throw Error("env must be a table of variables", "write env = {OMP_NUM_THREADS = \"1\"}");
  auto& environment = target.group.job.environment;
  for (const auto& [name, value] : node.members) {
    check_variable(name);
    std::erase_if(environment, [&name = name](const auto& old) { return old.first == name; });
    environment.emplace_back(name, scalar_text(value, name));
  }
}

void read_cwd(const JobKey& key, const TomlNode& node, JobKeyTarget& target) {
  target.group.job.folder = scalar_text(node, key.key);
}

void read_outputs(const JobKey& key, const TomlNode& node, JobKeyTarget& target) {
  target.group.job.outputs = texts(key.key, node);
  for (const std::string& output : target.group.job.outputs) {
    if (output.find("**") != output.npos)
      throw Error(cat(key.key, " cannot hold **: ", output),
                  "* stands for any characters of one name, not for folders");
    check_path_pattern(output);
  }
}

}  // namespace

const std::vector<JobKey>& job_keys() {
  static const std::vector<JobKey> keys{
      {"command", "the program and its arguments, as a list; with shell, one text", false,
       read_command},
      {"shell", "run the command as a line of the shell", false, read_shell},
      {"name", "name of the group, or with placeholders of each job", false, read_name},
      {"matrix", "parameters and their values: a job for each combination", false, read_matrix},
      {"include", "combinations, or parameters of some, that are added", false, read_include},
      {"exclude", "combinations that are left out", false, read_exclude},
      {"cpus", "cores of one job", false, read_cpus},
      {"gpus", "devices of one job: 0, 1, 2 …, a part from 0.25 on, or auto", false, read_gpus},
      {"gpu_memory", "memory that a job needs on its device, such as 2GiB, or measure", false,
       read_gpu_memory},
      {"priority", "higher begins first", false, read_priority},
      {"after", "names of jobs or groups that must have succeeded before", false, read_after},
      {"retries", "attempts beyond the first", false, read_retries},
      {"retry_delay", "time before the next attempt", false, read_retry_delay},
      {"timeout", "time that an attempt may take", false, read_timeout},
      {"skip_codes", "exit codes that mean skipped", false, read_skip_codes},
      {"env", "variables of the environment", false, read_env},
      {"cwd", "working folder", false, read_cwd},
      {"outputs", "files or patterns that must be there for success, relative to {out}", false,
       read_outputs},
      {"workers", "new: a process for each job; kept: one may stay for the next", false,
       read_workers},
      {"max_failure_rate", "share of failed jobs above which the batch ends", true,
       read_max_failure_rate},
      {"min_finished", "finished jobs before max_failure_rate counts", true, read_min_finished},
      {"left_out", "what has no job, and why: lines that the end of the batch repeats", true,
       read_left_out}};
  return keys;
}

void read_job_key(const std::string& key, const TomlNode& node, JobKeyTarget& target) {
  const std::vector<JobKey>& keys = job_keys();
  const auto known =
      std::find_if(keys.begin(), keys.end(), [&](const JobKey& other) { return other.key == key; });
  at_place({target.group.place.file, node.line}, [&] {
    if (known != keys.end()) return known->read(*known, node, target);
    std::vector<std::string> names{"jobs"};
    for (const JobKey& other : keys) names.push_back(other.key);
    const std::string near = nearest(key, names);
    throw Error(cat("there is no key ", key), near.empty() ? cat("keys are ", join(names, ", "))
                                                           : cat("did you mean ", near, "?"));
  });
}

}  // namespace lockstep

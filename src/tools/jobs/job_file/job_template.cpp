#include "tools/jobs/job_file/job_template.h"

#include <algorithm>
#include <filesystem>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "tools/jobs/job_file/fill_attempt.h"
#include "tools/jobs/job_names.h"

namespace lockstep {
namespace {

// The variable of a parameter, such as LOCKSTEP_PARAM_learning_rate for "learning-rate".
std::string variable_of(const std::string& parameter) {
  std::string name = "LOCKSTEP_PARAM_" + parameter;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '-' || c == '.'; }, '_');
  return name;
}

std::string escaped(std::string_view text) {
  std::string result;
  append_escaped(result, text);
  return result;
}

}  // namespace

JobTemplate::JobTemplate(const JobGroup& group) : group_(group), base_(escaped(group.base)) {
  const Job& job = group.job;
  PlaceholderScope scope{.names = group.matrix.names()};
  for (const std::string& name : scope.names) variables_.emplace_back(name, variable_of(name));
  std::vector<std::string> values;
  for (const auto& [name, value] : job.environment) values.push_back(value);
  environment_ = parse(values, scope);
  outputs_ = parse(job.outputs, scope);
  folder_ = parse({job.folder}, scope);
  scope.shell = job.shell;
  command_ = parse(job.command, scope);
  scope.shell = scope.attempt = false;
  if (!job.name.empty()) name_ = parse({job.name}, scope);
  after_ = parse(job.after, scope);
  for (const Texts* texts : {&command_, &environment_, &outputs_, &folder_}) check_gpu(*texts);
}

JobTemplate::Texts JobTemplate::parse(const std::vector<std::string>& texts,
                                      const PlaceholderScope& scope) const {
  Texts templates;
  templates.reserve(texts.size());
  for (const std::string& text : texts) templates.emplace_back(text, scope);
  return templates;
}

void JobTemplate::check_gpu(const Texts& texts) const {
  if (group_.job.gpus.kind != GpuRequest::Kind::none) return;
  for (const TextTemplate& text : texts)
    if (text.uses("gpu"))
      throw Error("the placeholder {gpu} has no value: the job has no GPU",
                  "set gpus = 1, or a part of one such as 0.25");
}

std::vector<std::string> JobTemplate::command(const Job& job) const {
  std::vector<std::string> words;
  words.reserve(command_.size());
  for (const TextTemplate& word : command_) {
    if (!word.is_all() || job.shell) {
      words.push_back(word.fill(job.parameters, job.number));
      continue;
    }
    for (const auto& [name, value] : job.parameters) words.push_back(escaped(value));
  }
  return words;
}

std::string JobTemplate::folder(const Job& job) const {
  const std::string folder = folder_[0].fill(job.parameters, job.number);
  if (folder.starts_with('/') || folder.starts_with("{out}")) return folder;
  if (folder.empty() || folder == ".") return base_;
  return (std::filesystem::path(base_) / folder).lexically_normal().string();
}

std::string JobTemplate::written_name(const Job& job) const {
  return name_[0].fill(job.parameters, job.number);
}

std::string JobTemplate::name(const Job& job) const {
  if (names_jobs()) return plain_job_name(written_name(job));
  return name_of_parameters(name_.empty() ? "" : name_[0].fill({}, 0), job);
}

Job JobTemplate::make(JobParameters parameters, std::int64_t number) const {
  const Job& shared = group_.job;
  Job job{.number = number,
          .shell = shared.shell,
          .cpus = shared.cpus,
          .gpus = shared.gpus,
          .gpu_memory = shared.gpu_memory,
          .priority = shared.priority,
          .retries = shared.retries,
          .retry_delay_s = shared.retry_delay_s,
          .timeout_s = shared.timeout_s,
          .skip_codes = shared.skip_codes,
          .keeps_worker = shared.keeps_worker};
  job.parameters = std::move(parameters);
  job.command = command(job);
  job.environment.reserve(job.parameters.size() + environment_.size());
  for (const auto& [name, value] : job.parameters) {
    const auto known =
        std::find_if(variables_.begin(), variables_.end(),
                     [&name = name](const auto& variable) { return variable.first == name; });
    job.environment.emplace_back(known->second, escaped(value));
  }
  for (std::size_t i = 0; i < environment_.size(); ++i)
    job.environment.emplace_back(shared.environment[i].first,
                                 environment_[i].fill(job.parameters, number));
  job.folder = folder(job);
  job.outputs.reserve(outputs_.size());
  for (const TextTemplate& output : outputs_)
    job.outputs.push_back(output.fill(job.parameters, number));
  job.name = name(job);
  return job;
}

std::vector<std::string> JobTemplate::after(const Job& job) const {
  std::vector<std::string> names;
  for (const TextTemplate& name : after_) names.push_back(name.fill(job.parameters, job.number));
  return names;
}

}  // namespace lockstep

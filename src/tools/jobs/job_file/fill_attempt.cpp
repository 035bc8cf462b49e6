#include "tools/jobs/job_file/fill_attempt.h"

#include <algorithm>
#include <filesystem>

#include "tools/jobs/job_file/placeholders.h"

namespace lockstep {
namespace {

// The name of the placeholder with which the text begins, or "".
std::string_view name_at(std::string_view text) {
  if (!text.starts_with('{')) return {};
  for (const std::string_view name : attempt_names)
    if (text.substr(1).starts_with(name) && text.substr(1 + name.size()).starts_with('}'))
      return name;
  return {};
}

std::string value_of(std::string_view name, const AttemptValues& values) {
  if (name == "out") return values.out;
  if (name == "slot") return std::to_string(values.slot);
  if (name == "gpu") return std::to_string(values.gpu.value_or(-1));
  if (name == "cores") return std::to_string(values.cores);
  return std::to_string(values.attempt);
}

std::string filled(std::string_view text, const AttemptValues& values, bool shell) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    const std::string_view name = name_at(rest);
    if (!name.empty()) {
      const std::string value = value_of(name, values);
      result += shell ? quote_for_shell(value) : value;
      at += name.size() + 2;
    } else {
      result += rest[0];
      at += rest.starts_with("{{") ? 2 : 1;
    }
  }
  return result;
}

}  // namespace

bool is_attempt_name(std::string_view name) {
  return std::find(attempt_names.begin(), attempt_names.end(), name) != attempt_names.end();
}

void append_escaped(std::string& text, std::string_view literal) {
  for (std::size_t at = 0; at < literal.size(); ++at) {
    text += literal[at];
    if (literal[at] != '{') continue;
    const std::string_view rest = literal.substr(at);
    if (rest.size() == 1 || rest[1] == '{' || !name_at(rest).empty()) text += '{';
  }
}

bool needs_attempt(std::string_view text) {
  for (std::size_t at = text.find('{'); at < text.size(); at = text.find('{', at)) {
    if (!name_at(text.substr(at)).empty()) return true;
    at += text.substr(at).starts_with("{{") ? 2 : 1;
  }
  return false;
}

std::string fill_attempt(std::string_view text, const AttemptValues& values) {
  return filled(text, values, false);
}

Job fill_attempt(Job job, const AttemptValues& values) {
  for (std::string& word : job.command) word = filled(word, values, job.shell);
  for (auto& [name, value] : job.environment) value = filled(value, values, false);
  job.folder = filled(job.folder, values, false);
  for (std::string& output : job.outputs)
    output = (std::filesystem::path(values.out) / filled(output, values, false)).string();
  return job;
}

}  // namespace lockstep

#include "tools/jobs/job_file/job_words.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/text/text.h"
#include "tools/jobs/job_group.h"
#include "tools/jobs/matrix/matrix_values.h"

namespace lockstep {
namespace {

bool is_mark(const std::string& word) {
  return word == ":::" || word == ":::+" || word == "::::" || word == "::::+";
}

class Words {
 public:
  Words(const JobWordsOptions& options, std::istream& input) : options_(options), input_(input) {}

  JobGroup read(std::span<const std::string> words) {
    const auto first = std::find_if(words.begin(), words.end(), is_mark);
    JobGroup group;
    group.job = options_.job;
    group.job.command.assign(words.begin(), first);
    if (group.job.command.empty() || group.job.command[0].empty())
      throw Error("there is no command",
                  "write it after --, as in -- python3 train.py {1} ::: a b");
    for (const std::string& file : options_.argument_files) add(lines(file), false, "-a " + file);
    for (auto mark = first; mark != words.end();) {
      const auto end = std::find_if(mark + 1, words.end(), is_mark);
      add_source(*mark, {mark + 1, end});
      mark = end;
    }
    group.matrix.axes = std::move(axes_);
    return group;
  }

 private:
  void add_source(const std::string& mark, const std::vector<std::string>& words) {
    const bool is_linked = mark.ends_with('+');
    if (!mark.starts_with("::::")) {
      for (std::size_t i = 0; i < words.size(); ++i)
        if (!is_value(words[i])) fail_value(words[i], cat("value ", i + 1, " after ", mark));
      return add(words, is_linked, mark);
    }
    if (words.empty()) throw Error(cat(mark, " names no file"));
    for (const std::string& file : words) add(lines(file), is_linked, cat(mark, " ", file));
  }

  std::vector<std::string> lines(const std::string& file) {
    if (file != "-") return value_lines(read_input(options_.folder / file, list_bytes), file);
    if (std::exchange(input_is_read_, true))
      throw Error("standard input cannot be read twice", "name - once");
    return value_lines(read_stream(input_, "standard input", list_bytes), "standard input");
  }

  void add(std::vector<std::string> values, bool is_linked, const std::string& source) {
    if (values.empty())
      throw Error(cat("the matrix is empty: ", source, " gives no values"),
                  "without ::: there is one job");
    const std::string name = std::to_string(++count_);
    if (!is_linked) {
      MatrixAxis& axis = axes_.emplace_back(MatrixAxis{{name}, {}});
      axis.rows.reserve(values.size());
      for (std::string& value : values) axis.rows.push_back({std::move(value)});
      return;
    }
    if (axes_.empty()) throw Error(cat(source, " goes with the source before it: there is none"));
    MatrixAxis& axis = axes_.back();
    if (axis.rows.size() != values.size())
      throw Error(cat(source, " has ", values.size(), " values, and the source it goes with has ",
                      axis.rows.size()),
                  "values of linked sources go together one by one");
    axis.names.push_back(name);
    for (std::size_t i = 0; i < values.size(); ++i) axis.rows[i].push_back(std::move(values[i]));
  }

  const JobWordsOptions& options_;
  std::istream& input_;
  std::vector<MatrixAxis> axes_;
  int count_ = 0;
  bool input_is_read_ = false;
};

// Adds {} if the command uses no parameter. Placeholders of an attempt do not count.
void complete(JobGroup& group) {
  PlaceholderScope scope;
  scope.names = group.matrix.names();
  scope.shell = group.job.shell;
  const bool names_values = std::any_of(
      group.job.command.begin(), group.job.command.end(),
      [&](const std::string& word) { return TextTemplate(word, scope).uses_parameters(); });
  if (!names_values && !group.matrix.empty()) group.job.command.push_back("{}");
  if (group.job.shell) group.job.command = {join(group.job.command, " ")};
}

JobGroup group_of(std::span<const std::string> words, const JobWordsOptions& options,
                  std::istream& input) {
  JobGroup group = Words(options, input).read(words);
  complete(group);
  group.base = std::filesystem::absolute(options.folder).lexically_normal().string();
  return group;
}

JobWordsOptions options_of(const JobDefaults& defaults) {
  JobWordsOptions options{.argument_files = defaults.arg_files};
  options.job = {.shell = defaults.shell,
                 .cpus = defaults.cpus,
                 .gpus = defaults.gpus,
                 .gpu_memory = defaults.gpu_memory,
                 .retries = defaults.retries,
                 .retry_delay_s = defaults.retry_delay_s,
                 .timeout_s = defaults.timeout_s,
                 .keeps_worker = defaults.keeps_worker};
  return options;
}

}  // namespace

JobList read_job_words(std::span<const std::string> words, const JobWordsOptions& options,
                       std::istream& input) {
  const JobGroup group = group_of(words, options, input);
  return expand_jobs({&group, 1}, options.limits);
}

JobList jobs_from_words(const std::vector<std::string>& words, const JobDefaults& defaults,
                        std::istream& input) {
  return read_job_words(words, options_of(defaults), input);
}

JobSource job_words_source(const std::vector<std::string>& words, const JobDefaults& defaults,
                           std::istream& input) {
  std::vector<JobGroup> groups;
  groups.push_back(group_of(words, options_of(defaults), input));
  return {std::move(groups), {}};
}

}  // namespace lockstep

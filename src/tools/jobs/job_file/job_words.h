// Makes jobs from the words of a command line, in GNU parallel's syntax.
#pragma once

#include <filesystem>
#include <iostream>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/jobs/job.h"
#include "tools/jobs/job_file/job_source.h"

namespace lockstep {

// Settings that the words do not contain.
struct JobWordsOptions {
  // Values that all jobs share: resources, retries, environment, outputs, shell, name, `after` and
  // folder, as in a JobGroup. The command is ignored.
  Job job{};
  BatchLimits limits{};
  // Files with a value per line (-a); "-" means `input`. The values of these files come before
  // those of the words.
  std::vector<std::string> argument_files{};
  // Folder to which files and a working folder are relative; by default the current folder.
  std::filesystem::path folder = std::filesystem::current_path();
};

// words: a command, followed by sources of values:
//   ::: a b       the values a and b
//   :::: FILE …   the lines of the files; "-" is `input`
//   :::+ c d      values that are paired one by one with those of the source before
//   ::::+ FILE …  lines that are paired in the same way
// Makes a job for each combination of values, with the last source varying fastest. The parameters
// are called 1, 2, …, so {1} stands for the first value, and {} for all values. If the command has
// no placeholder for a value, all values are appended to it as separate words. Without sources
// there is one job. With `shell`, the words become one line. Throws Error if there is no command,
// if a source has no values, or if paired sources differ in length. Also throws the errors of
// expand_jobs().
JobList read_job_words(std::span<const std::string> words, const JobWordsOptions& options,
                       std::istream& input);

// Job settings from the options of a command line.
struct JobDefaults {
  double cpus = 1;
  GpuRequest gpus{};
  GpuMemoryRequest gpu_memory{};
  int retries = 0;
  double retry_delay_s = 0;
  std::optional<double> timeout_s{};
  bool shell = false;
  bool keeps_worker = false;
  std::vector<std::string> arg_files{};  // files with a value per line (-a)
};

// Makes jobs from words in the current folder.
JobList jobs_from_words(const std::vector<std::string>& words, const JobDefaults& defaults,
                        std::istream& input = std::cin);
// Makes the same jobs as jobs_from_words(), but does not hold all of them in memory.
JobSource job_words_source(const std::vector<std::string>& words, const JobDefaults& defaults,
                           std::istream& input = std::cin);

}  // namespace lockstep

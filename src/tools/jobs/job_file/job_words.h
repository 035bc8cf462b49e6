// Jobs from the words of a command line, in GNU parallel's syntax.
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
  // Values shared by all jobs: resources, retries, environment, outputs, shell, name, after, folder
  // (as in a JobGroup). Its command is ignored.
  Job job{};
  BatchLimits limits{};
  // -a: files with a value per line; "-" means `input`. These sources come before those of the
  // words.
  std::vector<std::string> argument_files{};
  // The base of relative files and of a relative working folder; by default the current folder.
  std::filesystem::path folder = std::filesystem::current_path();
};

// words: a command, then sources of values:
//   ::: a b       values              :::: FILE …    their lines; "-" is `input`
//   :::+ c d      values paired one by one with those of the source before; ::::+ likewise
// There is one job for each combination, with the last source varying fastest. The parameters are
// called 1, 2, …, so {1} and {} stand for values. If the command names none of them, all are
// appended to it as separate words. Without sources there is one job. With `shell`, the words are
// one line. Throws Error if there is no command, if a source has no values, if linked sources
// differ in length, and for errors of `expand_jobs`.
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
  std::vector<std::string> arg_files{};  // -a
};

// The same, in the current folder.
JobList jobs_from_words(const std::vector<std::string>& words, const JobDefaults& defaults,
                        std::istream& input = std::cin);
// The same without holding all jobs in memory.
JobSource job_words_source(const std::vector<std::string>& words, const JobDefaults& defaults,
                           std::istream& input = std::cin);

}  // namespace lockstep

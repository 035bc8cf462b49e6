// Jobs from the words of a command line, as GNU parallel reads them.
#pragma once

#include <filesystem>
#include <iostream>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "jobs/job.h"
#include "jobs/job_source.h"

namespace lockstep {

// What the words do not say.
struct JobWordsOptions {
  // What all jobs share: resources, retries, environment, outputs, shell, name, after, folder (as
  // in a JobGroup). Its command is not read.
  Job job{};
  BatchLimits limits{};
  // -a: files with a value a line, "-" for `input`; sources before those of the words.
  std::vector<std::string> argument_files{};
  // Where relative files and a relative working folder begin; by default the current folder.
  std::filesystem::path folder = std::filesystem::current_path();
};

// words: a command, then sources of values:
//   ::: a b       values              :::: FILE …    their lines; "-" is `input`
//   :::+ c d      values that go with those of the source before, one by one; ::::+ likewise
// A job for each combination, the last source fastest. The parameters are called 1, 2, …, so {1}
// and {} stand for values; a command that names none of them gets all of them at its end, as words
// of their own. Without sources there is one job. With `shell` the words are one line.
// Throws Error: no command, a source without values, linked sources of different lengths, and what
// `expand_jobs` refuses.
JobList read_job_words(std::span<const std::string> words, const JobWordsOptions& options,
                       std::istream& input);

// What the options of a command line say of its jobs.
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
// The same without holding all of them.
JobSource job_words_source(const std::vector<std::string>& words, const JobDefaults& defaults,
                           std::istream& input = std::cin);

}  // namespace lockstep

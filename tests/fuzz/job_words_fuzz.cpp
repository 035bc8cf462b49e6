// Command lines of `lockstep batch run` with :::, one word per line. The text after an empty line
// is the standard input. If the first word is "-a", values are read from standard input. If the
// first word is "--shell", the words are one line for the shell.
#include <sstream>

#include "fuzz.h"
#include "job_list.h"
#include "tools/jobs/job_file/job_words.h"

namespace lockstep {
namespace {

bool is_mark(const std::string& word) { return word.starts_with(":::"); }

// Of one source and a command without placeholders: what the program is given.
void check_values(const std::vector<std::string>& words) {
  std::vector<std::string> command{"program", ":::"};
  for (const std::string& word : words)
    if (!is_mark(word) && command.size() < 100) command.push_back(word);
  JobList list;
  if (!fuzz::accepts([&] { list = jobs_from_words(command, {}); })) return;
  LOCKSTEP_CHECK(list.jobs.size() == command.size() - 2);
  for (std::size_t i = 0; i < list.jobs.size(); ++i) {
    const Job job = fill_attempt(list.jobs[i], {.out = "/b/attempts/1"});
    LOCKSTEP_CHECK(job.command.size() == 2 && job.command[1] == command[i + 2]);
  }
}

}  // namespace
}  // namespace lockstep

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lockstep;
  most_jobs = 300;
  std::string_view text = fuzz::text_of(data, size);
  JobDefaults defaults;
  std::vector<std::string> words;
  bool has_file = false;
  while (!text.empty()) {
    const std::string word(fuzz::take_part(text, '\n'));
    if (word.empty()) break;
    if (words.empty() && word == "-a" && defaults.arg_files.empty())
      defaults.arg_files.emplace_back("-");
    else if (words.empty() && word == "--shell")
      defaults.shell = true;
    else
      words.push_back(word);
    has_file = has_file || word.starts_with("::::");
  }
  check_values(words);
  // Of files only standard input: others are the machine's.
  if (has_file)
    for (std::string& word : words)
      if (word.find('/') != word.npos || word == ".") word = "-";
  std::istringstream input{std::string(text)};
  JobList list;
  if (fuzz::accepts([&] { list = jobs_from_words(words, defaults, input); }))
    fuzz::check_job_list(list);
  return 0;
}

// Runs the real tool as a child and reads what it says.
#pragma once

#include "checkout_paths.h"
#include "core/base/files/files.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace lockstep::testing {

struct ToolResult {
  int code = -1;  // exit code, or 128 + signal
  std::string out, err;
};

// A started tool; its output goes to files in `folder`.
class ToolProcess {
 public:
  ToolProcess(const std::vector<std::string>& words, const std::filesystem::path& folder,
              const std::map<std::string, std::string>& environment = {}, bool root_powers = true)
      : out_(folder / "stdout.txt"), err_(folder / "stderr.txt") {
    pid_ = fork();
    if (pid_ != 0) return;
    setpgid(0, 0);
    const int out = open(out_.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0644);
    const int err = open(err_.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0644);
    const int in = open("/dev/null", O_RDONLY);
    dup2(in, 0);
    dup2(out, 1);
    dup2(err, 2);
    if (chdir(folder.c_str()) != 0) _exit(126);
    for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
    setenv("XDG_STATE_HOME", (folder / ".state").c_str(), 0);  // nothing of the user's
    // Root without it obeys the permissions of files like everybody.
    if (!root_powers)
      for (const int capability : {CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH})
        prctl(PR_CAPBSET_DROP, capability);
    std::vector<std::string> copy = words;
    std::vector<char*> argv;
    for (std::string& word : copy) argv.push_back(word.data());
    argv.push_back(nullptr);
    execvp(argv[0], argv.data());
    _exit(127);
  }
  pid_t pid() const { return pid_; }
  // So far; nothing before it has begun.
  std::string err() const { return std::filesystem::exists(err_) ? read_file(err_) : ""; }
  ToolResult wait() {
    int status = 0;
    waitpid(pid_, &status, 0);
    ToolResult result;
    result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    result.out = read_file(out_);
    result.err = read_file(err_);
    return result;
  }

 private:
  std::filesystem::path out_, err_;
  pid_t pid_ = -1;
};

inline std::string program(const std::string& name) {
  return std::string(LOCKSTEP_BUILD_DIR) + "/" + name;
}

// As a word of a shell's command line: a checkout may lie in a folder with blanks.
inline std::string shell_word(const std::string& word) { return "'" + word + "'"; }
inline std::string program_in_shell(const std::string& name) { return shell_word(program(name)); }
inline std::string shell_line(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += shell_word(word) + " ";
  return line;
}

// A copy of a built program or library that every user of this machine may start, though the
// checkout lies where only its owner may go: a home folder often does.
inline std::string copied_for_all(const std::string& name, const std::filesystem::path& folder) {
  using std::filesystem::perms;
  const std::filesystem::path copy = folder / std::filesystem::path(name).filename();
  std::filesystem::copy_file(program(name), copy,
                             std::filesystem::copy_options::overwrite_existing);
  std::filesystem::permissions(copy, perms(0755));
  return copy;
}

// The path of a built library for LD_PRELOAD, where the loader splits it at blanks and colons: of a
// copy elsewhere, if a build lies in a folder with such a name.
inline std::string preloadable(const std::string& name) {
  if (program(name).find_first_of(" :") == std::string::npos) return program(name);
  static const TemporaryDirectory folder;
  return copied_for_all(name, folder.path());
}

// The words by which root becomes a user without any rights.
inline std::vector<std::string> as_nobody() {
  return {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"};
}

// Why user 65534 cannot start a program of this folder; empty if it can.
inline std::string why_nobody_enters(const std::filesystem::path& folder) {
  if (geteuid() != 0) return "only root can become another user";
  std::vector<std::string> words = as_nobody();
  words.insert(words.end(), {"test", "-x", folder});
  if (ToolProcess(words, folder).wait().code == 0) return "";
  return "another user cannot enter " + folder.string();
}

// Of an environment variable.
inline int number_from(const char* variable, int otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoi(text);
}

// The children of a process, in the order in which they were started.
inline std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> all;
  const std::string pid = std::to_string(parent);
  std::ifstream in("/proc/" + pid + "/task/" + pid + "/children");
  for (pid_t child = 0; in >> child;) all.push_back(child);
  return all;
}

// The ranks among a tool's children, in order.
inline std::vector<pid_t> ranks_of(pid_t tool) {
  std::vector<pid_t> ranks;
  for (const pid_t pid : children_of(tool)) {
    std::ifstream in("/proc/" + std::to_string(pid) + "/comm");
    std::string name;
    if (std::getline(in, name) && name == "lockstep-worker") ranks.push_back(pid);
  }
  return ranks;
}

// `lockstep WORDS…` in `folder`, to its end.
inline ToolResult run_tool(std::vector<std::string> words, const std::filesystem::path& folder,
                           const std::map<std::string, std::string>& environment = {}) {
  words.insert(words.begin(), program("lockstep"));
  return ToolProcess(words, folder, environment).wait();
}

// The same for a program that must not write where permissions forbid it, though root runs the
// tests.
inline ToolResult without_root_powers(const std::vector<std::string>& words,
                                      const std::filesystem::path& folder) {
  return ToolProcess(words, folder, {}, /*root_powers=*/false).wait();
}

// Text that was wrapped; a blank follows each word.
inline std::string on_one_line(const std::string& text) {
  std::istringstream words(text);
  std::string line, word;
  while (words >> word) line += word + ' ';
  return line;
}

// About `bytes` of text that a model can learn something of, the same for the same seed.
inline void write_corpus(const std::filesystem::path& file, std::size_t bytes, unsigned seed = 1) {
  const char* const words[] = {"the ",   "model ",   "trains ", "on ",
                               "every ", "device, ", "and ",    "learns.\n"};
  std::ofstream out(file);
  unsigned state = seed;
  for (std::size_t written = 0; written < bytes;) {
    state = state * 1664525U + 1013904223U;
    const std::string word = words[(state >> 24) % 8];
    out << word;
    written += word.size();
  }
}

// The words of a command line and more of them.
inline std::vector<std::string> operator+(std::vector<std::string> words,
                                          const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// Options of a model that trains in a second.
inline std::vector<std::string> tiny(const std::filesystem::path& corpus) {
  return {"data.path=" + corpus.string(),
          "tokenizer.kind=bytes",
          "model.layers=1",
          "model.width=16",
          "model.heads=2",
          "model.context=16",
          "batch.global=12",
          "optimizer.lr=0.01",
          "schedule.warmup=2",
          "schedule.kind=linear",
          "precision=fp32"};
}

}  // namespace lockstep::testing

// Spawns the tool and reads its answer.
#include "worker/tool.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/text.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>

namespace lockstep {
namespace {

std::string read_all(int fd) {
  std::string text;
  std::array<char, 4096> buffer{};
  while (true) {
    const ssize_t count = read(fd, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace

std::string create_run_with_tool(const std::vector<std::string>& arguments, const World& world,
                                 bool cuda) {
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  std::vector<std::string> words{(folder / "lockstep").string(), "train"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  words.push_back("--prepare-only");
  words.push_back(cat("--world=", world.size, ":", world.local_size, cuda ? ":cuda" : ":cpu"));
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) throw Error(cat("could not make a pipe: ", errno_text(errno)));
  UniqueFd reader(ends[0]), writer(ends[1]);
  const pid_t child = fork();
  if (child < 0) throw Error(cat("could not start ", words[0], ": ", errno_text(errno)));
  if (child == 0) {
    dup2(writer.get(), STDOUT_FILENO);
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    execv(argv[0], argv.data());
    _exit(127);
  }
  writer.reset();
  const std::string answer = trim(read_all(reader.get()));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || answer.empty())
    throw Error("the run could not be set up; rank 0's output above says why");
  return answer;
}

}  // namespace lockstep

// The surroundings of a command.
#include "cli/context.h"

#include "base/error.h"
#include "base/fd.h"
#include "base/text.h"

#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iostream>

namespace lockstep::cli {

// CUDA that the LibTorch wheel of this build needs of the driver, as NVML counts.
constexpr int cuda_needed = 13000;

std::filesystem::path program_folder() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path();
}

std::filesystem::path worker_program() {
  const std::filesystem::path path = program_folder() / "lockstep-worker";
  if (!std::filesystem::exists(path))
    throw Error(cat(path.string(), " is not there"), "build it: make");
  return path;
}

bool stderr_is_terminal() {
  const char* term = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && (term == nullptr || std::strcmp(term, "dumb") != 0);
}

bool colour_wanted() {
  const char* no = std::getenv("NO_COLOR");
  return stderr_is_terminal() && (no == nullptr || *no == '\0');
}

int terminal_width() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

void say(const std::string& line) { std::cerr << line << '\n' << std::flush; }

void print(const std::string& text) {
  std::cout << text;
  if (text.empty() || text.back() != '\n') std::cout << '\n';
  std::cout << std::flush;
}

GpuProbe& probe() {
  static const std::unique_ptr<GpuProbe> nvml = make_nvml_probe();
  return *nvml;
}

std::vector<Device> devices_for(const std::string& spec) {
  return select_devices(spec.empty() ? "all" : spec, probe(), host_info(),
                        std::getenv("CUDA_VISIBLE_DEVICES"), cuda_needed);
}

void check_can_run(const std::vector<Device>& devices) {
  if (devices[0].kind != DeviceKind::cuda) return;
  const std::filesystem::path name = "liblockstep-cuda.so";
  for (const std::filesystem::path& folder : {program_folder(), program_folder() / "../lib"})
    if (std::filesystem::exists(folder / name)) return;
  throw Error(
      cat("this build has no GPU support: ", (program_folder() / name).string(), " is not there"),
      "build on a machine with a GPU, or with -DLOCKSTEP_CUDA=ON; or use --devices cpu");
}

namespace {

std::string read_all(int fd) {
  std::string text;
  std::array<char, 65536> buffer{};
  while (true) {
    const ssize_t count = read(fd, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace

std::string ask_worker(const std::vector<std::string>& arguments) {
  std::vector<std::string> words{worker_program().string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
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
  const std::string answer = read_all(reader.get());
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw Error(cat("lockstep-worker ", arguments.at(0), " failed"), "its message is above");
  return answer;
}

}  // namespace lockstep::cli

// Terminals, output and signals of a command.
#include "tools/cli/context.h"

#include "built_with.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/files/files.h"
#include "core/base/process/child_output.h"
#include "core/base/text/text.h"
#include "core/base/whole_number.h"
#include "runtime/launch/engine/installed_torch.h"
#include "runtime/launch/launch.h"
#include "runtime/launch/output/log_tail.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace lockstep::cli {

namespace {
const double loaded_s = system_clock().now_s();
double begun_s = loaded_s;
}  // namespace

const int cuda_needed = LOCKSTEP_TORCH_CUDA;

double begin_s() { return begun_s; }
void begin_anew() { begun_s = system_clock().now_s(); }
double earlier_s() { return begun_s - loaded_s; }

std::filesystem::path worker_program() {
  const std::filesystem::path path = program_folder() / "lockstep-worker";
  if (!std::filesystem::exists(path))
    throw Error(
        cat("this command needs LibTorch, and with it ", path.string(), ", which is not there"),
        "`make` in a checkout of Lockstep builds both");
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

namespace {

constexpr int usual_width = 80;

// The width of the terminal behind a descriptor. Nothing if it is not a terminal. COLUMNS applies
// only to terminals that do not report their size.
std::optional<int> width_of(int fd) {
  if (isatty(fd) == 0) return std::nullopt;
  winsize size{};
  if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const char* const columns = std::getenv("COLUMNS");
  const int told = columns == nullptr ? 0 : whole_number<int>(columns, 1, 100'000).value_or(0);
  return told > 0 ? told : usual_width;
}

}  // namespace

int terminal_height() {
  constexpr int usual_height = 24;
  winsize size{};
  const bool told = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0;
  return told ? size.ws_row : usual_height;
}

int terminal_width() { return width_of(STDERR_FILENO).value_or(usual_width); }
int table_width() { return width_of(STDOUT_FILENO).value_or(std::numeric_limits<int>::max()); }
int text_width() { return width_of(STDOUT_FILENO).value_or(usual_width); }

namespace {

void write_bytes(std::string_view text) {
  errno = 0;
  std::cout << text << std::flush;
  if (!std::cout)
    throw Error(cat("standard output: ", errno == 0 ? "cannot be written to" : errno_text(errno)));
}

std::string with_newline(const std::string& text) {
  return text.empty() || text.back() != '\n' ? text + '\n' : text;
}

void write_out(const std::string& text) { write_bytes(with_newline(text)); }

// Whole lines of a log in a form that a terminal can show.
std::string shown_lines(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  std::vector<std::string> lines = split(std::string(text), '\n');
  for (std::string& line : lines) line = std::string(as_rewritten(line));
  return printable_log(join(lines, "\n")) + '\n';
}

}  // namespace

void print(const std::string& text) {
  const std::string shown = printable(text, "\n\t");
  write_out(shown);
  add_to_transcript(with_newline(shown));
}

void print_data(const std::string& text) {
  if (isatty(STDOUT_FILENO) != 0) return print(text);
  write_out(text);
}

void print_log(const UniqueFd& log) {
  constexpr std::size_t block_bytes = 1 << 20;
  const bool shows = isatty(STDOUT_FILENO) != 0;
  std::string text, block(block_bytes, '\0');
  for (;;) {
    const ssize_t got = ::read(log.get(), block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw Error(cat("cannot read the log: ", errno_text(errno)));
    text.append(block, 0, static_cast<std::size_t>(got));
    if (got == 0) break;
    // A single line that is longer than a block is shown in parts.
    const std::size_t line_end = text.rfind('\n');
    const std::size_t whole =
        line_end == text.npos ? text.size() < block_bytes ? 0 : text.size() : line_end + 1;
    const std::string_view lines = std::string_view(text).substr(0, whole);
    if (!lines.empty()) write_bytes(shows ? shown_lines(lines) : std::string(lines));
    text.erase(0, whole);
  }
  if (!text.empty()) shows ? write_bytes(shown_lines(text)) : write_out(text);
}

void print_result_of_run(const std::string& text) {
  try {
    print(text);
  } catch (const Error& error) {
    say(cat("warning: ", error.what()));
  }
}

std::string json_text(const nlohmann::json& value, int indent) {
  return printable_json(value.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace));
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
  worker_program();
  find_engine(program_folder().parent_path());
  if (devices[0].kind != DeviceKind::cuda) return;
  const std::filesystem::path name = "liblockstep-cuda.so";
  for (const std::filesystem::path& folder : {program_folder(), program_folder() / "../lib"})
    if (std::filesystem::exists(folder / name)) return;
  throw Error(
      cat("this build has no GPU support: ", (program_folder() / name).string(), " is not there"),
      "build on a machine with a GPU, or with -DLOCKSTEP_CUDA=ON; or use --devices cpu");
}

std::string ask_worker(const std::vector<std::string>& arguments) {
  std::vector<std::string> words{worker_program().string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  ChildOutput answer = child_output(std::move(words));
  if (answer.code == exit_usage) throw ToldAlready{answer.code};
  if (answer.code != 0)
    throw Error(cat("lockstep-worker ", arguments.at(0), " failed"), "its message is above");
  return std::move(answer.out);
}

}  // namespace lockstep::cli

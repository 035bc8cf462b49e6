// What every subcommand shares: where programs and caches lie, the terminal, the probe.
#pragma once

#include "base/fd.h"
#include "base/program.h"
#include "base/say.h"  // for all commands
#include "devices/gpu_probe.h"

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace lockstep::cli {

// CUDA that this build needs of the driver, as NVML counts (13000 for 13.0): that of its LibTorch.
// 0: none.
extern const int cuda_needed;

double begin_s();    // of this program, on the monotonic clock
void begin_anew();   // of a further training in this program: it is a start of its own …
double earlier_s();  // … so long after the program began
std::filesystem::path worker_program();  // throws Error if it is not there
bool stderr_is_terminal();
bool colour_wanted();   // NO_COLOR, TERM=dumb
int terminal_width();   // of standard error, in columns
int terminal_height();  // of standard error, in lines
// Of standard output: a table that goes into a pipe or a file is as wide as it is.
int table_width();
int text_width();  // likewise, for text that wraps: 80 columns in a pipe or a file
std::string shell_word(const std::string& text);  // quoted where a shell needs it
// What was asked for, on standard output, as `printable` with newlines and tabs kept; a newline is
// added. Throws Error where it cannot be written.
void print(const std::string& text);
// Likewise what programs read: byte for byte, but on a terminal.
void print_data(const std::string& text);
// Likewise what a program printed, however much, to its end; on a terminal as `printable_log`, and
// of a line that was rewritten with carriage returns what was last visible.
void print_log(const UniqueFd& log);
// Likewise, after training: that was no failure where it cannot be written. Says so.
void print_result_of_run(const std::string& text);
// Bad UTF-8 is replaced; as `printable_json`.
std::string json_text(const nlohmann::json& value, int indent = 2);  // -1: in one line

GpuProbe& probe();  // NVML, loaded on first use
std::vector<Device> devices_for(
    const std::string& spec);  // "" = all; checks the driver for the build
// Throws Error if this build cannot run ranks on these devices: before anything is written.
void check_can_run(const std::vector<Device>& devices);

// Thrown when a child has already told the user what is wrong, with error and hint; main only
// leaves.
struct ToldAlready {
  int code = 0;
};

// Runs the worker without ranks and returns its standard output. Throws ToldAlready if it ended
// with an error of the user's, else Error.
std::string ask_worker(const std::vector<std::string>& arguments);

}  // namespace lockstep::cli

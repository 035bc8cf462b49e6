// Shared by every subcommand: places of programs and caches, the terminal, the probe.
#pragma once

#include "core/base/files/fd.h"
#include "core/base/process/program.h"
#include "core/base/text/say.h"   // for all commands
#include "core/base/text/text.h"  // for all commands
#include "core/devices/gpus/gpu_probe.h"

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace lockstep::cli {

// The CUDA version that this build's LibTorch needs from the driver, in NVML's form (13000 for
// 13.0). 0: none.
extern const int cuda_needed;

double begin_s();  // start of this program, on the monotonic clock
// says that a further training in this program begins, which counts as a start of its own
void begin_anew();
double earlier_s();                      // from the program's start to the latest begin_anew
std::filesystem::path worker_program();  // throws Error if it does not exist
bool stderr_is_terminal();
bool colour_wanted();   // false with NO_COLOR or TERM=dumb
int terminal_width();   // of standard error, in columns
int terminal_height();  // of standard error, in lines
// The width of standard output. It is unlimited if a table goes into a pipe or a file.
int table_width();
int text_width();  // the same for text that wraps: 80 columns in a pipe or a file
// Prints a result on standard output and adds a newline. The text is made `printable`, but keeps
// newlines and tabs. Throws Error if it cannot be written.
void print(const std::string& text);
// The same for data that programs read. It is written byte for byte, except on a terminal.
void print_data(const std::string& text);
// The same for a program's whole output, of any size. On a terminal it is shown as `printable_log`
// makes it. A line that carriage returns rewrote is shown as it was last visible.
void print_log(const UniqueFd& log);
// The same after training. If the text cannot be written, prints so, which counts as no failure.
void print_result_of_run(const std::string& text);
// Invalid UTF-8 is replaced; the result is that of `printable_json`.
std::string json_text(const nlohmann::json& value, int indent = 2);  // indent -1: on one line

GpuProbe& probe();  // NVML, loaded on first use
std::vector<Device> devices_for(
    const std::string& spec);  // "" = all; checks the driver for the build
// Throws Error if this build cannot run ranks on these devices. Call it before anything is written.
void check_can_run(const std::vector<Device>& devices);

// Thrown when a child has already printed an error and a hint. main then only exits.
struct ToldAlready {
  int code = 0;
};

// Runs the worker without ranks and returns its standard output. Throws ToldAlready if it ended
// with a user's error, and Error for any other failure.
std::string ask_worker(const std::vector<std::string>& arguments);

}  // namespace lockstep::cli

// Functions that all subcommands share: program paths, terminal, output, devices and the worker.
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

// The CUDA version that this build's LibTorch needs from the driver, in NVML's form: 13000 for
// 13.0. 0 if the build has no CUDA.
extern const int cuda_needed;

double begin_s();  // start of this program, on the monotonic clock
// Call it when this program begins another training. The time of that training is then counted from
// this call.
void begin_anew();
double earlier_s();  // seconds from the program's start to the latest begin_anew
std::filesystem::path worker_program();  // throws Error if the program does not exist
bool stderr_is_terminal();
bool colour_wanted();   // false without a terminal, with NO_COLOR, and with TERM=dumb
int terminal_width();   // width of standard error, in columns
int terminal_height();  // height of standard error, in lines
// The width of standard output for tables, in columns. It is unlimited in a pipe or a file.
int table_width();
// The width of standard output for text that wraps, in columns. It is 80 in a pipe or a file.
int text_width();
// Prints a result on standard output, and adds a newline if the text does not end with one. The
// text is printed as `printable` returns it, but keeps newlines and tabs. Throws Error if the text
// cannot be written.
void print(const std::string& text);
// Prints data that programs read. On a terminal, it is printed as by print(). Elsewhere, the bytes
// are unchanged; only a missing newline at the end is added.
void print_data(const std::string& text);
// Prints the whole output of a program from its log file, of any size. On a terminal, the text is
// shown as `printable_log` returns it. A line that was rewritten with carriage returns is then
// shown as it was last visible.
void print_log(const UniqueFd& log);
// Calls print() after training. If the text cannot be written, prints a warning instead of
// throwing.
void print_result_of_run(const std::string& text);
// Returns the value as JSON that `printable_json` made safe to print. Invalid UTF-8 is replaced.
std::string json_text(const nlohmann::json& value, int indent = 2);  // indent: -1 for one line

GpuProbe& probe();  // NVML, loaded on first use
// Selects devices as `select_devices` does; "" means all. Throws Error as `select_devices` does,
// for example if the driver is too old for this build.
std::vector<Device> devices_for(const std::string& spec);
// Throws Error if this build cannot run ranks on these devices, or if the worker or its torch is
// missing. Call it before anything is written.
void check_can_run(const std::vector<Device>& devices);

// Thrown when the error has already been printed. main then only exits with `code`.
struct ToldAlready {
  int code = 0;
};

// Runs the worker without ranks and returns its standard output. Throws ToldAlready if the worker
// reported a user's error, and Error for any other failure.
std::string ask_worker(const std::vector<std::string>& arguments);

}  // namespace lockstep::cli

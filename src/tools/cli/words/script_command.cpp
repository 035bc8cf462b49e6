#include "tools/cli/words/script_command.h"

#include "core/base/error.h"
#include "core/base/text/cells.h"
#include "core/base/text/text.h"
#include "planning/words.h"
#include "tools/cli/context.h"
#include "tools/cli/words/notebook_lines.h"
#include "tools/cli/words/vocabulary.h"

#include <algorithm>
#include <array>
#include <filesystem>

namespace lockstep::cli {
namespace {

using Line = std::vector<std::string>;

bool is_notebook(const std::string& word) {
  return word.ends_with(".ipynb") && word.find('=') == word.npos && !word.starts_with("-");
}

bool is_script(const std::string& word) {
  const bool is_python = word.ends_with(".py") && word.find('=') == word.npos;
  return (is_python && !word.starts_with("-")) || is_notebook(word);
}

bool is_python(const std::string& word) { return word == "python" || word.starts_with("python3"); }

bool starts_scripts(const std::string& word) {
  return word == "torchrun" || word == "accelerate" || word == "deepspeed";
}

bool takes_recipe(const std::string& word) {
  return word == "train" || word == "plan" || word == "bench";
}

constexpr std::string_view devices_flag = "--devices", devices_value = "--devices=";

// Removes Lockstep's --devices from the line. Returns its value, or "" if it is missing.
std::string take_devices(Line& words) {
  std::string value;
  bool behind_script = false;
  for (std::size_t i = 1; i < words.size();) {
    behind_script |= is_script(words[i]);
    const bool takes_next = words[i] == devices_flag && i + 1 < words.size();
    const bool is_flag = takes_next || words[i].starts_with(devices_value);
    const std::string given = !is_flag     ? ""
                              : takes_next ? words[i + 1]
                                           : words[i].substr(devices_value.size());
    // The script may have its own --devices, but hardly one that accepts "all" or "cpu:2".
    const bool may_be_its_own =
        behind_script && words[0] == "train" && given != "all" && !given.starts_with("cpu");
    if (!is_flag || may_be_its_own) {
      ++i;
      continue;
    }
    value = given;
    const auto from = words.begin() + static_cast<std::ptrdiff_t>(i);
    words.erase(from, from + (takes_next ? 2 : 1));
  }
  return value;
}

// Whether the value of --devices means the same for `launch` as for `command`. `plan` and `bench`
// expect a number of GPUs, and `plan` also accepts GPU models.
bool means_the_same(const std::string& command, const std::string& devices) {
  return !devices.empty() && (command == "train" || devices == "all" || devices.starts_with("cpu"));
}

std::string script_of(const std::string& notebook) {
  return std::filesystem::path(notebook).replace_extension(".py").string();
}

// Commands that run a notebook as a script. The user edits the script between the two.
std::string convert_and_run(const std::string& notebook, const std::string& run) {
  constexpr int most_shown = 60;
  const std::string convert = cat("jupyter nbconvert --to script ", shell_word(notebook));
  const KernelLines lines = kernel_lines(notebook);
  if (lines.count == 0) return cat(convert, " && ", run, " (lockstep help notebook)");
  return cat(
      convert, "; take its calls of get_ipython() out, which stand for ",
      count_of(static_cast<std::int64_t>(lines.count), "line"),
      " that only a kernel runs (first: ", printable(cut_cells(lines.first, most_shown, "…")),
      "); then ", run, " (lockstep help notebook)");
}

std::string launch_of(Line::const_iterator from, const Line& words, const std::string& devices) {
  const bool has_program = is_python(*from);
  std::string line = "lockstep launch ";
  if (!devices.empty()) line += cat(devices_flag, " ", shell_word(devices), " ");
  line += has_program && *from != "python" ? *from : "python3";
  if (has_program) ++from;
  for (; from != words.end(); ++from)
    line += " " + shell_word(is_notebook(*from) ? script_of(*from) : *from);
  return line;
}

// The position of the script with its arguments. The end of the line if there is none.
Line::const_iterator script_in(const Line& words) {
  const auto script = std::find_if(words.begin(), words.end(), is_script);
  if (is_script(words[0]) || is_python(words[0])) return words.begin();
  if (starts_scripts(words[0])) return script;
  if (!takes_recipe(words[0]) || std::any_of(words.begin(), script, is_recipe_name))
    return words.end();
  return script;
}

}  // namespace

void check_no_script(const Line& typed) {
  Line words = typed;
  const std::string& command = typed[0];
  const std::string devices = takes_recipe(command) ? take_devices(words) : "";
  const auto from = script_in(words);
  if (from == words.end()) return;
  const auto script = std::find_if(from, words.cend(), is_script);
  const bool of_notebook = script != words.cend() && is_notebook(*script);
  const std::string what = takes_recipe(command)
                               ? cat("lockstep ", command, " takes a recipe or a plugin, but ",
                                     *from, " is a ", of_notebook ? "notebook" : "script")
                               : cat("there is no command ", command);
  const std::string line = launch_of(from, words, means_the_same(command, devices) ? devices : "");
  throw Error(what, of_notebook ? cat("make a script of it, and run that once per GPU: ",
                                      convert_and_run(*script, line))
                                : cat("to run a script once per GPU: ", line));
}

void check_no_monitor(const Line& words) {
  constexpr std::array programs{"nvidia-smi", "dmon", "pmon", "nvtop", "gpustat", "nvitop"};
  const auto is_program = [&](const std::string& word) {
    return std::find(programs.begin(), programs.end(), word) != programs.end();
  };
  const bool watches =
      words[0] == "watch" &&
      (words.size() == 1 || std::any_of(words.begin() + 1, words.end(), is_program));
  if (watches || is_program(words[0]))
    throw Error(cat("there is no command ", words[0]),
                "lockstep monitor shows every GPU while you look; --once prints one sample, and "
                "--csv FILE writes a table");
}

void check_no_notebook(const Line& program, const std::string& devices) {
  const auto first = program.begin() + (!program.empty() && is_python(program[0]) ? 1 : 0);
  const auto notebook = std::find_if_not(
      first, program.end(), [](const std::string& word) { return word.starts_with("-"); });
  if (notebook == program.end() || !is_notebook(*notebook)) return;
  throw Error(cat(*notebook, " is a notebook, which runs in a kernel and not as a program"),
              cat("make a script of it, and start that: ",
                  convert_and_run(*notebook, launch_of(program.begin(), program, devices))));
}

}  // namespace lockstep::cli

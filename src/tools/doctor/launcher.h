// Recognises programs that start one process per GPU or use several GPUs themselves, and their
// option for the number of processes or GPUs. Also recognises programs that run notebooks.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace lockstep {

// The facts that a command line states about a launcher.
struct Launcher {
  std::string name;    // "torchrun", "vLLM"; "" for another program with such an option
  std::string option;  // "--nproc-per-node"; "" if its command has no option for that number
  std::string given;   // the typed option: "--nproc-per-node=1", "-tp 2"; "" if it is not given
  std::optional<int> gpus;   // number of GPUs; nothing if it is unknown, as for the value "gpu"
  bool lists_gpus = false;   // whether the option lists GPUs; without the option, all GPUs are used
  bool serves = false;       // whether the program serves requests, so that it is idle if none come
  bool spans_hosts = false;  // whether the number counts processes on all hosts
  std::string note;          // further advice when changing the number; "" if none
  std::vector<std::string> words;  // the words of the command
  // place and length of `given` in `words`. If the option is not given, place is where to insert
  // it, and length is 0.
  std::size_t place = 0, length = 0;
  // Other options multiply the number by this factor: 2 with -pp 2.
  int factor = 1;

  // Call these functions only if `option` is not empty. option_for returns the option for this
  // number of GPUs: "--nproc-per-node=4". Do not call option_for if the option lists GPUs.
  // command_for returns the whole command with that option. If the option lists GPUs, command_for
  // returns the command without it.
  std::string option_for(std::size_t gpus) const;
  std::string command_for(std::size_t gpus) const;
};

// Parses a command whose words are joined with spaces. Returns nothing if the program is not such a
// launcher.
std::optional<Launcher> launcher_of(const std::string& command);

// Whether the command is a kernel that runs the cells of a notebook, in Jupyter, Colab, Kaggle or
// VS Code.
bool is_notebook_kernel(const std::string& command);
// Whether the command starts kernels but runs no cells itself: notebook servers, papermill,
// nbconvert.
bool starts_notebooks(const std::string& command);

}  // namespace lockstep

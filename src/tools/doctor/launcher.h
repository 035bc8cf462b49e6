// Programs that start one process per GPU or use several GPUs themselves, and their option for the
// number; also programs that run notebooks.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace lockstep {

// A launcher as its command line shows it.
struct Launcher {
  std::string name;          // "torchrun", "vLLM"; "" for a program with an option of its own
  std::string option;        // "--nproc-per-node"; "" if no option of its command limits the number
  std::string given;         // "--nproc-per-node=1", "-tp 2"; "" if not given
  std::optional<int> gpus;   // the number given; nothing if it is no number ("gpu", "0,1")
  bool lists_gpus = false;   // the option lists GPUs, and without it all are used
  bool serves = false;       // it waits for requests, and may be idle for lack of them
  bool spans_hosts = false;  // its number counts processes on all hosts
  std::string note;          // further advice when changing the number; "" if none
  std::vector<std::string> words;  // words of the command
  // Position and length of `given` in `words`. If it is absent: where to insert it, and 0.
  std::size_t place = 0, length = 0;
  // the other options multiply its number by this (2 with -pp 2)
  int factor = 1;

  // Call these only if there is an option. option_for: the option for this many GPUs,
  // "--nproc-per-node=4"; not for an option that lists GPUs. command_for: the whole command with
  // that option, or without its list of GPUs.
  std::string option_for(std::size_t gpus) const;
  std::string command_for(std::size_t gpus) const;
};

// Parses a command whose words are joined with spaces. Nothing if it is not such a program.
std::optional<Launcher> launcher_of(const std::string& command);

// Whether the command is a kernel that runs a notebook's cells: of Jupyter, Colab, Kaggle or VS
// Code.
bool is_notebook_kernel(const std::string& command);
// Whether it starts kernels but runs no cells itself: notebook servers, papermill, nbconvert.
bool starts_notebooks(const std::string& command);

}  // namespace lockstep

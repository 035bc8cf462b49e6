// Programs that start one process per GPU or take several GPUs themselves, and the option by which
// each is told how many; and which programs run notebooks.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace lockstep {

// As a command line says it.
struct Launcher {
  std::string name;          // "torchrun", "vLLM"; "" for a program with an option of its own
  std::string option;        // "--nproc-per-node"; "" where nothing of its command limits it
  std::string given;         // "--nproc-per-node=1", "-tp 2"; "" where it is not
  std::optional<int> gpus;   // that it asks for; nothing where that is no number ("gpu", "0,1")
  bool lists_gpus = false;   // the option names GPUs, and without it all are taken
  bool serves = false;       // it waits for requests, and may be idle for want of them
  bool spans_hosts = false;  // its number is that of processes on all hosts
  std::string note;          // what else to know where the number changes; "" nothing
  std::vector<std::string> words;     // of the command
  std::size_t place = 0, length = 0;  // of `given` in them; else where it would go, and 0
  int factor = 1;                     // further GPUs for each of its own, as of -pp 2

  // With an option only. What to write for this many GPUs, "--nproc-per-node=4", where it does not
  // list them; and the whole command with it, or without the list.
  std::string option_for(std::size_t gpus) const;
  std::string command_for(std::size_t gpus) const;
};

// Of a command, its words joined with spaces; nothing where it is no such program.
std::optional<Launcher> launcher_of(const std::string& command);

// The kernel in which the cells of a notebook run: Jupyter's, Colab's, Kaggle's, VS Code's.
bool is_notebook_kernel(const std::string& command);
// What starts kernels and runs no cell itself: servers of notebooks, papermill, nbconvert.
bool starts_notebooks(const std::string& command);

}  // namespace lockstep

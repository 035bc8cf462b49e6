// Detects a Python script, a notebook or a program that watches GPUs, typed in place of a command
// or a recipe.
#pragma once

#include <string>
#include <vector>

namespace lockstep::cli {

// Throws Error if the words start a script or a notebook, such as "train.py …", "python train.py
// …", "torchrun … train.py …" or "train train.py …". The hint contains the command that runs the
// script once per device.
void check_no_script(const std::vector<std::string>& words);

// Throws Error that names `monitor` if the words start a program that watches GPUs: "nvidia-smi",
// "watch nvidia-smi", "dmon".
void check_no_monitor(const std::vector<std::string>& words);

// Throws Error if the program of `launch` is a notebook, alone or run by Python. devices: the value
// of --devices, or "".
void check_no_notebook(const std::vector<std::string>& program, const std::string& devices);

}  // namespace lockstep::cli

// A script of Python, or a notebook, where a command of Lockstep stands, or its recipe.
#pragma once

#include <string>
#include <vector>

namespace lockstep::cli {

// Throws Error with the line that runs the script once per device, where the words are those of a
// script or a notebook: "train.py …", "python train.py …", "torchrun … train.py …", "train train.py
// …".
void check_no_script(const std::vector<std::string>& words);

// Throws Error where the program of `launch` is a notebook, alone or of Python. devices: what is
// given to --devices, "" for nothing.
void check_no_notebook(const std::vector<std::string>& program, const std::string& devices);

}  // namespace lockstep::cli

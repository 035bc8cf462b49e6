// A script of Python where a command of Lockstep stands, or its recipe.
#pragma once

#include <string>
#include <vector>

namespace lockstep::cli {

// Throws Error with the line that runs the script once per device, where the words are those of a
// script: "train.py …", "python train.py …", "torchrun … train.py …", "train train.py …".
void check_no_script(const std::vector<std::string>& words);

}  // namespace lockstep::cli

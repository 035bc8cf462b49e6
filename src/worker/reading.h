// Commands that read a run, or an export of one.
#pragma once

#include <string>
#include <vector>

namespace lockstep {

// arguments: --run RUN [--record FILE] [--weights FILE] [--best], and further ones of each command.
// The functions return the exit code.
int run_evaluate(std::vector<std::string> arguments);
int run_predict(std::vector<std::string> arguments);        // --request FILE [--output FILE]
int run_predict_items(std::vector<std::string> arguments);  // --request FILE

}  // namespace lockstep

// The commands of a worker that read a run or an export.
#pragma once

#include <string>
#include <vector>

namespace lockstep {

// arguments: --run RUN [--record FILE] [--weights FILE] [--best], and the further ones below. The
// functions return the exit code.
int run_evaluate(std::vector<std::string> arguments);
int run_predict(std::vector<std::string> arguments);        // also --request FILE [--output FILE]
int run_predict_items(std::vector<std::string> arguments);  // also --request FILE

}  // namespace lockstep

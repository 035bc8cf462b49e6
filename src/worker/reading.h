// The commands of lockstep-worker that read a run or an export: evaluation and prediction.
#pragma once

#include <string>
#include <vector>

namespace lockstep {

// arguments: --run RUN [--record FILE] [--weights FILE] [--best]. The comments below name further
// arguments. The functions return the exit code.
int run_evaluate(std::vector<std::string> arguments);
// further arguments: --request FILE [--output FILE]
int run_predict(std::vector<std::string> arguments);
int run_predict_items(std::vector<std::string> arguments);  // further argument: --request FILE

}  // namespace lockstep

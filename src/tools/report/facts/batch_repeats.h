// Splits a batch into repeats: jobs with the same configuration and different seeds.
#pragma once

#include "tools/report/facts/facts.h"

#include <string>
#include <utility>
#include <vector>

namespace lockstep {

// pairs of name and value
using ChosenParameters = std::vector<std::pair<std::string, std::string>>;

// Splits "sweep:lr=0.1:layers=2" into {"sweep", {{"lr", "0.1"}, {"layers", "2"}}}. A word without
// an ending ":NAME=VALUE" has no parameters.
std::pair<std::string, ChosenParameters> split_choice(const std::string& word);

// Returns the batch with only the jobs that have these parameters. The parameters are removed from
// the jobs, so that jobs with different values of these parameters match. Times and measurements of
// the whole batch are left out, because the jobs of all values shared the machine. Throws Error if
// no job has the parameters. The error lists the existing names or values.
Trial choose_jobs(Trial batch, const ChosenParameters& chosen);

// Returns a trial for each value of the parameter `seed`, in the order of the jobs. choose_jobs()
// makes these trials. Returns the unchanged batch if its jobs do not have several seeds.
std::vector<Trial> by_seed(Trial batch);

}  // namespace lockstep

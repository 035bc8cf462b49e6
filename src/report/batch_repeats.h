// Jobs of one batch as repeats: those that have one configuration, seed by seed.
#pragma once

#include "report/facts.h"

#include <string>
#include <utility>
#include <vector>

namespace lockstep {

using ChosenParameters = std::vector<std::pair<std::string, std::string>>;  // name, value

// "sweep:lr=0.1:layers=2" is {"sweep", {{"lr", "0.1"}, {"layers", "2"}}}; a word without such an
// ending has none.
std::pair<std::string, ChosenParameters> split_choice(const std::string& word);

// The jobs of a batch that have these parameters, which are no longer among theirs, so that they
// match the jobs of another choice. What was measured of the whole batch is left out, and so are
// times: the jobs of all choices shared the machine. Throws Error where no job has them, with the
// names or values that there are.
Trial choose_jobs(Trial batch, const ChosenParameters& chosen);

// A trial for each value of the parameter `seed`, in the order of the jobs, as choose_jobs makes
// them. The batch as it is where its jobs do not have several.
std::vector<Trial> by_seed(Trial batch);

}  // namespace lockstep

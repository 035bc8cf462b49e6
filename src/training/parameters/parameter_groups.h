// Finds the learning rate, the weight decay and the granularity for the update of each parameter.
#pragma once

#include "planning/options/optimizers.h"
#include "planning/options/train_options.h"
#include "planning/plan.h"
#include "training/parameters/model_parameters.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lockstep {

struct ParameterRates {
  double lr_factor = 1;               // factor by which the run's learning rate is multiplied
  std::optional<double> constant_lr;  // a fixed rate that replaces the run's learning rate
  double weight_decay = 0;
  friend bool operator==(const ParameterRates&, const ParameterRates&) = default;
};

// The rates of each trained parameter. A parameter takes its rates from the first entry of
// optimizer.groups that matches one of its names. Rates that this entry does not set come from the
// recipe and the other options. A parameter that no entry matches takes all its rates from the
// recipe and the other options. The constructor throws Error in three cases. First: an entry
// matches neither a trained nor a frozen parameter; the Error suggests similar names. Second: all
// parameters that an entry matches belong to earlier entries. Third: the optimizer is muon, and no
// parameter is a matrix that muon updates.
class ParameterGroups {
 public:
  // frozen: the names of frozen parameters. aliases: the other names of trained parameters.
  ParameterGroups(const TrainOptions& options, const std::vector<Parameter>& trained,
                  const std::vector<Alias>& aliases, const std::vector<std::string>& frozen = {});

  const ParameterRates& of(std::size_t i) const { return rates_[i]; }
  // The smallest part of parameter i that an update must have as a whole: an element, a range or
  // the matrix.
  Granularity granularity(std::size_t i) const { return granularities_[i]; }
  const std::vector<Granularity>& granularities() const { return granularities_; }
  // For each entry of optimizer.groups, in order: the number of trained elements to which the entry
  // applies.
  const std::vector<GroupCount>& counts() const { return counts_; }

 private:
  std::vector<ParameterRates> rates_;
  std::vector<Granularity> granularities_;
  std::vector<GroupCount> counts_;
};

}  // namespace lockstep

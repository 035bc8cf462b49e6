// The learning rate, the weight decay and the granularity with which each parameter is updated.
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
  double lr_factor = 1;               // factor on the run's learning rate
  std::optional<double> constant_lr;  // replaces the run's rate
  double weight_decay = 0;
  friend bool operator==(const ParameterRates&, const ParameterRates&) = default;
};

// The rates of each trained parameter. The first entry of optimizer.groups that matches one of the
// parameter's names counts. The recipe decides the rates that this entry leaves open, and all rates
// of parameters that no entry matches. If an entry matches no parameter, trained or frozen, throws
// Error with similar names. Also throws Error for an entry whose parameters all belong to earlier
// entries.
class ParameterGroups {
 public:
  // frozen: the names of frozen parameters. aliases: further names of trained parameters.
  ParameterGroups(const TrainOptions& options, const std::vector<Parameter>& trained,
                  const std::vector<Alias>& aliases, const std::vector<std::string>& frozen = {});

  const ParameterRates& of(std::size_t i) const { return rates_[i]; }
  // The part of parameter i that an update must see as a whole.
  Granularity granularity(std::size_t i) const { return granularities_[i]; }
  const std::vector<Granularity>& granularities() const { return granularities_; }
  // The number of trained elements of each entry, in the order of the option.
  const std::vector<GroupCount>& counts() const { return counts_; }

 private:
  std::vector<ParameterRates> rates_;
  std::vector<Granularity> granularities_;
  std::vector<GroupCount> counts_;
};

}  // namespace lockstep

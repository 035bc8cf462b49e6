// With which rate, which decay and which granularity each parameter is updated.
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
  double lr_factor = 1;               // of the run's rate
  std::optional<double> constant_lr;  // in place of it
  double weight_decay = 0;
  friend bool operator==(const ParameterRates&, const ParameterRates&) = default;
};

// The rates of each trained parameter. The first entry of optimizer.groups counts that matches one
// of its names. The recipe decides what the entry leaves open, and all rates of parameters that no
// entry matches. Throws Error for an entry that matches no parameter, trained or frozen, with near
// names, and for one whose parameters all belong to entries before it.
class ParameterGroups {
 public:
  // frozen: names. aliases: other names of the trained.
  ParameterGroups(const TrainOptions& options, const std::vector<Parameter>& trained,
                  const std::vector<Alias>& aliases, const std::vector<std::string>& frozen = {});

  const ParameterRates& of(std::size_t i) const { return rates_[i]; }
  // The part of it that an update must see as a whole.
  Granularity granularity(std::size_t i) const { return granularities_[i]; }
  const std::vector<Granularity>& granularities() const { return granularities_; }
  // Trained elements of each entry, in the order of the option.
  const std::vector<GroupCount>& counts() const { return counts_; }

 private:
  std::vector<ParameterRates> rates_;
  std::vector<Granularity> granularities_;
  std::vector<GroupCount> counts_;
};

}  // namespace lockstep

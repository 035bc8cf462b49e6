#include "training/trainer/planned_data.h"

#include "core/base/error.h"
#include "core/base/text/text.h"

namespace lockstep {
namespace {

void check_count(const char* what, std::int64_t planned, std::int64_t now) {
  if (planned == now) return;
  throw Error(cat(what, " is ", now, ", but the run was planned for ", planned),
              "the data changed since, or the recipe's preparation counts otherwise than its data");
}

}  // namespace

DatasetPair planned_data(const TrainerSetup& setup) {
  DatasetPair data = setup.recipe.data();
  const Plan& plan = setup.plan;
  check_count("the number of training samples", plan.train_samples,
              data.train ? data.train->size() : 0);
  if (!data.train) return data;
  check_count("epoch_size() of the training data",
              plan.epoch_size > 0 ? plan.epoch_size : plan.train_samples, data.train->epoch_size());
  check_count("rows_per_sample() of the training data", plan.batch.rows_per_sample,
              data.train->rows_per_sample());
  if (!setup.measure_only)
    check_count("the number of validation samples", plan.valid_samples,
                data.valid ? data.valid->size() : 0);
  return data;
}

}  // namespace lockstep

// The names that LightGBM and scripts around it use for the recipe's options. LightGBM's names and
// aliases are those of its documentation (Parameters.rst).
#include "recipes/gbdt/options/gbdt_options.h"

namespace lockstep::gbdt {
namespace {

using Synonyms = std::vector<Synonym>;

Synonyms of_trees() {
  return {{.names = {"num_leaf", "max_leaves", "max_leaf", "max_leaf_nodes"},
           .from = "LightGBM",
           .ours = "num_leaves={value}"},
          {.names = {"num_iterations", "num_iteration", "n_iter", "num_tree", "num_trees",
                     "num_round", "num_rounds", "nrounds", "num_boost_round", "max_iter"},
           .from = "LightGBM",
           .ours = "n_estimators={value}"},
          {.names = {"shrinkage_rate", "eta"}, .from = "LightGBM", .ours = "learning_rate={value}"},
          {.names = {"min_data_in_leaf", "min_data_per_leaf", "min_data", "min_samples_leaf"},
           .from = "LightGBM",
           .ours = "min_child_samples={value}"},
          {.names = {"bagging_fraction", "sub_row", "bagging"},
           .from = "LightGBM",
           .ours = "subsample={value}"},
          {.names = {"bagging_freq"}, .from = "LightGBM", .ours = "subsample_freq={value}"},
          {.names = {"feature_fraction", "sub_feature"},
           .from = "LightGBM",
           .ours = "colsample_bytree={value}"},
          {.names = {"unbalance", "unbalanced_sets"},
           .from = "LightGBM",
           .ours = "is_unbalance={value}"},
          {.names = {"early_stopping_round", "early_stopping_rounds", "n_iter_no_change"},
           .from = "LightGBM",
           .ours = "early_stopping={value}"},
          {.names = {"objective_type", "app", "application", "loss"},
           .from = "LightGBM",
           .ours = "objective={value}"},
          {.names = {"random_seed", "random_state"}, .from = "LightGBM", .ours = "seed={value}"}};
}

Synonyms of_devices() {
  return {{.names = {"num_threads", "num_thread", "nthread", "nthreads", "n_jobs"},
           .from = "LightGBM",
           .ours = "gbdt.threads={value}"},
          {.names = {"device_type", "device"},
           .from = "LightGBM",
           .ours = "gbdt.device={kind} gbdt.device_id={index}",
           .ours_when_off = "gbdt.device=cpu",
           .ours_in_batch = "gbdt.device={kind} --devices {index}",
           .zero_is_index = true},
          {.names = {"gpu"},
           .from = "scripts",
           .ours = "gbdt.device={kind} gbdt.device_id={index}",
           .ours_when_off = "gbdt.device=cpu",
           .ours_in_batch = "gbdt.device={kind} --devices {index}",
           .zero_is_index = true},
          {.names = {"use_gpu"},
           .from = "scripts",
           .ours = "gbdt.device=gpu",
           .ours_when_off = "gbdt.device=cpu"},
          {.names = {"gpu_device_id"},
           .from = "LightGBM",
           .ours = "gbdt.device_id={value}",
           .ours_in_batch = "--devices {index}",
           .note = "of gbdt.device=gpu; a batch takes all GPUs by itself; --devices chooses some"},
          {.names = {"gpu_platform_id"}, .from = "LightGBM", .ours = "gbdt.gpu_platform={value}"},
          {.names = {"gpu_use_dp"},
           .from = "LightGBM",
           .ours = "gbdt.double_precision={value}",
           .note = "of gbdt.device=gpu"},
          {.names = {"num_gpu"},
           .from = "LightGBM",
           .ours = "gbdt.num_gpu={value}",
           .note = "at most 1; a batch takes all GPUs by itself"},
          {.names = {"workers", "num_workers", "max_workers"},
           .from = "scripts",
           .ours = "--slots {value}",
           .note = "--slots of lockstep batch gbdt; without it, cores and GPUs decide"}};
}

Synonyms of_windows() {
  return {{.names = {"data_dir", "data_path", "data", "train_data"},
           .from = "scripts",
           .ours = "data.path={value}"},
          {.names = {"symbols_file", "tickers"},
           .from = "scripts",
           .ours = "symbols={value} data.path=DIR",
           .note = "DIR has a file SYMBOL.csv of prices for each"},
          {.names = {"start_date"}, .from = "scripts", .ours = "start={value}"},
          {.names = {"end_date"},
           .from = "scripts",
           .ours = "end={value}",
           .note = "the day after the last"},
          {.names = {"forecast_horizon", "teacher_forecast_horizon"},
           .from = "scripts",
           .ours = "horizon={value}"},
          {.names = {"valid_share", "validation_fraction", "val_split"},
           .from = "scripts",
           .ours = "split.valid_share={value}"}};
}

// Names that scripts around LightGBM use.
Synonyms of_scripts() {
  return {
      {.names = {"teacher_num_leaves"}, .from = "scripts", .ours = "num_leaves={value}"},
      {.names = {"teacher_n_estimators"}, .from = "scripts", .ours = "n_estimators={value}"},
      {.names = {"lr", "teacher_learning_rate"},
       .from = "scripts",
       .ours = "learning_rate={value}"},
      {.names = {"teacher_min_child_samples"},
       .from = "scripts",
       .ours = "min_child_samples={value}"},
      {.names = {"teacher_subsample"}, .from = "scripts", .ours = "subsample={value}"},
      {.names = {"teacher_subsample_freq"}, .from = "scripts", .ours = "subsample_freq={value}"},
      {.names = {"teacher_colsample_bytree"},
       .from = "scripts",
       .ours = "colsample_bytree={value}"},
      {.names = {"teacher_device"},
       .from = "scripts",
       .ours = "gbdt.device={kind} gbdt.device_id={index}",
       .ours_when_off = "gbdt.device=cpu",
       .ours_in_batch = "gbdt.device={kind} --devices {index}",
       .zero_is_index = true},
      {.names = {"gpu_id", "device_id", "teacher_gpu_device_id"},
       .from = "scripts",
       .ours = "gbdt.device_id={value}",
       .ours_in_batch = "--devices {index}",
       .note = "of gbdt.device=gpu"},
      {.names = {"teacher_gpu_platform_id"},
       .from = "scripts",
       .ours = "gbdt.gpu_platform={value}"},
      {.names = {"teacher_gpu_use_dp"}, .from = "scripts", .ours = "gbdt.double_precision={value}"},
      {.names = {"num_gpus", "gpus", "n_gpu", "n_gpus", "ngpus"},
       .from = "scripts",
       .ours = "",
       .note = "with gbdt.device=gpu, a batch takes all GPUs by itself; its flag --devices 0,1 "
               "chooses some"},
      {.names = {"skip_fetch", "no_fetch"},
       .from = "scripts",
       .ours = "",
       .note = "nothing is fetched: data.path names your files"},
      {.names = {"enable_telemetry", "telemetry"},
       .from = "scripts",
       .ours = "",
       .note = "a batch watches its GPUs by itself, and `lockstep monitor --csv FILE` writes their "
               "values"},
      {.names = {"teacher_max_depth"}, .from = "scripts", .ours = "max_depth={value}"},
      {.names = {"teacher_early_stopping_rounds"},
       .from = "scripts",
       .ours = "early_stopping={value}"},
      {.names = {"teacher_is_unbalance"}, .from = "scripts", .ours = "is_unbalance={value}"},
      {.names = {"eval_metric"},
       .from = "scikit-learn, XGBoost",
       .ours = "params.metric={value}",
       .values = {{"logloss", "binary_logloss"},
                  {"error", "binary_error"},
                  {"mlogloss", "multi_logloss"},
                  {"merror", "multi_error"},
                  {"aucpr", "average_precision"}}},
      {.names = {"class_weight"},
       .from = "scikit-learn",
       .ours = "is_unbalance=true",
       .ours_when_off = "is_unbalance=false",
       .note = "true is balanced; params.scale_pos_weight=W weights the positive class"}};
}

// Parameters of LightGBM for which the recipe has no option.
Synonyms of_params() {
  const std::vector<std::vector<std::string>> further = {
      {"lambda_l1", "reg_alpha", "l1_regularization"},
      {"lambda_l2", "reg_lambda", "lambda", "l2_regularization"},
      {"min_gain_to_split", "min_split_gain"},
      {"min_sum_hessian_in_leaf", "min_sum_hessian_per_leaf", "min_sum_hessian", "min_hessian",
       "min_child_weight"},
      {"max_bin", "max_bins"},
      {"boosting", "boosting_type", "boost"},
      {"data_sample_strategy"},
      {"top_rate"},
      {"other_rate"},
      {"drop_rate", "rate_drop"},
      {"extra_trees", "extra_tree"},
      {"feature_fraction_bynode", "sub_feature_bynode", "colsample_bynode"},
      {"max_delta_step", "max_tree_output", "max_leaf_output"},
      {"path_smooth"},
      {"linear_tree", "linear_trees"},
      {"monotone_constraints", "mc", "monotone_constraint", "monotonic_cst"},
      {"scale_pos_weight"},
      {"metric", "metrics", "metric_types"},
      {"min_data_in_bin"},
      {"bin_construct_sample_cnt", "subsample_for_bin"},
      {"force_col_wise"},
      {"force_row_wise"},
      {"deterministic"}};
  Synonyms all;
  for (const std::vector<std::string>& names : further)
    all.push_back(
        {.names = names, .from = "LightGBM", .ours = "params." + names.front() + "={value}"});
  return all;
}

}  // namespace

std::vector<Synonym> synonyms() {
  Synonyms all = of_trees();
  for (const Synonyms& part : {of_devices(), of_windows(), of_scripts(), of_params()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace lockstep::gbdt

// Declares every option of the engine. Each recipe adds a table of its own options.
#pragma once

#include "core/config/options.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace lockstep {

enum class Precision { automatic, fp32, bf16, fp16 };
enum class ReducePrecision { fp32, bf16 };
enum class OptimizerKind { adamw, adam, sgd, muon };
enum class MuonAdjustLr { match_rms_adamw, original };
enum class ScaleLr { none, linear, sqrt };
enum class TimeUnit { steps, epochs };
enum class GraphMode { automatic, off };
enum class Recompute { off, blocks, automatic };
enum class OnNan { stop, skip };
enum class NormStatistics { rank, sync, frozen };
enum class NormKeep { first, mean };
enum class InitCheckpoint { newest, best };

template <>
struct EnumNames<Precision> {
  static constexpr std::pair<Precision, const char*> value[] = {{Precision::automatic, "auto"},
                                                                {Precision::fp32, "fp32"},
                                                                {Precision::bf16, "bf16"},
                                                                {Precision::fp16, "fp16"}};
};
template <>
struct EnumNames<ReducePrecision> {
  static constexpr std::pair<ReducePrecision, const char*> value[] = {
      {ReducePrecision::fp32, "fp32"}, {ReducePrecision::bf16, "bf16"}};
};
template <>
struct EnumNames<OptimizerKind> {
  static constexpr std::pair<OptimizerKind, const char*> value[] = {{OptimizerKind::adamw, "adamw"},
                                                                    {OptimizerKind::adam, "adam"},
                                                                    {OptimizerKind::sgd, "sgd"},
                                                                    {OptimizerKind::muon, "muon"}};
};
template <>
struct EnumNames<MuonAdjustLr> {
  static constexpr std::pair<MuonAdjustLr, const char*> value[] = {
      {MuonAdjustLr::match_rms_adamw, "match_rms_adamw"}, {MuonAdjustLr::original, "original"}};
};
template <>
struct EnumNames<ScaleLr> {
  static constexpr std::pair<ScaleLr, const char*> value[] = {
      {ScaleLr::none, "none"}, {ScaleLr::linear, "linear"}, {ScaleLr::sqrt, "sqrt"}};
};
template <>
struct EnumNames<TimeUnit> {
  static constexpr std::pair<TimeUnit, const char*> value[] = {{TimeUnit::steps, "steps"},
                                                               {TimeUnit::epochs, "epochs"}};
};

template <>
struct EnumNames<GraphMode> {
  static constexpr std::pair<GraphMode, const char*> value[] = {{GraphMode::automatic, "auto"},
                                                                {GraphMode::off, "off"}};
};

template <>
struct EnumNames<Recompute> {
  static constexpr std::pair<Recompute, const char*> value[] = {
      {Recompute::off, "off"}, {Recompute::blocks, "blocks"}, {Recompute::automatic, "auto"}};
};

template <>
struct EnumNames<OnNan> {
  static constexpr std::pair<OnNan, const char*> value[] = {{OnNan::stop, "stop"},
                                                            {OnNan::skip, "skip"}};
};

template <>
struct EnumNames<NormStatistics> {
  static constexpr std::pair<NormStatistics, const char*> value[] = {
      {NormStatistics::rank, "rank"},
      {NormStatistics::sync, "sync"},
      {NormStatistics::frozen, "frozen"}};
};

template <>
struct EnumNames<InitCheckpoint> {
  static constexpr std::pair<InitCheckpoint, const char*> value[] = {
      {InitCheckpoint::newest, "newest"}, {InitCheckpoint::best, "best"}};
};

template <>
struct EnumNames<NormKeep> {
  static constexpr std::pair<NormKeep, const char*> value[] = {{NormKeep::first, "first"},
                                                               {NormKeep::mean, "mean"}};
};

// The value of batch.micro for `auto`: the micro-batch is tried out when the run starts.
inline constexpr std::int64_t micro_auto = -1;

// The sizes of the batch, in samples or, for `accumulation`, in micro-batches.
struct BatchSizes {
  std::int64_t global = 0, micro = 0, accumulation = 0;  // 0 = chosen by the plan
  std::string micro_changes{};  // STEP:SAMPLES,…; see planning/batch/micro_batch.h
};

struct TrainOptions {
  TrainOptions();  // fills `table`

  std::int64_t seed = 42;
  // auto is replaced before a run is recorded; see planning/precision.h
  Precision precision = Precision::automatic;
  std::string precision_why;  // why auto chose this precision; not an option
  ReducePrecision reduce_precision = ReducePrecision::fp32;
  std::int64_t reduce_bucket_mb = 0;  // 0 = chosen by the measured speed of the links
  bool shard_optimizer = false;
  bool exact = false;
  bool deterministic = false;
  GraphMode graph = GraphMode::automatic;
  std::int64_t graph_shapes = 8;
  OnNan on_nan = OnNan::stop;
  // How many times in a row a failed run restarts without progress in between.
  std::int64_t restart = 0;

  BatchSizes batch;

  struct {
    std::vector<std::string> freeze;  // patterns over parameter names; see parameter_rules.h
  } train;

  // The source of the first weights. If `from` is empty, the recipe makes them.
  struct {
    std::string from;
    InitCheckpoint checkpoint = InitCheckpoint::newest;  // which checkpoint, if `from` is a run
    bool average = true;  // use the averaged weights if a checkpoint has them
    std::vector<std::string> map, missing, unexpected;
  } init;

  struct {
    Recompute recompute = Recompute::off;
  } memory;

  struct {
    NormStatistics statistics = NormStatistics::rank;
    std::int64_t rows = 0;  // rows over which sync computes statistics; 0 = ranks * micro-batch
    NormKeep keep = NormKeep::first;
  } norm;

  struct {
    bool tf32 = false;
  } matmul;

  struct {
    OptimizerKind kind = OptimizerKind::adamw;
    double lr = 1e-3, weight_decay = 0.01, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, momentum = 0.9;
    bool nesterov = false;
    // Options of muon. The parameters that muon does not update are updated by adamw, with the
    // options of adamw.
    double muon_momentum = 0.95, adamw_lr = 0;  // adamw_lr: 0 = lr
    bool muon_nesterov = true;
    MuonAdjustLr muon_adjust_lr = MuonAdjustLr::match_rms_adamw;
    bool decay_norms_and_biases = false;
    double clip = 1.0;  // largest gradient norm; 0 = off
    ScaleLr scale_lr = ScaleLr::none;
    std::int64_t base_batch = 0;  // the global batch for which `lr` was chosen; scale_lr needs it
    std::vector<std::string> groups;  // see planning/options/parameter_rules.h
  } optimizer;

  struct {
    double decay = 0;      // 0 = off
    bool evaluate = true;  // evaluate with the averaged weights
  } ema;

  struct {
    std::string kind = "cosine";      // the name of a kind; see planning/schedule/schedule.h
    TimeUnit unit = TimeUnit::steps;  // the unit of warmup and of parameters that are lengths
    double warmup = 0;
    double min_lr = 0;  // the lowest rate of decaying kinds
    // The parameters of all kinds, by name. `table` holds references to these values. So assign to
    // single values, and never replace the whole map.
    std::map<std::string, double> parameters;
  } schedule;

  struct {
    // steps between two comparisons of the ranks' weights; 0 = never
    std::int64_t weights_every = 1000;
    // try a plugin's recipe on a few samples before the first step, as `lockstep check` does
    bool contract = true;
  } check;

  struct {
    std::int64_t steps = 0;  // 0 = stop.epochs alone limits the run
    double epochs = 0;
    // evaluations without a better metric, after which the run stops; 0 = no limit
    std::int64_t patience = 0;
    double patience_epochs = 0;
    Duration after{}, budget{}, reserve{};
    Duration hang_after{60};
    Duration grace{};  // 0 = derived from the measured times of the run
  } stop;

  struct {
    std::int64_t threads = -1;  // loader threads per rank; -1 = found by measurement
    std::int64_t prefetch = 2;  // steps that are loaded ahead
    bool shuffle = true;
    bool drop_last = false;
    bool group_by_length = false;
  } data;

  struct {
    std::int64_t every_steps = 0;
    double every_epochs = 0;
    Duration every{600};
    std::int64_t keep = 4;
    Duration keep_every{};  // additionally keeps one checkpoint per this interval; 0 = none
    bool keep_best = true;
    std::string best_metric;  // if empty, the recipe's first metric
  } checkpoint;

  struct {
    std::int64_t every_steps = 0;  // if this and every_epochs are 0, evaluates only at the end
    double every_epochs = 0;
    std::int64_t batch = 0;  // samples that a rank evaluates at once; 0 = micro-batch
    bool at_start = false;
    std::int64_t keep = 4;  // how many evaluations keep their tables and pictures; 0 = none
    std::int64_t table_rows = 100'000;
    std::int64_t pictures = 64;
  } eval;

  struct {
    std::string root = "runs";
    std::string cache;              // if empty, .cache in `root`
    std::vector<std::string> tags;  // words by which users can find the run
    std::string note;
    bool record_samples = false;
  } run;
  struct {
    std::int64_t every_steps = 1;
    std::int64_t limit_mb = 64;  // size limit of each rank's log; 0 = none
    Duration gpu_every{1};       // 0 = no gpu.csv
    bool tensorboard = false;
  } log;
  struct {
    std::int64_t first_step = 0;  // 0 = no profile
    std::int64_t steps = 3;
  } profile;
  std::string preset;

  OptionTable table;
};

}  // namespace lockstep

// Names that other programs use for the engine's options. The programs are PyTorch 2, Lightning 2,
// Transformers 4 and 5, Accelerate, DeepSpeed, nnU-Net 2, and scripts based on them.
#include "planning/options/synonyms.h"

namespace lockstep {
namespace {

using Synonyms = std::vector<Synonym>;

const Synonyms& batch_synonyms() {
  static const Synonyms all = {
      {.names = {"batch_size", "batchsize", "batch", "per_device_train_batch_size",
                 "batch_size_per_gpu", "per_gpu_train_batch_size", "micro_batch_size",
                 "train_micro_batch_size_per_gpu", "samples_per_gpu"},
       .from = "PyTorch, Lightning, Transformers",
       .ours = "batch.global={total} batch.micro={value}",
       .note = "with one process per GPU, it is the batch of each GPU; with nn.DataParallel it "
               "is of all GPUs, as batch.global is; batch.micro may be left out"},
      {.names = {"global_batch_size", "train_batch_size", "total_batch_size",
                 "effective_batch_size", "effective_batch", "global_batch", "total_batch"},
       .from = "DeepSpeed, Megatron",
       .ours = "batch.global={value}"},
      {.names = {"gradient_accumulation_steps", "accumulate_grad_batches", "gradient_accumulation",
                 "grad_accum_steps", "grad_accum", "accumulation_steps", "accumulation",
                 "accum_iter"},
       .from = "Transformers, Lightning",
       .ours = "batch.accumulation={value}"},
      {.names = {"per_device_eval_batch_size", "eval_batch_size", "val_batch_size",
                 "valid_batch_size"},
       .from = "Transformers",
       .ours = "eval.batch={value}"},
      {.names = {"gradient_checkpointing", "activation_checkpointing", "use_checkpoint"},
       .from = "Transformers",
       .ours = "memory.recompute=blocks",
       .ours_when_off = "memory.recompute=off"},
      {.names = {"sync_batchnorm", "sync_bn", "syncbn"},
       .from = "Lightning",
       .ours = "norm.statistics=sync",
       .ours_when_off = "norm.statistics=rank"}};
  return all;
}

// Classes of torch.optim.lr_scheduler and names in Transformers, in lower case.
std::vector<std::pair<std::string, std::string>> schedule_words() {
  return {{"cosine_with_restarts*", "cosine_restarts"},
          {"cosineannealingwarmrestarts", "cosine_restarts"},
          {"cosineannealing*", "cosine"},
          {"cosine_annealing*", "cosine"},
          {"get_cosine_schedule*", "cosine"},
          {"linearlr", "linear"},
          {"get_linear_schedule*", "linear"},
          {"polynomiallr", "polynomial"},
          {"poly", "polynomial"},
          {"polylr*", "polynomial"},
          {"cosinelr*", "cosine"},
          {"onecycle*", "one_cycle"},
          {"steplr", "step"},
          {"constantlr", "constant"},
          {"constant_with_warmup", "constant"}};
}

const Synonyms& optimizer_synonyms() {
  static const Synonyms all = {
      {.names = {"learning_rate", "lr", "base_lr", "initial_lr", "max_lr"},
       .from = "PyTorch, Transformers, nnU-Net",
       .ours = "optimizer.lr={value}"},
      {.names = {"optim", "optimizer_type", "optimizer_name"},
       .from = "Transformers",
       .ours = "optimizer.kind={value}",
       .values = {{"adamw*", "adamw"}, {"adam", "adam"}, {"sgd", "sgd"}, {"muon", "muon"}},
       .note = {},
       .value_notes = {{"muon",
                        "torch.optim.Muon has other defaults: muon_adjust_lr=original, "
                        "weight_decay=0.1, lr=1e-3"}}},
      {.names = {"adjust_lr_fn"},
       .from = "PyTorch",
       .ours = "optimizer.muon_adjust_lr={value}",
       .values = {{"none", "original"}},
       .note = "of optimizer.kind=muon; the default there is original, here match_rms_adamw"},
      {.names = {"weight_decay", "wd"},
       .from = "PyTorch, Transformers",
       .ours = "optimizer.weight_decay={value}"},
      {.names = {"momentum"},
       .from = "PyTorch",
       .ours = "optimizer.momentum={value}",
       .note = "of optimizer.kind=sgd; muon's is optimizer.muon_momentum"},
      {.names = {"nesterov"},
       .from = "PyTorch",
       .ours = "optimizer.nesterov={value}",
       .note = "of optimizer.kind=sgd; muon's is optimizer.muon_nesterov"},
      {.names = {"adam_beta1", "beta1"}, .from = "Transformers", .ours = "optimizer.beta1={value}"},
      {.names = {"adam_beta2", "beta2"}, .from = "Transformers", .ours = "optimizer.beta2={value}"},
      {.names = {"adam_epsilon", "eps"},
       .from = "PyTorch, Transformers",
       .ours = "optimizer.eps={value}"},
      {.names = {"max_grad_norm", "gradient_clip_val", "gradient_clip", "gradient_clipping",
                 "grad_clip", "clip_grad", "grad_norm_clip"},
       .from = "Transformers, Lightning, DeepSpeed",
       .ours = "optimizer.clip={value}"},
      {.names = {"lr_scheduler_type", "lr_scheduler", "lr_schedule", "scheduler"},
       .from = "Transformers",
       .ours = "schedule.kind={value}",
       .values = schedule_words()},
      {.names = {"step_size", "lr_step_size"},
       .from = "PyTorch",
       .ours = "schedule.kind=step schedule.unit=epochs schedule.every={value}"},
      {.names = {"warmup_steps", "num_warmup_steps", "warmup_iters"},
       .from = "Transformers",
       .ours = "schedule.warmup={value}"},
      {.names = {"warmup_epochs"},
       .from = "scripts",
       .ours = "schedule.unit=epochs schedule.warmup={value}"},
      {.names = {"min_lr", "eta_min"}, .from = "PyTorch", .ours = "schedule.min_lr={value}"},
      {.names = {"t_0"},
       .from = "PyTorch",
       .ours = "schedule.kind=cosine_restarts schedule.unit=epochs schedule.period={value}"},
      {.names = {"t_mult"}, .from = "PyTorch", .ours = "schedule.period_mult={value}"},
      {.names = {"ema_decay"}, .from = "timm", .ours = "ema.decay={value}"}};
  return all;
}

const Synonyms& length_synonyms() {
  static const Synonyms all = {
      {.names = {"epochs", "num_epochs", "max_epochs", "num_train_epochs", "n_epochs", "epoch_num",
                 "total_epochs", "epoch", "num_epoch", "n_epoch", "max_epoch", "nb_epochs"},
       .from = "Lightning, Transformers",
       .ours = "stop.epochs={value}"},
      {.names = {"max_steps", "num_steps", "max_iters", "num_iterations", "train_steps",
                 "num_training_steps", "total_steps"},
       .from = "Lightning, Transformers",
       .ours = "stop.steps={value}",
       .note = "steps of the optimizer"},
      {.names = {"patience", "early_stopping_patience"},
       .from = "Lightning, Transformers",
       .ours = "stop.patience={value}"},
      {.names = {"nccl_timeout", "ddp_timeout", "dist_timeout"},
       .from = "Transformers, scripts",
       .ours = "stop.hang_after={value}",
       .note = "of a rank that shows no sign of life"},
      {.names = {"max_time", "time_limit"}, .from = "Lightning", .ours = "stop.after={duration}"},
      {.names = {"num_workers", "dataloader_num_workers", "num_workers_per_gpu", "workers_per_gpu",
                 "workers", "n_workers", "num_threads"},
       .from = "PyTorch, Transformers",
       .ours = "data.threads={value}",
       .note = "threads of each device; left out, their number is found by measurement"},
      {.names = {"prefetch_factor", "dataloader_prefetch_factor"},
       .from = "PyTorch",
       .ours = "data.prefetch={value}",
       .note = "steps by which loading runs ahead, not batches of each worker"},
      {.names = {"pin_memory", "dataloader_pin_memory", "persistent_workers",
                 "dataloader_persistent_workers", "non_blocking"},
       .from = "PyTorch, Transformers",
       .ours = "",
       .note = "loader threads always stay, and copies always use pinned memory"},
      {.names = {"shuffle"}, .from = "PyTorch", .ours = "data.shuffle={value}"},
      {.names = {"drop_last", "dataloader_drop_last"},
       .from = "PyTorch",
       .ours = "data.drop_last={value}"},
      {.names = {"group_by_length"},
       .from = "Transformers",
       .ours = "data.group_by_length={value}"},
      {.names = {"random_seed", "manual_seed", "random_state", "seed_everything"},
       .from = "PyTorch, Lightning",
       .ours = "seed={value}"}};
  return all;
}

const Synonyms& command_synonyms() {
  static const Synonyms all = {
      {.names = {"mode"},
       .from = "scripts",
       .ours = "",
       .value_notes = {{"train", "train, evaluate and predict are commands"}},
       .commands = {{"infer*", "predict"},
                    {"pred*", "predict"},
                    {"eval*", "evaluate"},
                    {"val*", "evaluate"},
                    {"test*", "evaluate"}}},
      {.names = {"do_train", "do_eval", "do_predict", "do_test"},
       .from = "Transformers",
       .ours = "",
       .note =
           "train, evaluate and predict are commands; --then evaluate and --then predict follow "
           "a training"}};
  return all;
}

const Synonyms& checkpoint_synonyms() {
  static const Synonyms all = {
      {.names = {"save_total_limit", "save_top_k"},
       .from = "Transformers, Lightning",
       .ours = "checkpoint.keep={value}",
       .note = "the newest; the best stays too"},
      {.names = {"max_checkpoints", "keep_checkpoints", "num_checkpoints", "keep_last_n"},
       .from = "scripts",
       .ours = "checkpoint.keep={value}",
       .note = "the newest; the best stays too"},
      {.names = {"checkpoint_interval_minutes", "save_interval_minutes"},
       .from = "scripts",
       .ours = "checkpoint.every={value}m"},
      {.names = {"save_steps", "every_n_train_steps", "checkpoint_steps", "save_interval",
                 "checkpoint_interval", "checkpoint_every_steps", "checkpoint_every_n_steps",
                 "save_every_steps", "save_every_n_steps", "save_checkpoint_steps",
                 "save_checkpoint_every_n_steps"},
       .from = "Transformers, Lightning",
       .ours = "checkpoint.every_steps={value}"},
      {.names = {"checkpoint_every", "checkpoint_freq", "checkpoint_frequency", "ckpt_every",
                 "ckpt_freq", "ckpt_interval", "save_checkpoint_every", "save_freq",
                 "save_frequency"},
       .from = "scripts",
       .ours = "checkpoint.every_steps={value}",
       .note = "steps; checkpoint.every_epochs counts epochs, and checkpoint.every=10m time"},
      {.names = {"save_every", "every_n_epochs", "save_epochs"},
       .from = "Lightning, nnU-Net",
       .ours = "checkpoint.every_epochs={value}",
       .note = "epochs; checkpoint.every_steps counts steps"},
      {.names = {"metric_for_best_model", "monitor"},
       .from = "Transformers, Lightning",
       .ours = "checkpoint.best_metric={value}"},
      {.names = {"eval_steps", "eval_interval", "eval_every_steps", "eval_every_n_steps"},
       .from = "Transformers, scripts",
       .ours = "eval.every_steps={value}"},
      {.names = {"val_interval", "val_every", "eval_every", "eval_freq", "evaluate_every"},
       .from = "MONAI, scripts",
       .ours = "eval.every_steps={value}",
       .note = "steps; eval.every_epochs counts epochs"},
      {.names = {"check_val_every_n_epoch", "eval_epochs"},
       .from = "Lightning",
       .ours = "eval.every_epochs={value}"},
      {.names = {"pretrained", "pretrained_weights", "pretrained_path", "init_from", "checkpoint",
                 "checkpoint_path", "ckpt", "load_from", "weights"},
       .from = "torchvision, timm, nnU-Net",
       .ours = "init.from={path}",
       .none_when_off = true,
       .note = "a file or folder of weights, or a run; nothing is downloaded: lockstep help "
               "pretrained weights"},
      {.names = {"auto_resume", "resume", "resume_from_checkpoint", "continue_training",
                 "ckpt_path"},
       .from = "Transformers, Lightning, nnU-Net",
       .ours = "--resume auto",
       .none_when_off = true,
       .note = "or lockstep resume RUN"},
      {.names = {"output_dir", "default_root_dir", "save_dir", "checkpoint_dir", "out_dir",
                 "log_dir"},
       .from = "Transformers, Lightning",
       .ours = "run.root={value}",
       .note = "each run is a folder in it"},
      {.names = {"run_name", "exp_name", "experiment_name"},
       .from = "Transformers",
       .ours = "--name {value}"},
      {.names = {"logging_steps", "log_every_n_steps", "log_interval", "log_every",
                 "log_every_steps", "log_freq", "log_steps", "logging_freq", "print_every",
                 "print_freq"},
       .from = "Transformers, Lightning, scripts",
       .ours = "log.every_steps={value}"}};
  return all;
}

std::vector<std::pair<std::string, std::string>> precision_words() {
  return {{"true", "auto"},  {"float16", "fp16"},  {"half", "fp16"},   {"16", "fp16"},
          {"16-*", "fp16"},  {"bfloat16", "bf16"}, {"bf16-*", "bf16"}, {"float32", "fp32"},
          {"float", "fp32"}, {"32", "fp32"},       {"32-*", "fp32"},   {"no", "fp32"},
          {"mixed", "auto"}};
}

const Synonyms& device_synonyms() {
  static const Synonyms all = {
      {.names = {"fp16", "half", "use_fp16"},
       .from = "Transformers",
       .ours = "precision=fp16",
       .ours_when_off = "precision=fp32"},
      {.names = {"bf16", "use_bf16"},
       .from = "Transformers",
       .ours = "precision=bf16",
       .ours_when_off = "precision=fp32"},
      {.names = {"amp", "use_amp", "autocast"},
       .from = "PyTorch",
       .ours = "precision=auto",
       .ours_when_off = "precision=fp32",
       .note = "the default: bf16, or fp16 where the GPU has no bf16"},
      {.names = {"mixed_precision", "dtype", "torch_dtype"},
       .from = "Accelerate",
       .ours = "precision={value}",
       .ours_when_off = "precision=fp32",
       .values = precision_words()},
      {.names = {"tf32", "allow_tf32"},
       .from = "PyTorch, Transformers",
       .ours = "matmul.tf32={value}"},
      {.names = {"device", "accelerator", "gpu"},
       .from = "PyTorch, Lightning",
       .ours = "--devices {device}",
       .ours_when_off = "--devices cpu",
       .zero_is_index = true,
       .note = "all GPUs are the default"},
      {.names = {"use_multi_gpu", "multi_gpu", "use_ddp", "ddp", "distributed"},
       .from = "scripts",
       .ours = "--devices all",
       .ours_when_off = "--devices 0",
       .means_several = true,
       .note = "all GPUs are the default"},
      {.names = {"data_parallel", "dataparallel", "use_data_parallel", "use_dp"},
       .from = "scripts with nn.DataParallel",
       .ours = "--devices all",
       .ours_when_off = "--devices 0",
       .means_several = true,
       .shares_batch = true,
       .note = "all GPUs are the default; a batch size beside it is of all of them"},
      {.names = {"strategy", "backend", "dist_backend", "distributed_backend",
                 "find_unused_parameters", "ddp_find_unused_parameters"},
       .from = "PyTorch, Lightning, Transformers",
       .ours = "",
       .note = "GPUs communicate through NCCL and CPU ranks through Gloo, one rank each; a "
               "parameter without a gradient holds up no rank"},
      {.names = {"master_port", "master_addr", "dist_url", "local_rank", "rank", "init_method"},
       .from = "torchrun, scripts",
       .ours = "",
       .note = "the ranks of one machine find one another"},
      {.names = {"use_cuda", "cuda"},
       .from = "PyTorch",
       .ours = "--devices all",
       .ours_when_off = "--devices cpu",
       .note = "all GPUs are the default"},
      {.names = {"devices", "gpus", "num_gpus", "n_gpu", "n_gpus", "ngpus", "nproc_per_node",
                 "num_processes", "world_size", "num_replicas"},
       .from = "Lightning, torchrun, Accelerate, nnU-Net",
       .ours = "--devices {first}",
       .note = "all GPUs are the default"},
      {.names = {"gpu_id", "gpu_ids", "gpu_device_id", "device_id", "device_ids",
                 "cuda_visible_devices"},
       .from = "scripts",
       .ours = "--devices {device}"}};
  return all;
}

}  // namespace

std::vector<Synonym> engine_synonyms() {
  Synonyms all;
  for (const Synonyms* part : {&batch_synonyms(), &optimizer_synonyms(), &length_synonyms(),
                               &command_synonyms(), &checkpoint_synonyms(), &device_synonyms()})
    all.insert(all.end(), part->begin(), part->end());
  return all;
}

}  // namespace lockstep

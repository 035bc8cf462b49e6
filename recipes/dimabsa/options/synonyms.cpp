// The names that other programs use for the dimabsa recipe's options.
#include "recipes/dimabsa/options/dimabsa_options.h"

namespace lockstep::dimabsa {

std::vector<Synonym> synonyms() {
  return {
      {.names = {"val_split", "valid_split", "validation_split", "val_ratio", "val_fraction"},
       .from = "Keras, scripts",
       .ours = "data.valid_share={value}"},
      {.names = {"batch_size", "batchsize", "batch", "per_device_train_batch_size",
                 "batch_size_per_gpu", "per_gpu_train_batch_size", "micro_batch_size",
                 "train_micro_batch_size_per_gpu", "samples_per_gpu"},
       .from = "the shared task's baseline, Transformers",
       .ours = "batch.global={total}",
       .note = "sentences of all devices; batch.micro counts questions to the model, of which a "
               "sentence has several"},
      {.names = {"gradient_accumulation_steps", "accumulate_grad_batches", "gradient_accumulation",
                 "grad_accum_steps", "grad_accum", "accumulation_steps", "accum_iter"},
       .from = "Transformers, Lightning",
       .ours = "",
       .note = "it follows from batch.global and the memory"},
      {.names = {"data_dir", "data_path", "dataset", "train_file", "train_data"},
       .from = "scripts",
       .ours = "data.path={value}"},
      {.names = {"validation_file", "valid_file", "dev_file"},
       .from = "Transformers",
       .ours = "data.valid_path={value}"},
      {.names = {"bert_model_type", "bert_model", "model_name", "model_name_or_path", "model_type"},
       .from = "the shared task's baseline, Transformers",
       .ours = "model.path={path}",
       .note = "a folder of the model; nothing is downloaded"},
      {.names = {"max_length", "max_len", "max_seq_length"},
       .from = "Transformers",
       .ours = "data.cut={value}",
       .note = "pieces of a text"},
      {.names = {"learning_rate1", "bert_lr", "encoder_lr"},
       .from = "the shared task's baseline",
       .ours = "model.encoder_rate={value}/optimizer.lr",
       .note = "of the encoder, a multiple of optimizer.lr"},
      {.names = {"learning_rate2", "head_lr"},
       .from = "the shared task's baseline",
       .ours = "optimizer.lr={value}",
       .note = "of the heads; model.encoder_rate times that for the encoder"},
      {.names = {"inference_beta", "beta"},
       .from = "the shared task's baseline",
       .ours = "predict.beta={value}"},
      {.names = {"category_file", "categories"},
       .from = "scripts",
       .ours = "data.categories={value}"},
      {.names = {"hidden_size"},
       .from = "Transformers",
       .ours = "model.width={value}",
       .note = "of the small model without model.path"},
      {.names = {"num_hidden_layers", "num_layers"},
       .from = "Transformers",
       .ours = "model.layers={value}",
       .note = "likewise"}};
}

}  // namespace lockstep::dimabsa

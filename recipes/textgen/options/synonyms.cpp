// The names that other programs use for the text recipe's options.
#include "recipes/textgen/options/text_options.h"

namespace lockstep::textgen {

std::vector<Synonym> synonyms() {
  return {{.names = {"data_dir", "data_path", "dataset", "dataset_path", "train_file"},
           .from = "Transformers, scripts",
           .ours = "data.path={value}"},
          {.names = {"validation_file", "valid_file", "val_file"},
           .from = "Transformers",
           .ours = "data.valid_path={value}"},
          {.names = {"val_split", "valid_split", "validation_split", "val_ratio", "val_fraction"},
           .from = "Keras, scripts",
           .ours = "data.valid_share={value}"},
          {.names = {"block_size", "context_length", "max_length", "max_seq_len", "max_seq_length",
                     "seq_len", "seq_length", "sequence_length", "n_positions", "n_ctx"},
           .from = "nanoGPT, Transformers",
           .ours = "model.context={value}"},
          {.names = {"n_layer", "n_layers", "num_layers", "num_hidden_layers"},
           .from = "nanoGPT, Transformers",
           .ours = "model.layers={value}"},
          {.names = {"n_head", "n_heads", "num_heads", "num_attention_heads"},
           .from = "nanoGPT, Transformers",
           .ours = "model.heads={value}"},
          {.names = {"n_embd", "d_model", "embed_dim", "embedding_dim", "hidden_size"},
           .from = "nanoGPT, Transformers",
           .ours = "model.width={value}"},
          {.names = {"n_inner", "intermediate_size", "dim_feedforward", "d_ff"},
           .from = "Transformers, PyTorch",
           .ours = "model.feed_forward={value}"},
          {.names = {"vocab_size"},
           .from = "Transformers",
           .ours = "tokenizer.vocab={value}",
           .note = "of tokenizer.kind=bpe; model.vocab follows it"},
          {.names = {"dropout", "resid_pdrop", "hidden_dropout_prob"},
           .from = "nanoGPT, Transformers",
           .ours = "model.dropout={value}"},
          {.names = {"attn_pdrop", "attention_dropout"},
           .from = "Transformers",
           .ours = "model.attention_dropout={value}"},
          {.names = {"tie_word_embeddings"}, .from = "Transformers", .ours = "model.tied={value}"},
          {.names = {"max_new_tokens"}, .from = "Transformers", .ours = "predict.tokens={value}"},
          {.names = {"temperature"}, .from = "Transformers", .ours = "predict.temperature={value}"},
          {.names = {"top_k"}, .from = "Transformers", .ours = "predict.top_k={value}"},
          {.names = {"top_p"}, .from = "Transformers", .ours = "predict.top_p={value}"},
          {.names = {"repetition_penalty"},
           .from = "Transformers",
           .ours = "predict.repetition_penalty={value}"},
          {.names = {"prompt"}, .from = "scripts", .ours = "predict.prompt={value}"}};
}

}  // namespace lockstep::textgen

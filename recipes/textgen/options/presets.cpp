// Named sets of options, each with the result that it reproduces.
#include "recipes/textgen/options/text_options.h"

namespace lockstep::textgen {
namespace {

using Values = std::vector<std::pair<std::string, std::string>>;

Values body(const char* layers, const char* width, const char* heads, const char* context,
            const Values& more) {
  Values values = {{"model.layers", layers},
                   {"model.width", width},
                   {"model.heads", heads},
                   {"model.context", context}};
  values.insert(values.end(), more.begin(), more.end());
  return values;
}

// The models and steps of speed comparisons. They have no biases, no dropout, and weight decay on
// everything.
Values bench(const char* layers, const char* width, const char* heads, const char* context,
             const char* vocab, const char* micro, const char* accumulation) {
  return body(layers, width, heads, context,
              {{"model.vocab", vocab},
               {"model.bias", "false"},
               {"model.gelu", "erf"},
               {"model.tied", "true"},
               {"model.dropout", "0"},
               {"tokenizer.kind", "bytes"},
               {"data.path", "synthetic"},
               {"precision", "bf16"},
               {"batch.micro", micro},
               {"batch.accumulation", accumulation},
               {"optimizer.kind", "adamw"},
               {"optimizer.lr", "1e-4"},
               {"optimizer.weight_decay", "0.01"},
               {"optimizer.decay_norms_and_biases", "true"},
               {"optimizer.clip", "1.0"},
               {"schedule.kind", "constant"},
               {"schedule.warmup", "0"},
               {"stop.steps", "100"}});
}

// The optimizer of the 19.3 M model on wikitext. Both vocabularies use it.
Values kaggle(const Values& tokenizer) {
  Values values = body("8", "256", "8", "512",
                       {{"model.feed_forward", "1024"},
                        {"model.bias", "true"},
                        {"model.gelu", "tanh"},
                        {"model.tied", "true"},
                        {"model.dropout", "0.1"},
                        {"batch.global", "64"},
                        {"optimizer.lr", "5e-4"},
                        {"optimizer.weight_decay", "0.01"},
                        {"optimizer.decay_norms_and_biases", "true"},
                        {"optimizer.clip", "1.0"},
                        {"schedule.kind", "linear"},
                        {"schedule.warmup", "500"},
                        {"stop.epochs", "3"},
                        {"eval.every_steps", "1000"},
                        {"checkpoint.every_steps", "1000"}});
  values.insert(values.end(), tokenizer.begin(), tokenizer.end());
  return values;
}

// A model of 6 layers of width 384 and context 256, with about 10.7 M parameters.
Values shakespeare_body(const char* tokenizer, const char* dropout, const char* attention_dropout,
                        const char* steps) {
  return body("6", "384", "6", "256",
              {{"model.bias", "false"},
               {"model.gelu", "erf"},
               {"model.dropout", dropout},
               {"model.attention_dropout", attention_dropout},
               {"tokenizer.kind", tokenizer},
               {"batch.global", "64"},
               {"optimizer.lr", "1e-3"},
               {"optimizer.beta2", "0.99"},
               {"optimizer.weight_decay", "0.1"},
               {"optimizer.clip", "1.0"},
               {"schedule.kind", "cosine"},
               {"schedule.min_lr", "1e-4"},
               {"schedule.warmup", "100"},
               {"stop.steps", steps},
               {"eval.every_steps", "250"}});
}

Preset small() {
  return {"small", "0.6 M parameters on bytes, for CPUs; the default without a GPU",
          body("3", "128", "4", "128",
               {{"model.bias", "false"},
                {"model.gelu", "tanh"},
                {"model.dropout", "0"},
                {"tokenizer.kind", "bytes"},
                {"batch.global", "8"},
                {"optimizer.lr", "3e-3"},
                {"optimizer.beta2", "0.99"},
                // With 1e-8, embeddings of bytes that never occur moved as fast as the others, all
                // in one direction. The loss then jumped from 3.8 to 5.5 in step 22.
                {"optimizer.eps", "1e-5"},
                {"optimizer.weight_decay", "0.1"},
                {"schedule.kind", "cosine"},
                {"schedule.min_lr", "3e-4"},
                {"schedule.warmup", "60"},
                {"stop.steps", "1200"}})};
}

Preset gpt2() {
  return {"gpt2", "124 M parameters, GPT-2's tokens; needs tokenizer.path",
          body("12", "768", "12", "1024",
               {{"model.vocab", "50304"},
                {"model.bias", "true"},
                {"model.gelu", "tanh"},
                {"model.tied", "true"},
                {"model.dropout", "0"},
                {"tokenizer.kind", "gpt2"},
                {"batch.global", "480"},
                {"optimizer.lr", "6e-4"},
                {"optimizer.beta2", "0.95"},
                {"optimizer.weight_decay", "0.1"},
                {"schedule.kind", "cosine"},
                {"schedule.min_lr", "6e-5"},
                {"schedule.warmup", "2000"},
                {"stop.epochs", "1"},
                {"eval.every_steps", "1000"},
                {"checkpoint.every_steps", "1000"}})};
}

}  // namespace

const std::vector<Preset>& presets() {
  static const std::vector<Preset> all = {
      small(),
      {"medium", "10.7 M parameters on bytes; the default with a GPU",
       shakespeare_body("bytes", "0.3", "0", "2500")},
      {"shakespeare",
       "10.7 M parameters by character, for small texts such as the one that comes along",
       shakespeare_body("chars", "0.3", "0.2", "2500")},
      {"kaggle", "19.3 M parameters, GPT-2's tokens; needs tokenizer.path",
       kaggle({{"tokenizer.kind", "gpt2"}})},
      {"kaggle-10m",
       "as kaggle, with a vocabulary of 14,336 tokens trained on the corpus: 10.1 M parameters",
       kaggle({{"tokenizer.kind", "bpe"}, {"tokenizer.vocab", "14336"}})},
      gpt2(),
      {"bench-textgen", "small text model for speed measurements, random tokens",
       bench("6", "384", "6", "512", "256", "16", "4")},
      {"bench-gpt124m", "GPT-2 sized model for speed measurements, random tokens",
       bench("12", "768", "12", "1024", "50304", "32", "1")},
  };
  return all;
}

}  // namespace lockstep::textgen

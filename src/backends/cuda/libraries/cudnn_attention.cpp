// Attention by cuDNN graphs. There is one for each direction and shape, built at its first use and
// kept.
#include "backends/cuda/libraries/cudnn_attention.h"

#include <ATen/Context.h>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cudnn/Handle.h>
#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>
#include <cudnn_frontend.h>

#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace lockstep {
namespace {

namespace fe = cudnn_frontend;
using Attributes = std::shared_ptr<fe::graph::Tensor_attributes>;
using Key = std::array<std::int64_t, 6>;

enum Place : std::int64_t {
  query = 1,
  key,
  value,
  out,
  log_sums,
  of_out,
  of_query,
  of_key,
  of_value,
  row_lengths
};

struct Plan {
  std::unique_ptr<fe::graph::Graph> graph;
  std::int64_t workspace_bytes = 0;
};

// Describes [batch, heads, length, width] as a part of [batch, length, parts, heads, width].
fe::graph::Tensor_attributes heads_of(const AttentionArguments& a, std::int64_t parts,
                                      Place place) {
  const std::int64_t row = parts * a.heads * a.width;
  return fe::graph::Tensor_attributes()
      .set_dim({a.batch, a.heads, a.length, a.width})
      .set_stride({a.length * row, a.width, row, 1})
      .set_uid(place);
}

fe::graph::Tensor_attributes sums_of(const AttentionArguments& a) {
  return fe::graph::Tensor_attributes()
      .set_dim({a.batch, a.heads, a.length, 1})
      .set_stride({a.heads * a.length, a.length, 1, 1})
      .set_data_type(fe::DataType_t::FLOAT)
      .set_uid(log_sums);
}

float score_factor(const AttentionArguments& a) {
  return 1 / std::sqrt(static_cast<float>(a.width));
}

// Describes the row lengths, i32 [batch].
Attributes lengths_of(fe::graph::Graph& graph, const AttentionArguments& a) {
  return graph.tensor(fe::graph::Tensor_attributes()
                          .set_dim({a.batch, 1, 1, 1})
                          .set_stride({1, 1, 1, 1})
                          .set_data_type(fe::DataType_t::INT32)
                          .set_uid(row_lengths));
}

// Sets which positions a position attends to, for both directions.
template <class Options>
void set_mask(Options& options, fe::graph::Graph& graph, const AttentionArguments& a) {
  options.set_causal_mask(a.causal).set_attn_scale(score_factor(a));
  if (a.lengths == nullptr) return;
  const Attributes lengths = lengths_of(graph, a);
  options.set_padding_mask(true).set_seq_len_q(lengths).set_seq_len_kv(lengths);
}

// Marks a computed tensor as an output with the shape and strides of `like`.
void give_out(const Attributes& computed, const fe::graph::Tensor_attributes& like) {
  computed->set_output(true).set_dim(like.get_dim()).set_stride(like.get_stride());
  computed->set_uid(like.get_uid());
}

void describe_forward(fe::graph::Graph& graph, const AttentionArguments& a) {
  auto options = fe::graph::SDPA_attributes().set_name("attention").set_generate_stats(true);
  set_mask(options, graph, a);
  const auto [result, sums] =
      graph.sdpa(graph.tensor(heads_of(a, 3, query)), graph.tensor(heads_of(a, 3, key)),
                 graph.tensor(heads_of(a, 3, value)), options);
  give_out(result, heads_of(a, 1, out));
  give_out(sums, sums_of(a));
  sums->set_data_type(fe::DataType_t::FLOAT);
}

void describe_backward(fe::graph::Graph& graph, const AttentionArguments& a, bool deterministic) {
  auto options = fe::graph::SDPA_backward_attributes()
                     .set_name("attention_backward")
                     .set_deterministic_algorithm(deterministic);
  set_mask(options, graph, a);
  const auto [of_q, of_k, of_v] =
      graph.sdpa_backward(graph.tensor(heads_of(a, 3, query)), graph.tensor(heads_of(a, 3, key)),
                          graph.tensor(heads_of(a, 3, value)), graph.tensor(heads_of(a, 1, out)),
                          graph.tensor(heads_of(a, 1, of_out)), graph.tensor(sums_of(a)), options);
  give_out(of_q, heads_of(a, 3, of_query));
  give_out(of_k, heads_of(a, 3, of_key));
  give_out(of_v, heads_of(a, 3, of_value));
}

// Returns a plan without a graph if cuDNN does not support the shape.
Plan build(const AttentionArguments& a, bool backward, bool deterministic) {
  auto graph = std::make_unique<fe::graph::Graph>();
  graph
      ->set_io_data_type(a.dtype == KernelDtype::bf16 ? fe::DataType_t::BFLOAT16
                                                      : fe::DataType_t::HALF)
      .set_intermediate_data_type(fe::DataType_t::FLOAT)
      .set_compute_data_type(fe::DataType_t::FLOAT);
  if (backward)
    describe_backward(*graph, a, deterministic);
  else
    describe_forward(*graph, a);
  const cudnnHandle_t handle = at::native::getCudnnHandle();
  Plan plan;
  if (graph->build(handle, {fe::HeurMode_t::A}).is_bad()) return plan;
  if (graph->get_workspace_size(plan.workspace_bytes).is_bad()) return plan;
  plan.graph = std::move(graph);
  return plan;
}

class Plans {
 public:
  const Plan& get(const AttentionArguments& a, bool backward) {
    const bool deterministic = backward && at::globalContext().deterministicAlgorithms();
    const int flags = (backward ? 1 : 0) | (deterministic ? 2 : 0) | (a.causal ? 4 : 0) |
                      (a.lengths != nullptr ? 8 : 0);
    const std::lock_guard lock(mutex_);
    const auto [found, fresh] = plans_.try_emplace(
        {a.batch, a.length, a.heads, a.width, static_cast<std::int64_t>(a.dtype), flags});
    if (fresh) found->second = build(a, backward, deterministic);
    return found->second;
  }

 private:
  std::mutex mutex_;
  std::map<Key, Plan> plans_;
};

Plans& plans() {
  static Plans* const all = new Plans;  // never destroyed, because cuDNN may be shut down before
  return *all;
}

bool serves(const AttentionArguments& a) {
  if (a.width % 8 != 0) return false;
  if (plans().get(a, false).graph && plans().get(a, true).graph) return true;
  // ATen would try cuDNN too. It would then throw an error although another of its kernels works.
  at::globalContext().setSDPUseCuDNN(false);
  return false;
}

// Returns the start of part `number` of a packed tensor that holds three parts.
void* part(const void* packed, std::int64_t number, const AttentionArguments& a) {
  return const_cast<char*>(static_cast<const char*>(packed)) + number * a.heads * a.width * 2;
}

void execute(const Plan& plan, std::unordered_map<std::int64_t, void*>& places) {
  const at::Tensor workspace =
      at::empty({plan.workspace_bytes}, at::TensorOptions().device(at::kCUDA).dtype(at::kByte));
  auto status =
      plan.graph->execute(at::native::getCudnnHandle(), places, workspace.mutable_data_ptr());
  TORCH_CHECK(status.is_good(), "cuDNN's attention failed: ", status.get_message());
}

std::unordered_map<std::int64_t, void*> inputs_of(const AttentionArguments& a) {
  std::unordered_map<std::int64_t, void*> places{{query, part(a.qkv, 0, a)},
                                                 {key, part(a.qkv, 1, a)},
                                                 {value, part(a.qkv, 2, a)},
                                                 {out, a.out},
                                                 {log_sums, a.log_sums}};
  if (a.lengths != nullptr) places[row_lengths] = const_cast<std::int32_t*>(a.lengths);
  return places;
}

void forward(const AttentionArguments& a) {
  auto places = inputs_of(a);
  execute(plans().get(a, false), places);
}

void backward(const AttentionArguments& a) {
  auto places = inputs_of(a);
  places.insert({{of_out, const_cast<void*>(a.of_out)},
                 {of_query, part(a.of_qkv, 0, a)},
                 {of_key, part(a.of_qkv, 1, a)},
                 {of_value, part(a.of_qkv, 2, a)}});
  execute(plans().get(a, true), places);
}

}  // namespace

AttentionKernels attention_kernels() {
  // On other GPUs ATen's FlashAttention is faster.
  const int major = at::cuda::getCurrentDeviceProperties()->major;
  if (major != 9 && major != 10) return {};
  return {.serves = &serves, .forward = &forward, .backward = &backward};
}

}  // namespace lockstep

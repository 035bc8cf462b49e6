// Losses of a detector's rows, by our kernels or with ATen's operators.
#include "ops/detection_loss/detection_loss.h"

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "ops/shared/own_kernels.h"
#include "ops/shared/runs.h"
#include "ops/shared/second_derivative.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/binary_cross_entropy_with_logits.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/smooth_l1_loss.h>
#include <ATen/ops/where.h>
#include <torch/csrc/autograd/custom_function.h>

#include <limits>
#include <vector>

namespace lockstep {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

DetectionLossKernels detection_loss_kernels;  // set once, before the first step

// All arguments except logits and deltas.
struct Given {
  at::Tensor from;
  RowTargets targets;
  at::Tensor label, picture_weight;
  DetectionLossOptions options;
};

void check_detection_loss(const at::Tensor& logits, const at::Tensor& deltas, const Given& given) {
  const auto& [from, targets, label, picture_weight, options] = given;
  const std::int64_t rows = targets.positive.numel();
  if (!logits.is_floating_point() || !deltas.is_floating_point() || deltas.numel() != 4 * rows)
    throw Error(cat("a detection loss wants floating logits, and four deltas for each of ", rows,
                    " rows, but got ", logits.sizes(), " of ", logits.scalar_type(), " and ",
                    deltas.sizes(), " of ", deltas.scalar_type()));
  const bool fit = label.defined()
                       ? logits.dim() == 2 && logits.size(0) == rows && logits.size(1) > 0
                       : logits.numel() == rows;
  if (!fit)
    throw Error(
        cat("a detection loss wants logits for each of ", rows, " rows, but got ", logits.sizes()));
  std::vector<std::int64_t> boxes = targets.positive.sizes().vec();
  boxes.push_back(4);
  if (targets.positive.dim() < 1 || targets.positive.scalar_type() != at::kBool ||
      targets.weight.sizes() != targets.positive.sizes() ||
      targets.weight.scalar_type() != at::kFloat || targets.box.sizes() != at::IntArrayRef(boxes) ||
      targets.box.scalar_type() != at::kFloat)
    throw Error(
        cat("a detection loss wants targets positive bool [Q, ...], weight f32 [Q, ...] "
            "and box f32 [Q, ..., 4], but got ",
            targets.positive.sizes(), " of ", targets.positive.scalar_type(), ", ",
            targets.weight.sizes(), " of ", targets.weight.scalar_type(), " and ",
            targets.box.sizes(), " of ", targets.box.scalar_type()));
  const std::int64_t each = from.numel() / 4;
  if (from.dim() < 2 || from.size(-1) != 4 || from.scalar_type() != at::kFloat ||
      (rows > 0 && (each == 0 || rows % each != 0)) || (label.defined() && each != rows))
    throw Error(
        cat("a detection loss wants boxes f32 [..., 4] that deltas are relative to, which "
            "divide ",
            rows, " rows, but got ", from.sizes(), " of ", from.scalar_type()));
  if (label.defined() &&
      (label.sizes() != targets.positive.sizes() || label.scalar_type() != at::kLong))
    throw Error(cat("a detection loss wants a label i64 of ", targets.positive.sizes(),
                    ", but got ", label.sizes(), " of ", label.scalar_type()));
  if (picture_weight.defined() &&
      (picture_weight.dim() != 1 || picture_weight.size(0) != targets.positive.size(0) ||
       picture_weight.scalar_type() != at::kFloat))
    throw Error(cat("a detection loss wants a weight f32 for each of ", targets.positive.size(0),
                    " pictures, but got ", picture_weight.sizes(), " of ",
                    picture_weight.scalar_type()));
  if (!(options.beta > 0))
    throw Error(cat("a detection loss wants a beta above 0, but got ", options.beta));
}

bool detection_loss_kernels_serve(const at::Tensor& logits, const at::Tensor& deltas) {
  return logits.is_cuda() && detection_loss_kernels.forward != nullptr &&
         kernel_dtype(logits.scalar_type()) && kernel_dtype(deltas.scalar_type()) &&
         logits.numel() > 0 && logits.numel() <= std::numeric_limits<std::int32_t>::max() &&
         deltas.numel() <= std::numeric_limits<std::int32_t>::max();
}

// The arguments in the form that kernels read. Also owns the copies that were needed.
struct Rows {
  InRuns logits, deltas;
  at::Tensor positive, weight, box, from, label, picture_weight;
  DetectionLossArguments arguments;

  Rows(const at::Tensor& of_logits, const at::Tensor& of_deltas, const Given& given)
      : logits(in_runs(of_logits)),
        deltas(in_runs(of_deltas, /*group=*/4)),
        positive(given.targets.positive.contiguous()),
        weight(given.targets.weight.contiguous()),
        box(boxes(given.targets.box)),
        from(boxes(given.from)),
        label(dense(given.label)),
        picture_weight(dense(given.picture_weight)) {
    const auto number = [](std::int64_t n) { return static_cast<std::uint32_t>(n); };
    const std::int64_t rows = positive.numel();
    const DetectionLossOptions& options = given.options;
    const auto& [wx, wy, ww, wh] = options.coding.weights;
    arguments = {
        .logits = logits.tensor.const_data_ptr(),
        .deltas = deltas.tensor.const_data_ptr(),
        .logits_dtype = kernel_dtype(of_logits.scalar_type()).value(),
        .deltas_dtype = kernel_dtype(of_deltas.scalar_type()).value(),
        .logits_runs = logits.runs,
        .deltas_runs = deltas.runs,
        .label = label.defined() ? label.const_data_ptr<std::int64_t>() : nullptr,
        .positive = positive.const_data_ptr<bool>(),
        .weight = weight.const_data_ptr<float>(),
        .picture_weight = static_cast<const float*>(data_of(picture_weight)),
        .box = box.const_data_ptr<float>(),
        .from = from.const_data_ptr<float>(),
        .rows = number(rows),
        .columns = number(of_logits.numel() / rows),
        .rows_per_picture = number(rows / positive.size(0)),
        .from_rows = number(from.numel() / 4),
        .blocks = number((rows + detection_loss_chunk - 1) / detection_loss_chunk),
        .coding = {static_cast<float>(wx), static_cast<float>(wy), static_cast<float>(ww),
                   static_cast<float>(wh), static_cast<float>(options.coding.most_log_size)},
        .beta = static_cast<float>(options.beta),
        .class_factor = static_cast<float>(options.class_factor),
        .box_factor = static_cast<float>(options.box_factor)};
  }

 private:
  static at::Tensor dense(const at::Tensor& t) { return t.defined() ? t.contiguous() : t; }
  static at::Tensor boxes(const at::Tensor& t) {
    const at::Tensor lying = t.contiguous();
    return aligned(lying) ? lying : lying.clone();
  }
};

struct DetectionLossFunction : torch::autograd::Function<DetectionLossFunction> {
  static variable_list forward(AutogradContext* context, const at::Tensor& logits,
                               const at::Tensor& deltas, const Given& given) {
    const Rows rows(logits, deltas, given);
    const at::TensorOptions f32 = logits.options().dtype(at::kFloat);
    const at::Tensor of_classes = at::empty({}, f32), of_boxes = at::empty({}, f32);
    at::Tensor partial;
    if (rows.arguments.blocks > 1)
      partial = at::empty({std::int64_t{rows.arguments.blocks}, 2}, f32);
    detection_loss_kernels.forward(
        {.rows = rows.arguments,
         .partial = partial.defined() ? partial.mutable_data_ptr<float>() : nullptr,
         .of_classes = of_classes.mutable_data_ptr<float>(),
         .of_boxes = of_boxes.mutable_data_ptr<float>()});
    context->set_materialize_grads(false);
    context->save_for_backward({logits, deltas, given.from, given.targets.positive,
                                given.targets.weight, given.targets.box, given.label,
                                given.picture_weight});
    const DetectionLossOptions& options = given.options;
    const auto& [wx, wy, ww, wh] = options.coding.weights;
    context->saved_data["options"] = std::vector<double>{wx,
                                                         wy,
                                                         ww,
                                                         wh,
                                                         options.coding.most_log_size,
                                                         options.beta,
                                                         options.class_factor,
                                                         options.box_factor};
    return {of_classes, of_boxes};
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const std::vector<double> options = context->saved_data["options"].toDoubleVector();
    const Given given{
        .from = saved[2],
        .targets = {.positive = saved[3], .weight = saved[4], .box = saved[5]},
        .label = saved[6],
        .picture_weight = saved[7],
        .options = {.coding = {.weights = {options[0], options[1], options[2], options[3]},
                               .most_log_size = options[4]},
                    .beta = options[5],
                    .class_factor = options[6],
                    .box_factor = options[7]}};
    if (is_differentiated()) {
      const auto by_aten = [&](const std::vector<at::Tensor>& in) {
        const DetectionLoss loss =
            detection_loss_reference(in[0], in[1], given.from, given.targets, given.label,
                                     given.picture_weight, given.options);
        return std::vector<at::Tensor>{loss.classes, loss.boxes};
      };
      variable_list found = differentiable_gradients(by_aten, {saved[0], saved[1]}, gradients);
      found.emplace_back();
      return found;
    }
    const auto dense_like = [](const at::Tensor& t) { return at::empty(t.sizes(), t.options()); };
    at::Tensor of_logits, of_deltas;
    if (context->needs_input_grad(0) && gradients[0].defined()) of_logits = dense_like(saved[0]);
    if (context->needs_input_grad(1) && gradients[1].defined()) of_deltas = dense_like(saved[1]);
    if (!of_logits.defined() && !of_deltas.defined()) return {{}, {}, {}};
    const auto data = [](const at::Tensor& t) {
      return t.defined() ? t.mutable_data_ptr() : nullptr;
    };
    const Rows rows(saved[0], saved[1], given);
    detection_loss_kernels.backward({.rows = rows.arguments,
                                     .of_classes = static_cast<const float*>(data_of(gradients[0])),
                                     .of_boxes = static_cast<const float*>(data_of(gradients[1])),
                                     .of_logits = data(of_logits),
                                     .of_deltas = data(of_deltas)});
    return {of_logits, of_deltas, {}};
  }
};

DetectionLoss detection_loss(const at::Tensor& logits, const at::Tensor& deltas,
                             const Given& given) {
  check_detection_loss(logits, deltas, given);
  if (!detection_loss_kernels_serve(logits, deltas) ||
      (given.label.defined() && logits.size(1) > detection_loss_most_columns))
    return detection_loss_reference(logits, deltas, given.from, given.targets, given.label,
                                    given.picture_weight, given.options);
  const variable_list sums = DetectionLossFunction::apply(logits, deltas, given);
  return {.classes = sums[0], .boxes = sums[1]};
}

}  // namespace

DetectionLoss detection_loss_reference(const at::Tensor& logits, const at::Tensor& deltas,
                                       const at::Tensor& from, const RowTargets& targets,
                                       const at::Tensor& label, const at::Tensor& picture_weight,
                                       const DetectionLossOptions& options) {
  const auto work = logits.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  const at::IntArrayRef rows = targets.positive.sizes();
  const at::Tensor positive = targets.positive, box = targets.box;
  at::Tensor weight = targets.weight.to(work);
  if (picture_weight.defined()) {
    std::vector<std::int64_t> ones(rows.size(), 1);
    ones[0] = rows[0];
    weight = weight.mul(picture_weight.view(ones));
  }
  at::Tensor entropy;
  if (label.defined())
    entropy = at::cross_entropy_loss(logits.to(work), label.flatten().clamp_min(-1), {},
                                     at::Reduction::None, /*ignore_index=*/-1)
                  .view(rows);
  else
    entropy = at::binary_cross_entropy_with_logits(logits.reshape(rows).to(work), positive.to(work),
                                                   {}, {}, at::Reduction::None);
  // Rows that are not positive must contribute nothing, even NaN. A product with 0 would keep NaN,
  // so they are masked.
  const at::Tensor counts = positive.unsqueeze(-1);
  const at::Tensor each = label.defined() ? from.reshape(box.sizes()) : from.reshape({-1, 4});
  const at::Tensor wanted = encode_boxes(box.to(work), each.to(work), options.coding);
  const at::Tensor found = deltas.reshape(box.sizes()).to(work);
  const at::Tensor cost =
      at::smooth_l1_loss(at::where(counts, found, 0), at::where(counts, wanted, 0),
                         at::Reduction::None, options.beta)
          .sum(-1);
  return {.classes = entropy.mul(weight).sum().mul(options.class_factor),
          .boxes = cost.mul(weight).sum().mul(options.box_factor)};
}

DetectionLoss proposal_loss(const at::Tensor& logits, const at::Tensor& deltas,
                            const at::Tensor& anchors, const RowTargets& targets,
                            const at::Tensor& picture_weight, const DetectionLossOptions& options) {
  return detection_loss(logits, deltas, {anchors, targets, {}, picture_weight, options});
}

DetectionLoss region_loss(const at::Tensor& logits, const at::Tensor& deltas,
                          const at::Tensor& from, const RowTargets& targets,
                          const at::Tensor& label, const at::Tensor& picture_weight,
                          const DetectionLossOptions& options) {
  return detection_loss(logits, deltas, {from, targets, label, picture_weight, options});
}

void register_cuda_detection_loss(DetectionLossKernels kernels) {
  detection_loss_kernels = kernels;
}

}  // namespace lockstep

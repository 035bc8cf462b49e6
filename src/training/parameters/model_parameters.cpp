// Sorts parameters by the memory that they use, so that tied parameters count as one.
#include "training/parameters/model_parameters.h"

#include "core/base/error.h"
#include "core/base/text/text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <utility>

namespace lockstep {
namespace {

constexpr std::array frozen_dtypes{at::kDouble, at::kFloat, at::kHalf, at::kBFloat16, at::kLong,
                                   at::kInt,    at::kShort, at::kChar, at::kByte,     at::kBool};

void check(const Parameter& parameter) {
  const at::Tensor& tensor = parameter.tensor;
  const std::string who = cat("parameter ", parameter.name);
  if (!tensor.defined() || !tensor.is_leaf()) throw Error(cat(who, " must be a leaf tensor"));
  const at::ScalarType dtype = tensor.scalar_type();
  if (tensor.requires_grad() && dtype != at::kFloat)
    throw Error(cat(who, " must be float32 when built, but is ", c10::toString(dtype)));
  if (std::find(frozen_dtypes.begin(), frozen_dtypes.end(), dtype) == frozen_dtypes.end())
    throw Error(cat(who, " is ", c10::toString(dtype), ", which cannot be saved"));
}

void check_names(const std::vector<Parameter>& registered) {
  if (registered.empty()) throw Error("the model has no parameters");
  std::set<std::string> names;
  for (const Parameter& parameter : registered)
    if (!names.insert(parameter.name).second)
      throw Error(cat("the model has two parameters named ", parameter.name));
}

bool overlap(const at::Tensor& a, const at::Tensor& b) {
  if (a.numel() == 0 || b.numel() == 0 || !a.is_alias_of(b)) return false;
  const auto span = [](const at::Tensor& tensor) {
    std::int64_t last = 0;
    for (std::int64_t d = 0; d < tensor.dim(); ++d) last += (tensor.size(d) - 1) * tensor.stride(d);
    const auto begin = reinterpret_cast<std::uintptr_t>(tensor.const_data_ptr());
    return std::pair(begin, begin + static_cast<std::uintptr_t>(last + 1) * tensor.element_size());
  };
  const auto [a_begin, a_end] = span(a);
  const auto [b_begin, b_end] = span(b);
  return a_begin < b_end && b_begin < a_end;
}

bool all_shared(const at::Tensor& a, const at::Tensor& b) {
  return a.const_data_ptr() == b.const_data_ptr() && a.scalar_type() == b.scalar_type() &&
         a.sizes() == b.sizes() && a.strides() == b.strides();
}

// Returns the element of `known` that uses the same memory as `parameter`; null if there is none.
UniqueParameter* find_tied(std::vector<UniqueParameter>& known, const Parameter& parameter) {
  for (UniqueParameter& other : known) {
    for (const at::Tensor& handle : other.handles)
      if (handle.is_same(parameter.tensor)) return &other;
    if (!overlap(other.parameter.tensor, parameter.tensor)) continue;
    if (all_shared(other.parameter.tensor, parameter.tensor)) return &other;
    throw Error(cat("the parameters ", other.parameter.name, " and ", parameter.name,
                    " share a part of their memory"),
                "register one tensor under both names, and transpose or cut it where it is used");
  }
  return nullptr;
}

// Adds another name. A parameter is trained if it is trained under any of its names.
void add_name(UniqueParameter& known, const Parameter& parameter) {
  for (const at::Tensor& handle : known.handles)
    if (handle.is_same(parameter.tensor)) return;
  known.handles.push_back(parameter.tensor);
  if (known.parameter.tensor.requires_grad() || !parameter.tensor.requires_grad()) return;
  std::swap(known.handles.front(), known.handles.back());
  known.parameter.tensor = parameter.tensor;
}

// Each name counts separately, so that a head tied to the embedding is the last matrix.
bool guess_uses_in(std::vector<UniqueParameter>& unique, const std::vector<Parameter>& registered,
                   const std::vector<std::size_t>& unique_of) {
  const auto guessed = guess_uses(optimized_parameters(registered, {}));
  if (!guessed) return false;
  unique[unique_of[guessed->head]].parameter.use = ParameterUse::head;
  unique[unique_of[guessed->embedding]].parameter.use = ParameterUse::embedding;
  return true;
}

}  // namespace

ModelParameters sort_parameters(const std::vector<Parameter>& registered) {
  check_names(registered);
  ModelParameters sorted;
  std::vector<UniqueParameter> all;
  std::vector<std::size_t> unique_of;  // by registered name: index in `all`
  for (const Parameter& parameter : registered) {
    check(parameter);
    if (UniqueParameter* const known = find_tied(all, parameter)) {
      add_name(*known, parameter);
      sorted.aliases.push_back({parameter.name, known->parameter.name});
      unique_of.push_back(static_cast<std::size_t>(known - all.data()));
    } else {
      unique_of.push_back(all.size());
      all.push_back({parameter, {parameter.tensor}});
    }
  }
  sorted.guessed_uses = guess_uses_in(all, registered, unique_of);
  for (UniqueParameter& one : all)
    (one.parameter.tensor.requires_grad() ? sorted.trained : sorted.frozen)
        .push_back(std::move(one));
  if (sorted.trained.empty())
    throw Error("the model has no parameter that is trained: none requires grad",
                "leave requires_grad on for what is to be trained");
  return sorted;
}

std::vector<std::string> all_names(const std::string& first, const std::vector<Alias>& aliases) {
  std::vector<std::string> names{first};
  for (const Alias& alias : aliases)
    if (alias.of == first) names.push_back(alias.name);
  return names;
}

std::int64_t elements_of(const std::vector<UniqueParameter>& parameters) {
  std::int64_t elements = 0;
  for (const UniqueParameter& one : parameters) elements += one.parameter.tensor.numel();
  return elements;
}

std::vector<OptimizedParameter> optimized_parameters(const std::vector<Parameter>& trained,
                                                     const std::vector<Alias>& aliases,
                                                     bool guessed) {
  std::vector<OptimizedParameter> all;
  for (const Parameter& parameter : trained)
    all.push_back({.name = parameter.name,
                   .sizes = parameter.tensor.sizes().vec(),
                   .use = parameter.use,
                   .tied = all_names(parameter.name, aliases).size() > 1,
                   .guessed = guessed && parameter.use != ParameterUse::usual});
  return all;
}

}  // namespace lockstep

#include "run/pickle_names.h"

#include <array>
#include <utility>

namespace lockstep {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 10> storage_dtypes{
    {{"torch.DoubleStorage", "F64"},
     {"torch.FloatStorage", "F32"},
     {"torch.HalfStorage", "F16"},
     {"torch.BFloat16Storage", "BF16"},
     {"torch.LongStorage", "I64"},
     {"torch.IntStorage", "I32"},
     {"torch.ShortStorage", "I16"},
     {"torch.CharStorage", "I8"},
     {"torch.ByteStorage", "U8"},
     {"torch.BoolStorage", "BOOL"}}};

constexpr std::array<std::string_view, 6> known_globals{
    "collections.OrderedDict",         "torch._utils._rebuild_tensor",
    "torch._utils._rebuild_tensor_v2", "torch._utils._rebuild_parameter",
    "torch.nn.parameter.Parameter",    "torch.Size"};

}  // namespace

std::string_view dtype_of_storage(std::string_view global) {
  for (const auto& [name, dtype] : storage_dtypes)
    if (name == global) return dtype;
  return "";
}

bool is_known_global(std::string_view global) {
  for (const std::string_view name : known_globals)
    if (name == global) return true;
  return !dtype_of_storage(global).empty();
}

}  // namespace lockstep

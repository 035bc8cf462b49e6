#include "runtime/run/formats/pickle_names.h"

#include <algorithm>
#include <array>
#include <utility>

namespace lockstep {

constexpr TensorFault negated_tensor{"is kept as the negative of its numbers",
                                     "in Python: save value.resolve_neg() in its place"};
constexpr TensorFault conjugated_tensor{"is kept as the conjugate of its numbers",
                                        "in Python: save value.resolve_conj() in its place"};
constexpr TensorFault unknown_numbers{"holds complex numbers, or others that are not read",
                                      "in Python: save it as real numbers, or leave it out"};

namespace {

constexpr std::array<PickledNumbers, 19> storage_numbers{{{"torch.DoubleStorage", "F64", 8},
                                                          {"torch.FloatStorage", "F32", 4},
                                                          {"torch.HalfStorage", "F16", 2},
                                                          {"torch.BFloat16Storage", "BF16", 2},
                                                          {"torch.LongStorage", "I64", 8},
                                                          {"torch.IntStorage", "I32", 4},
                                                          {"torch.ShortStorage", "I16", 2},
                                                          {"torch.CharStorage", "I8", 1},
                                                          {"torch.ByteStorage", "U8", 1},
                                                          {"torch.BoolStorage", "BOOL", 1},
                                                          {"torch.storage.UntypedStorage", "U8", 1},
                                                          {"torch.UntypedStorage", "U8", 1},
                                                          {"torch.ComplexFloatStorage", "", 8},
                                                          {"torch.ComplexDoubleStorage", "", 16},
                                                          {"torch.QInt8Storage", "", 1},
                                                          {"torch.QUInt8Storage", "", 1},
                                                          {"torch.QInt32Storage", "", 4},
                                                          {"torch.QUInt4x2Storage", "", 1},
                                                          {"torch.QUInt2x4Storage", "", 1}}};

constexpr std::array<PickledNumbers, 30> dtype_numbers{{{"torch.float64", "F64", 8},
                                                        {"torch.float32", "F32", 4},
                                                        {"torch.float16", "F16", 2},
                                                        {"torch.bfloat16", "BF16", 2},
                                                        {"torch.float8_e4m3fn", "F8_E4M3", 1},
                                                        {"torch.float8_e5m2", "F8_E5M2", 1},
                                                        {"torch.float8_e8m0fnu", "F8_E8M0", 1},
                                                        {"torch.int64", "I64", 8},
                                                        {"torch.int32", "I32", 4},
                                                        {"torch.int16", "I16", 2},
                                                        {"torch.int8", "I8", 1},
                                                        {"torch.uint64", "U64", 8},
                                                        {"torch.uint32", "U32", 4},
                                                        {"torch.uint16", "U16", 2},
                                                        {"torch.uint8", "U8", 1},
                                                        {"torch.bool", "BOOL", 1},
                                                        {"torch.float8_e4m3fnuz", "", 1},
                                                        {"torch.float8_e5m2fnuz", "", 1},
                                                        {"torch.float4_e2m1fn_x2", "", 1},
                                                        {"torch.complex32", "", 4},
                                                        {"torch.complex64", "", 8},
                                                        {"torch.complex128", "", 16},
                                                        {"torch.qint8", "", 1},
                                                        {"torch.quint8", "", 1},
                                                        {"torch.qint32", "", 4},
                                                        {"torch.bits8", "", 1},
                                                        {"torch.bits16", "", 2},
                                                        {"torch.bits1x8", "", 1},
                                                        {"torch.bits2x4", "", 1},
                                                        {"torch.bits4x2", "", 1}}};

constexpr TensorFault sparse_tensor{"is sparse", "in Python: save value.to_dense() in its place"};
constexpr TensorFault quantized_tensor{"is quantized",
                                       "in Python: save value.dequantize() in its place"};
constexpr TensorFault nested_tensor{"is a nested tensor",
                                    "in Python: save value.to_padded_tensor(0) in its place"};
constexpr TensorFault meta_tensor{"is on the device meta, so it has no numbers",
                                  "in Python: load the weights before the model is saved"};

constexpr std::array<std::pair<std::string_view, const TensorFault*>, 5> faulty_calls{
    {{"torch._utils._rebuild_sparse_tensor", &sparse_tensor},
     {"torch._utils._rebuild_sparse_csr_tensor", &sparse_tensor},
     {"torch._utils._rebuild_qtensor", &quantized_tensor},
     {"torch._utils._rebuild_nested_tensor", &nested_tensor},
     {"torch._utils._rebuild_meta_tensor_no_storage", &meta_tensor}}};

constexpr std::array<std::string_view, 8> other_calls{
    "torch.device",   "torch.serialization._get_layout",
    "_codecs.encode", "collections.Counter",
    "builtins.set",   "builtins.bytearray",
    "builtins.bytes", "builtins.complex"};

constexpr std::array<std::string_view, 26> known_globals{
    "collections.OrderedDict",
    "torch._utils._rebuild_tensor",
    "torch._utils._rebuild_tensor_v2",
    "torch._utils._rebuild_tensor_v3",
    "torch._utils._rebuild_parameter",
    "torch._utils._rebuild_parameter_with_state",
    "torch._utils._rebuild_wrapper_subclass",
    "torch._utils._rebuild_device_tensor_from_cpu_tensor",
    "torch._tensor._rebuild_from_type_v2",
    "torch.nn.parameter.Parameter",
    "torch.Size",
    "torch.Tensor",
    "torch.DoubleTensor",
    "torch.FloatTensor",
    "torch.HalfTensor",
    "torch.BFloat16Tensor",
    "torch.LongTensor",
    "torch.IntTensor",
    "torch.ShortTensor",
    "torch.CharTensor",
    "torch.ByteTensor",
    "torch.BoolTensor",
    "torch.per_tensor_affine",
    "torch.per_tensor_symmetric",
    "torch.per_channel_affine",
    "torch.per_channel_affine_float_qparams"};

template <class List>
const PickledNumbers* find_numbers(const List& list, std::string_view global) {
  for (const PickledNumbers& numbers : list)
    if (numbers.global == global) return &numbers;
  return nullptr;
}

template <class List>
bool is_among(const List& list, std::string_view global) {
  return std::find(list.begin(), list.end(), global) != list.end();
}

}  // namespace

const PickledNumbers* numbers_of_storage(std::string_view global) {
  return find_numbers(storage_numbers, global);
}

const PickledNumbers* numbers_of_dtype(std::string_view global) {
  return find_numbers(dtype_numbers, global);
}

const TensorFault* fault_of_call(std::string_view global) {
  for (const auto& [name, fault] : faulty_calls)
    if (name == global) return fault;
  return nullptr;
}

bool makes_other(std::string_view global) { return is_among(other_calls, global); }

bool is_known_global(std::string_view global) {
  return is_among(known_globals, global) || makes_other(global) ||
         fault_of_call(global) != nullptr || numbers_of_storage(global) != nullptr ||
         numbers_of_dtype(global) != nullptr;
}

}  // namespace lockstep

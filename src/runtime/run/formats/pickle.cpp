#include "runtime/run/formats/pickle.h"

#include <map>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "core/base/text/text.h"
#include "runtime/run/formats/pickle_input.h"
#include "runtime/run/formats/pickle_names.h"

namespace lockstep {
namespace {

using Kind = PickleValue::Kind;

constexpr std::size_t most_values = 4'000'000, most_tensors = 1'000'000;
constexpr std::size_t longest_key = 4096, most_key_bytes = 256 << 20;
constexpr const char* instead =
    "in Python: torch.save(model.state_dict(), FILE), or safetensors.torch.save_file";
constexpr const char* instead_of_shard =
    "in Python, on all ranks: get_model_state_dict(model, options=StateDictOptions("
    "full_state_dict=True, cpu_offload=True)) of torch.distributed.checkpoint.state_dict, and "
    "torch.save of what it gives on rank 0";

using Items = std::vector<PickleIndex>;

class Reader {
 public:
  Reader(std::istream& in, std::uint64_t limit) : in_(in, limit) {}

  Pickle read() {
    while (step(in_.byte())) {
    }
    return std::move(pickle_);
  }

 private:
  PickleValue& make(PickleValue value) {
    if (pickle_.values.size() >= most_values) throw Error("its pickle has too many parts");
    stack_.push_back(static_cast<PickleIndex>(pickle_.values.size()));
    return pickle_.values.emplace_back(std::move(value));
  }
  PickleIndex pop() {
    const std::size_t floor = marks_.empty() ? 0 : marks_.back();
    if (stack_.size() <= floor) throw Error("its pickle is damaged: nothing is left on its stack");
    const PickleIndex top = stack_.back();
    stack_.pop_back();
    return top;
  }
  PickleIndex top() {
    const PickleIndex index = pop();
    stack_.push_back(index);
    return index;
  }
  std::vector<PickleIndex> pop_to_mark() {
    if (marks_.empty()) throw Error("its pickle is damaged: a mark is missing");
    const auto begin = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<PickleIndex> items(begin, stack_.end());
    stack_.erase(begin, stack_.end());
    marks_.pop_back();
    return items;
  }
  std::vector<PickleIndex> pop_some(int count) {
    std::vector<PickleIndex> items(static_cast<std::size_t>(count));
    for (int i = count; i-- > 0;) items[static_cast<std::size_t>(i)] = pop();
    return items;
  }
  void integer(std::int64_t value) { make({.kind = Kind::integer, .integer = value}); }
  void text(std::string value) { make({.kind = Kind::text, .text = std::move(value)}); }
  void list(std::vector<PickleIndex> items) {
    make({.kind = Kind::list, .items = std::move(items)});
  }
  void remember(std::uint64_t key) { memo_[key] = top(); }
  void recall(std::uint64_t key) {
    const auto found = memo_.find(key);
    if (found == memo_.end()) throw Error("its pickle is damaged: it recalls what it never had");
    stack_.push_back(found->second);
  }
  // Reads the number of LONG1 and LONG4: two's complement, little-endian.
  void long_integer(std::uint64_t count) {
    const std::string raw = in_.bytes(count);
    if (count <= 8) {
      std::uint64_t value = count > 0 && (raw.back() & 0x80) != 0 ? ~std::uint64_t{0} : 0;
      for (std::size_t i = raw.size(); i-- > 0;)
        value = value << 8 | static_cast<unsigned char>(raw[i]);
      return integer(static_cast<std::int64_t>(value));
    }
    constexpr std::string_view digits = "0123456789abcdef";
    std::string hex;
    for (std::size_t i = raw.size(); i-- > 0;) {
      hex += digits[static_cast<unsigned char>(raw[i]) >> 4];
      hex += digits[static_cast<unsigned char>(raw[i]) & 15];
    }
    make({.kind = Kind::integer, .text = hex});
  }

  void append_to(PickleIndex target, const std::vector<PickleIndex>& items, Kind kind) {
    PickleValue& value = pickle_.values[target];
    if (value.kind != kind || (kind == Kind::dict && items.size() % 2 != 0))
      throw Error("its pickle is damaged: it adds to what is no list and no dict");
    value.items.insert(value.items.end(), items.begin(), items.end());
  }

  void global(std::string name) {
    // The module's name in Python 2 and in protocol 2.
    constexpr std::string_view old_builtins = "__builtin__.";
    if (name.starts_with(old_builtins)) name.replace(0, old_builtins.size(), "builtins.");
    if (name.starts_with("torch.distributed."))
      throw Error(cat("it is the shard of one rank, of a distributed checkpoint: it asks for ",
                      printable(name)),
                  instead_of_shard);
    if (!is_known_global(name))
      throw Error(cat("it asks for the Python object ", printable(name),
                      ", which no state dict needs; nothing in such a file is run"),
                  instead);
    make({.kind = Kind::global, .text = std::move(name)});
  }
  const std::vector<PickleIndex>& items_of(PickleIndex index, const char* what) const {
    const PickleValue& value = pickle_.values[index];
    if (value.kind != Kind::list) throw Error(cat("its pickle is damaged: ", what, " is no tuple"));
    return value.items;
  }
  std::int64_t count_of_elements(PickleIndex index) const {
    const PickleValue& value = pickle_.values[index];
    if (value.kind != Kind::integer || !value.text.empty() || value.integer < 0)
      throw Error("its pickle is damaged: a size of a tensor is no whole number of 0 or more");
    return value.integer;
  }
  std::vector<std::int64_t> counts_of(PickleIndex index) const {
    std::vector<std::int64_t> counts;
    for (const PickleIndex item : items_of(index, "a tensor's size"))
      counts.push_back(count_of_elements(item));
    constexpr std::size_t most_dimensions = 64;
    if (counts.size() > most_dimensions) throw Error("a tensor has more than 64 dimensions");
    return counts;
  }
  // Reads a persistent id: ("storage", class, key, location, elements). In the format before torch
  // 1.6, a sixth element may describe a view, which is refused.
  void persistent(PickleIndex index) {
    const std::vector<PickleIndex>& items = items_of(index, "a storage");
    const auto kind_is = [&](std::size_t i, Kind kind) {
      return pickle_.values[items[i]].kind == kind;
    };
    if (items.size() < 5 || !kind_is(0, Kind::text) || pickle_.values[items[0]].text != "storage" ||
        !kind_is(1, Kind::global) || !kind_is(2, Kind::text))
      throw Error("its pickle is damaged: it names no storage where one belongs");
    const std::string& type = pickle_.values[items[1]].text;
    const PickledNumbers* numbers = numbers_of_storage(type);
    if (numbers == nullptr)
      throw Error(cat("it keeps numbers in a ", type, ", which is not known"));
    if (items.size() > 5 && !kind_is(5, Kind::none))
      throw Error("it has storages that are views of others, which are not supported",
                  "in Python: save it again with a torch from 1.6 on");
    const std::string& key = pickle_.values[items[2]].text;
    if (key.size() > longest_key) throw Error("a storage's key is longer than 4096 bytes");
    // A pickle may refer to a text any number of times, and each storage gets its own copy.
    key_bytes_ += key.size();
    if (key_bytes_ > most_key_bytes) throw Error("its storages have too long keys");
    pickle_.storages.push_back(
        {.numbers = numbers, .key = key, .elements = count_of_elements(items[4])});
    make(
        {.kind = Kind::storage, .integer = static_cast<std::int64_t>(pickle_.storages.size()) - 1});
  }
  void tensor(PickledTensor made) {
    if (pickle_.tensors.size() >= most_tensors) throw Error("it holds too many tensors");
    pickle_.tensors.push_back(std::move(made));
    make({.kind = Kind::tensor, .integer = static_cast<std::int64_t>(pickle_.tensors.size()) - 1});
  }
  // Applies the flags that Python stores with a tensor. A flag is set if its key exists, whatever
  // the value (_set_tensor_metadata).
  void take_bits(PickleIndex index, PickledTensor& tensor) const {
    const PickleValue& bits = pickle_.values[index];
    if (bits.kind == Kind::none) return;
    // Small, because any number of tensors may share one dict.
    constexpr std::size_t most_items = 32;
    if (bits.kind != Kind::dict || bits.items.size() > most_items)
      throw Error("its pickle is damaged: what it says beside a tensor is no small dict");
    tensor.negated = pickle_.find(bits, "neg") != nullptr;
    const std::string_view dtype = tensor.numbers->dtype;
    if (tensor.negated && (dtype == "BOOL" || dtype.starts_with("F8") || dtype.starts_with("U")))
      tensor.fault = &negated_tensor;
    if (pickle_.find(bits, "conj") != nullptr) tensor.fault = &conjugated_tensor;
  }
  const PickledNumbers* dtype_at(PickleIndex index) const {
    const PickleValue& value = pickle_.values[index];
    const PickledNumbers* numbers =
        value.kind == Kind::global ? numbers_of_dtype(value.text) : nullptr;
    if (numbers == nullptr)
      throw Error("its pickle is damaged: it names no dtype where one belongs");
    return numbers;
  }
  // The arguments are (storage, offset, sizes, strides, requires_grad, hooks, metadata). Version 3
  // has a dtype before the metadata.
  void rebuild_tensor(const std::string& name, const Items& arguments) {
    const bool names_dtype = name.ends_with("_v3");
    constexpr std::size_t dtype_place = 6;
    if (arguments.size() < 4 || (names_dtype && arguments.size() <= dtype_place) ||
        pickle_.values[arguments[0]].kind != Kind::storage)
      throw Error("its pickle is damaged: a tensor has no storage");
    PickledTensor made{.storage = static_cast<std::size_t>(pickle_.values[arguments[0]].integer),
                       .offset = count_of_elements(arguments[1])};
    made.numbers =
        names_dtype ? dtype_at(arguments[dtype_place]) : pickle_.storages[made.storage].numbers;
    if (made.numbers->dtype.empty()) made.fault = &unknown_numbers;
    made.sizes = counts_of(arguments[2]);
    made.strides = counts_of(arguments[3]);
    if (made.sizes.size() != made.strides.size())
      throw Error("its pickle is damaged: a tensor has not as many strides as sizes");
    dimensions_ += made.sizes.size();
    if (dimensions_ > most_values) throw Error("its tensors have too many dimensions");
    const std::size_t bits_place = names_dtype ? dtype_place + 1 : dtype_place;
    if (arguments.size() > bits_place) take_bits(arguments[bits_place], made);
    tensor(std::move(made));
  }
  // Builds a tensor with attributes from (function, class, arguments, attributes).
  void rebuild_from_type(const Items& arguments) {
    if (arguments.size() < 3 || pickle_.values[arguments[0]].kind != Kind::global ||
        pickle_.values[arguments[1]].kind != Kind::global)
      throw Error("its pickle is damaged: a tensor has no class");
    const std::string function = pickle_.values[arguments[0]].text;
    const std::string& type = pickle_.values[arguments[1]].text;
    if (type != "torch.Tensor" && type != "torch.nn.parameter.Parameter")
      throw Error(cat("it holds a tensor of the class ", type, ", which is not known"), instead);
    if (function == "torch._tensor._rebuild_from_type_v2")
      throw Error("its pickle is damaged: a tensor is made of itself");
    call(function, items_of(arguments[2], "what a call is given"));
  }
  // Whether the call's result is its first argument. A Parameter is the tensor that it wraps. A
  // torch.Size is its list. A tensor of a device unknown to torch is its copy on the CPU.
  bool is_its_argument(const std::string& name, const Items& arguments) const {
    if (name == "torch.Size") return arguments.size() == 1;
    if (arguments.empty() || pickle_.values[arguments[0]].kind != Kind::tensor) return false;
    if (name == "torch._utils._rebuild_device_tensor_from_cpu_tensor")
      return arguments.size() > 1 &&
             has_numbers(pickle_.values[arguments[0]], dtype_at(arguments[1]));
    return name.starts_with("torch._utils._rebuild_parameter") ||
           name == "torch.nn.parameter.Parameter";
  }
  bool has_numbers(const PickleValue& tensor, const PickledNumbers* numbers) const {
    const PickledTensor& held = pickle_.tensors[static_cast<std::size_t>(tensor.integer)];
    return held.numbers != nullptr && held.numbers->dtype == numbers->dtype;
  }
  void call(const std::string& name, const Items& arguments) {
    if (name == "collections.OrderedDict" && arguments.empty()) {
      make({.kind = Kind::dict});
    } else if (name.starts_with("torch._utils._rebuild_tensor")) {
      rebuild_tensor(name, arguments);
    } else if (name == "torch._tensor._rebuild_from_type_v2") {
      rebuild_from_type(arguments);
    } else if (const TensorFault* fault = fault_of_call(name)) {
      tensor({.fault = fault});
    } else if (makes_other(name)) {
      make({.kind = Kind::other});
    } else if (is_its_argument(name, arguments)) {
      stack_.push_back(arguments[0]);
    } else {
      throw Error(cat("it calls ", name.empty() ? "what is no function" : name,
                      " in a way that no state dict needs"),
                  instead);
    }
  }
  void reduce() {
    // The tuple is not copied, because it may be large and given to many calls.
    const Items& arguments = items_of(pop(), "what a call is given");
    const PickleValue& callee = pickle_.values[pop()];
    call(callee.kind == Kind::global ? std::string(callee.text) : "", arguments);
  }
  // Ignores the attributes of a dict ("_metadata"), which no tensor needs. Attributes of a tensor
  // are refused, because they would change its numbers (Tensor.__setstate__).
  void build() {
    pop();
    if (const Kind kind = pickle_.values[top()].kind; kind != Kind::dict && kind != Kind::other)
      throw Error("it sets the state of what is no dict");
  }

  bool makes_scalar(unsigned char opcode);
  bool makes_text(unsigned char opcode);
  bool makes_container(unsigned char opcode);
  bool fills_container(unsigned char opcode);
  bool remembers(unsigned char opcode);
  bool stands_for_object(unsigned char opcode);
  bool step(unsigned char opcode);

  PickleInput in_;
  Pickle pickle_;
  std::vector<PickleIndex> stack_;
  std::vector<std::size_t> marks_;
  std::map<std::uint64_t, PickleIndex> memo_;
  std::size_t key_bytes_ = 0, dimensions_ = 0;
};

// The opcodes are grouped by effect, with their names in pickletools. Each function returns whether
// it knows the opcode.
bool Reader::makes_scalar(unsigned char opcode) {
  switch (opcode) {
    case 'N':  // NONE
      make({.kind = Kind::none});
      return true;
    case 0x88:  // NEWTRUE
    case 0x89:  // NEWFALSE
      make({.kind = Kind::boolean, .integer = opcode == 0x88 ? 1 : 0});
      return true;
    case 'J':  // BININT
      integer(static_cast<std::int32_t>(in_.number(4)));
      return true;
    case 'K':  // BININT1
      integer(static_cast<std::int64_t>(in_.number(1)));
      return true;
    case 'M':  // BININT2
      integer(static_cast<std::int64_t>(in_.number(2)));
      return true;
    case 0x8a:  // LONG1
      long_integer(in_.number(1));
      return true;
    case 0x8b:  // LONG4
      long_integer(in_.number(4));
      return true;
    case 'G':  // BINFLOAT
      in_.bytes(8);
      make({.kind = Kind::real});
      return true;
    default:
      return makes_text(opcode);
  }
}

bool Reader::makes_text(unsigned char opcode) {
  switch (opcode) {
    case 0x8c:  // SHORT_BINUNICODE
    case 'U':   // SHORT_BINSTRING
    case 'C':   // SHORT_BINBYTES
      text(in_.bytes(in_.number(1)));
      return true;
    case 'X':  // BINUNICODE
    case 'T':  // BINSTRING
    case 'B':  // BINBYTES
      text(in_.bytes(in_.number(4)));
      return true;
    case 0x8d:  // BINUNICODE8
    case 0x8e:  // BINBYTES8
    case 0x96:  // BYTEARRAY8
      text(in_.bytes(in_.number(8)));
      return true;
    default:
      return false;
  }
}

bool Reader::makes_container(unsigned char opcode) {
  switch (opcode) {
    case '(':  // MARK
      marks_.push_back(stack_.size());
      return true;
    case ')':  // EMPTY_TUPLE
    case ']':  // EMPTY_LIST
      list({});
      return true;
    case 't':  // TUPLE
      list(pop_to_mark());
      return true;
    case 0x85:  // TUPLE1
    case 0x86:  // TUPLE2
    case 0x87:  // TUPLE3
      list(pop_some(opcode - 0x84));
      return true;
    case '}':  // EMPTY_DICT
      make({.kind = Kind::dict});
      return true;
    case 0x8f:  // EMPTY_SET
      make({.kind = Kind::other});
      return true;
    default:
      return fills_container(opcode);
  }
}

bool Reader::fills_container(unsigned char opcode) {
  std::vector<PickleIndex> items;
  switch (opcode) {
    case 'a':  // APPEND
      items = pop_some(1);
      append_to(top(), items, Kind::list);
      return true;
    case 'e':  // APPENDS
      items = pop_to_mark();
      append_to(top(), items, Kind::list);
      return true;
    case 's':  // SETITEM
      items = pop_some(2);
      append_to(top(), items, Kind::dict);
      return true;
    case 'u':  // SETITEMS
      items = pop_to_mark();
      append_to(top(), items, Kind::dict);
      return true;
    case 0x90:  // ADDITEMS
      pop_to_mark();
      if (pickle_.values[top()].kind != Kind::other)
        throw Error("its pickle is damaged: it adds to what is no set");
      return true;
    default:
      return false;
  }
}

bool Reader::remembers(unsigned char opcode) {
  switch (opcode) {
    case 'q':  // BINPUT
      remember(in_.number(1));
      return true;
    case 'r':  // LONG_BINPUT
      remember(in_.number(4));
      return true;
    case 0x94:  // MEMOIZE
      remember(memo_.size());
      return true;
    case 'h':  // BINGET
      recall(in_.number(1));
      return true;
    case 'j':  // LONG_BINGET
      recall(in_.number(4));
      return true;
    default:
      return false;
  }
}

// Handles opcodes for which Python would import or call something.
bool Reader::stands_for_object(unsigned char opcode) {
  switch (opcode) {
    case 'c': {  // GLOBAL
      const std::string module = in_.line();
      global(cat(module, ".", in_.line()));
      return true;
    }
    case 0x93: {  // STACK_GLOBAL
      const std::vector<PickleIndex> pair = pop_some(2);
      global(cat(pickle_.values[pair[0]].text, ".", pickle_.values[pair[1]].text));
      return true;
    }
    case 'Q':  // BINPERSID
      persistent(pop());
      return true;
    case 'R':  // REDUCE
      reduce();
      return true;
    case 'b':  // BUILD
      build();
      return true;
    default:
      return false;
  }
}

// Returns false at the end of the pickle.
bool Reader::step(unsigned char opcode) {
  if (opcode == '.') {  // STOP
    pickle_.root = pop();
    return false;
  }
  if (opcode == 0x80) {  // PROTO
    if (const unsigned version = in_.byte(); version < 2 || version > 5)
      throw Error(cat("its pickle is of protocol ", version, ", which is not known"));
    return true;
  }
  if (opcode == 0x95) {  // FRAME
    in_.bytes(8);
    return true;
  }
  if (makes_scalar(opcode) || makes_container(opcode) || remembers(opcode) ||
      stands_for_object(opcode))
    return true;
  throw Error(cat("its pickle has the instruction ", static_cast<int>(opcode),
                  ", which no state dict needs; nothing in such a file is run"),
              instead);
}

}  // namespace

const PickleValue* Pickle::find(const PickleValue& dict, const std::string& key) const {
  for (std::size_t i = dict.items.size(); i >= 2; i -= 2)
    if (const PickleValue& name = values[dict.items[i - 2]];
        name.kind == PickleValue::Kind::text && name.text == key)
      return &values[dict.items[i - 1]];
  return nullptr;
}

Pickle read_pickle(std::istream& in, std::uint64_t limit) { return Reader(in, limit).read(); }

}  // namespace lockstep

#include "runtime/run/formats/foreign_weights.h"

#include <algorithm>
#include <array>

#include "core/base/error.h"
#include "core/base/files/lfs_pointer.h"
#include "core/base/text/text.h"

namespace lockstep {
namespace {

constexpr const char* save_state_dict = "in Python: torch.save(model.state_dict(), FILE)";

// The first bytes of a file in a format.
struct Beginning {
  std::string_view bytes;
  const char *what, *hint;
};

using namespace std::string_view_literals;
constexpr const char* to_safetensors =
    "in Python: turn its arrays into tensors, and save them with safetensors.torch.save_file";
constexpr std::array<Beginning, 9> beginnings{
    {{"\x89HDF\r\n"sv, "is an HDF5 file, as Keras writes it", to_safetensors},
     {"\x93NUMPY"sv, "is an array of NumPy (.npy)", to_safetensors},
     {"GGUF"sv, "is a GGUF file",
      "take the weights that it was made of: safetensors or torch.save"},
     {"\x1f\x8b"sv, "is packed by gzip", "unpack it: gunzip -c FILE > NEW, or tar -xzf FILE"},
     {"\x28\xb5\x2f\xfd"sv, "is packed by zstd", "unpack it: zstd -d"},
     {"\x80\x02"sv, "is a plain pickle, not one of torch.save", save_state_dict},
     {"\x80\x03"sv, "is a plain pickle, not one of torch.save", save_state_dict},
     {"\x80\x04"sv, "is a plain pickle, not one of torch.save", save_state_dict},
     {"\x80\x05"sv, "is a plain pickle, not one of torch.save", save_state_dict}}};

bool is_page(std::string_view begin) {
  std::string text(begin.substr(0, std::min(begin.find_first_of("> "), begin.size())));
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return text == "<!doctype" || text == "<html";
}

// Whether the zip file has the member `name` in its top folder, which holds all members.
bool has_member(const std::map<std::string, ZipMember>& members, std::string_view name) {
  return std::any_of(members.begin(), members.end(), [&](const auto& member) {
    const std::size_t folder = member.first.find('/');
    return folder != std::string::npos &&
           member.first.compare(folder + 1, std::string::npos, name) == 0;
  });
}

bool has_ending(const std::map<std::string, ZipMember>& members, std::string_view ending) {
  return std::any_of(members.begin(), members.end(),
                     [&](const auto& member) { return member.first.ends_with(ending); });
}

}  // namespace

void refuse_foreign_file(std::string_view begin) {
  for (const Beginning& known : beginnings)
    if (begin.starts_with(known.bytes)) throw Error(cat("it ", known.what), known.hint);
  if (begins_as_lfs_pointer(begin))
    throw Error("it is a pointer of Git LFS, and the file itself was not fetched",
                "fetch it: git lfs pull");
  if (is_page(begin))
    throw Error("it is a web page, not the file that was to be downloaded", "download it again");
  throw Error("it is neither a file of torch.save nor of safetensors");
}

void refuse_foreign_archive(const std::map<std::string, ZipMember>& members) {
  if (has_member(members, "constants.pkl"))
    throw Error("it is a TorchScript archive, as torch.jit.save writes it",
                "in Python: torch.save(torch.jit.load(FILE).state_dict(), NEW)");
  if (has_member(members, "archive_format") || has_member(members, "models/model.json") ||
      has_ending(members, "serialized_exported_program.json"))
    throw Error("it is an exported program, as torch.export.save writes it (.pt2)",
                "in Python: torch.save(torch.export.load(FILE).state_dict, NEW)");
  if (has_ending(members, ".npy"))
    throw Error("it is an archive of NumPy's arrays (.npz)",
                "in Python: safetensors.numpy.save_file(dict(numpy.load(FILE)), NEW)");
}

}  // namespace lockstep

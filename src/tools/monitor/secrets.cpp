#include "tools/monitor/secrets.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>

#include "core/base/text/text.h"

namespace lockstep {
namespace {

constexpr const char* hidden = "…";

// Whether a name means a secret, as "api_key", "--hf-token" and "PASSWORD" do. One part of the name
// is enough.
bool names_secret(std::string_view name) {
  constexpr std::array<std::string_view, 20> secret{
      "token", "secret", "password",    "passwd",        "pwd",    "pw",        "pass",
      "key",   "apikey", "accesskey",   "passphrase",    "pat",    "signature", "sig",
      "auth",  "cookie", "credentials", "authorization", "bearer", "credential"};
  if (name.starts_with("-D") || name.starts_with("-P")) name.remove_prefix(2);  // Java and Gradle
  std::string part;
  bool was_lower = false;  // "accessToken" has two parts
  for (const char c : std::string(name) + "-") {
    const auto letter = static_cast<unsigned char>(c);
    const bool begins = was_lower && std::isupper(letter) != 0;
    was_lower = std::islower(letter) != 0;
    if (std::isalnum(letter) && !begins) {
      part += static_cast<char>(std::tolower(letter));
      continue;
    }
    if (std::find(secret.begin(), secret.end(), part) != secret.end()) return true;
    part.clear();
    if (begins) part += static_cast<char>(std::tolower(letter));
  }
  return false;
}

// The offset of the first secret's value in a word, such as "--token=…", "x?a=1&key=…" or
// "{\"api_key\":…". The end of the word if the next word is the value. npos if there is no secret.
std::size_t secret_value(std::string_view word) {
  std::size_t begin = 0;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const bool separates = std::string_view("=:?&;,").find(word[i]) != std::string_view::npos;
    if (!separates) continue;
    if ((word[i] == '=' || word[i] == ':') && names_secret(word.substr(begin, i - begin)))
      return i + 1;
    begin = i + 1;
  }
  return std::string_view::npos;
}

// Hides the password in "bob:password", after "-u" or "--user=".
std::string without_password(const std::string& word) {
  const std::size_t colon = word.find(':');
  return colon == word.npos || colon + 1 == word.size() ? word : word.substr(0, colon + 1) + hidden;
}

// Whether the word begins like a token of a well-known service.
bool is_token(std::string_view word) {
  while (!word.empty() && (word.front() == '"' || word.front() == '\'')) word.remove_prefix(1);
  constexpr std::array<std::string_view, 9> begins{"sk-",    "hf_", "ghp_", "gho_", "github_pat_",
                                                   "glpat-", "xox", "AKIA", "eyJ"};
  return word.size() >= 12 &&
         std::any_of(begins.begin(), begins.end(),
                     [&](std::string_view begin) { return word.starts_with(begin); });
}

// Hides "user:password" in "scheme://user:password@host".
std::string without_login(const std::string& word) {
  const std::size_t scheme = word.find("://"), at = word.find('@');
  if (scheme == word.npos || at == word.npos || at < scheme + 3) return word;
  return word.substr(0, scheme + 3) + hidden + word.substr(at);
}

// Hides secrets in words without spaces.
std::string hide_in(std::vector<std::string> words) {
  bool hide_next = false, is_login = false;
  for (std::string& word : words) {
    const std::size_t end = word.find_first_of("=:");
    const bool has_value = end != word.npos && end + 1 < word.size();
    const bool named = names_secret(word.substr(0, end));
    const bool after_user = std::exchange(is_login, word == "-u" || word == "--user");
    if (hide_next && !word.starts_with("--")) {
      hide_next = word == "Bearer" || word == "Basic";  // the next word is the secret
      if (!hide_next) word = hidden;
      continue;
    }
    hide_next = named && !has_value && (word.starts_with("-") || end != word.npos);
    if (is_token(word)) {
      word = hidden;
    } else {
      if (after_user || word.starts_with("--user=")) word = without_password(word);
      word = without_login(word);
      const std::size_t value = secret_value(word);
      if (value < word.size()) word.replace(value, std::string::npos, hidden);
      hide_next = hide_next || value == word.size();
    }
    if (word == "Bearer") hide_next = true;
  }
  return join(words, " ");
}

}  // namespace

std::string without_secrets(std::vector<std::string> words) {
  // A word with spaces may itself be a command, such as that of sh -c or a program's title. In
  // "--token=a b", the value is the whole rest of the word.
  for (std::string& word : words)
    if (word.find(' ') != word.npos) {
      const std::string whole = hide_in({word});
      word = whole == word ? hide_in(split(word, ' ')) : whole;
    }
  return hide_in(std::move(words));
}

std::string without_secrets(const std::string& command) { return hide_in(split(command, ' ')); }

}  // namespace lockstep

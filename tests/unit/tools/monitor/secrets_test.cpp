// What of a command is taken for a secret.
#include "tools/monitor/secrets.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

TEST(WithoutSecrets, DropsValuesOfWhatLooksSecret) {
  const struct {
    const char *command, *kept;
  } cases[] = {
      {"python a.py --hf-token abc --api_key=xyz lr=3 PASSWORD=p q",
       "python a.py --hf-token … --api_key=… lr=3 PASSWORD=… q"},
      {"python monkey.py --auth --verbose", "python monkey.py --auth --verbose"},
      {"curl -H Authorization: Bearer abc123 http://x", "curl -H Authorization: Bearer … http://x"},
      {"psql postgres://ada:pw@host/db", "psql postgres://…@host/db"},
      {"run {\"api_key\":\"sk-1\"} x", "run {\"api_key\":… x"},
      {"run sk-1234567890abcdef hf_abcdefghijkl", "run … …"},
      {"run --token -abc next", "run --token … next"},
      {"a --pass=x --pass x --passphrase=x --pw x --pat=x -Ptoken=x",
       "a --pass=… --pass … --passphrase=… --pw … --pat=… -Ptoken=…"},
      {"curl -u bob:x --user=bob:x -u 7", "curl -u bob:… --user=bob:… -u 7"},
      {"a --connection-string=Name=n;AccountKey=x==;Kind=k accessToken=x",
       "a --connection-string=Name=n;AccountKey=… accessToken=…"},
      {"a https://h/x?a=1&api_key=x https://h/x?access_token=x&b=2 http://h?X-Amz-Signature=x",
       "a https://h/x?a=1&api_key=… https://h/x?access_token=… http://h?X-Amz-Signature=…"},
      {"run {\"a\":1,\"token\":\"x\"}", "run {\"a\":1,\"token\":…"},
      {"run {\"a\":1,\"token\": \"x\"} b", "run {\"a\":1,\"token\": … b"},
      {"python passes.py --compass=3 --patience 4 signal=5 http://h:80/keyboard?page=2",
       "python passes.py --compass=3 --patience 4 signal=5 http://h:80/keyboard?page=2"},
      {"train --tokenizer gpt2 --max_tokens 512 keyboard",
       "train --tokenizer gpt2 --max_tokens 512 keyboard"},
  };
  for (const auto& one : cases) EXPECT_EQ(without_secrets(one.command), one.kept);
}

TEST(WithoutSecrets, LooksIntoWordsThatHoldSpaces) {
  using Words = std::vector<std::string>;
  // The value is the rest of its word.
  EXPECT_EQ(without_secrets(Words{"a", "--token=first second", "--name=b c"}),
            "a --token=… --name=b c");
  EXPECT_EQ(without_secrets(Words{"a", "--password", "my own", "x"}), "a --password … x");
  // A command in a word: of a shell, or a title that a program gave itself.
  EXPECT_EQ(without_secrets(Words{"sh", "-c", "python a.py --token abc --lr 1; :"}),
            "sh -c python a.py --token … --lr 1; :");
  EXPECT_EQ(without_secrets(Words{"server: run hf_abcdefghijkl"}), "server: run …");
}

TEST(WithoutSecrets, AreTheSameTwice) {
  for (const std::string command : {"a --token x y", "a API_KEY=x", "u http://b:c@h -u d:e",
                                    "curl -H Authorization: Bearer abc z"})
    EXPECT_EQ(without_secrets(without_secrets(command)), without_secrets(command));
}

}  // namespace
}  // namespace lockstep

"""Encoders give the hidden states and gradients that `transformers` gives for the same folder.

Usage: encoder_test.py DUMP_ENCODER. Exits 77, saying why, where Python lacks torch or transformers.
"""
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile

LENGTHS = [1, 60, 2, 17, 33, 5, 41, 60, 9]
VOCABULARY = 97
SIZES = dict(vocab_size=VOCABULARY, hidden_size=48, num_hidden_layers=3, num_attention_heads=4, intermediate_size=80,
             max_position_embeddings=70, initializer_range=0.3)
V3 = dict(relative_attention=True, position_biased_input=False, pos_att_type="p2c|c2p")


def models(transformers):
    """Name, model with fresh weights in evaluation mode, whether to save as pytorch_model.bin."""
    bert = transformers.BertConfig(**SIZES)
    for name, make in (("bert", transformers.BertModel), ("bert with heads", transformers.BertForPreTraining)):
        for binary in (False, True):
            yield f"{name}, {'bin' if binary else 'safetensors'}", make(bert), binary
    yield "bert, gelu_new", transformers.BertModel(transformers.BertConfig(**SIZES, hidden_act="gelu_new")), False
    xlm_r = transformers.XLMRobertaConfig(**SIZES, type_vocab_size=1, layer_norm_eps=1e-5)
    yield "xlm-r", transformers.XLMRobertaModel(xlm_r), False
    yield "xlm-r with a head", transformers.XLMRobertaForMaskedLM(xlm_r), False
    for kind, more in (("as v3", dict(position_buckets=12, norm_rel_ebd="layer_norm", share_att_key=True, type_vocab_size=0)),
                       ("without buckets", dict(max_relative_positions=20, share_att_key=False, type_vocab_size=2))):
        config = transformers.DebertaV2Config(**SIZES, **V3, layer_norm_eps=1e-7, **more)
        yield f"deberta-v2 {kind}", transformers.DebertaV2Model(config), False


def hidden_states(model, texts, torch):
    """Each text by itself: [N, width] of all."""
    body = model.base_model
    has_segments = body.config.type_vocab_size > 1
    results = []
    for tokens, segments in zip(texts["tokens"], texts["segments"]):
        more = {"token_type_ids": torch.tensor([segments])} if has_segments else {}
        results.append(body(input_ids=torch.tensor([tokens]), **more).last_hidden_state[0])
    return torch.cat(results)


def save_old(model, folder, torch):
    """As torch.save writes it, with the names that layer norms had in old files."""
    model.config.save_pretrained(folder)
    state = {name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): tensor
             for name, tensor in model.state_dict().items()}
    state["bert.embeddings.position_ids"] = torch.arange(SIZES["max_position_embeddings"])[None]
    torch.save(state, folder / "pytorch_model.bin")


def read(path, shape, torch):
    return torch.frombuffer(bytearray(path.read_bytes()), dtype=torch.float32).view(shape)


def compare(dump, name, model, binary, torch):
    torch.manual_seed(2)
    for parameter in model.parameters():  # norms and biases too
        parameter.data += 0.1 * torch.randn_like(parameter)
    model.eval()
    two = model.base_model.config.type_vocab_size > 1
    texts = {"tokens": [torch.randint(3, VOCABULARY, (n,)).tolist() for n in LENGTHS],
             "segments": [[int(two and i > n // 3) for i in range(n)] for n in LENGTHS]}
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        if binary:
            save_old(model, folder, torch)
        else:
            model.save_pretrained(folder, safe_serialization=True)
        (folder / "texts.json").write_text(json.dumps(texts))
        subprocess.run([dump, folder, folder / "texts.json", folder / "out"], check=True)
        expected = hidden_states(model, texts, torch)
        found = read(folder / "out.hidden", expected.shape, torch)
        rows, columns = (torch.arange(n, dtype=torch.float32) for n in expected.shape)
        (expected * torch.sin(rows[:, None] + columns)).sum().backward()
        worst, where = 0.0, ""
        for parameter_name, parameter in model.base_model.named_parameters():
            if "pooler" in parameter_name:
                continue
            wanted = parameter.grad
            of_ours = read(folder / "out.gradients" / parameter_name, wanted.shape, torch)
            # A key's bias moves every score of a query alike: its gradient is nothing but rounding.
            scale = max(wanted.abs().max().item(), 0.1)
            difference = (of_ours - wanted).abs().max().item() / scale
            if difference > worst:
                worst, where = difference, parameter_name
    difference = (found - expected).abs().max().item()
    print(f"{name}: largest difference of a hidden state {difference:.1e}, of a gradient {worst:.1e} of its largest ({where})")
    assert difference <= 1e-4, name
    assert worst <= 1e-3, (name, where)


def check_left_out(dump, transformers, torch):
    """A token that is left out, with the others' positions kept, is one that transformers masks."""
    torch.manual_seed(3)
    model = transformers.BertModel(transformers.BertConfig(**SIZES)).eval()
    tokens = torch.randint(3, VOCABULARY, (20,))
    kept = [i for i in range(20) if i not in (4, 5, 11)]
    texts = {"tokens": [tokens[kept].tolist()], "segments": [[0] * len(kept)], "positions": [kept]}
    mask = torch.zeros(1, 20, dtype=torch.long)
    mask[0, kept] = 1
    with tempfile.TemporaryDirectory() as temporary, torch.no_grad():
        folder = pathlib.Path(temporary)
        model.save_pretrained(folder)
        (folder / "texts.json").write_text(json.dumps(texts))
        subprocess.run([dump, folder, folder / "texts.json", folder / "out"], check=True)
        expected = model(input_ids=tokens[None], attention_mask=mask).last_hidden_state[0][kept]
        found = read(folder / "out.hidden", expected.shape, torch)
    difference = (found - expected).abs().max().item()
    print(f"tokens left out: largest difference {difference:.1e}")
    assert difference <= 1e-4


def check_refusal(dump, transformers):
    """Another vocabulary and a missing tensor are named at once."""
    from safetensors.torch import load_file, save_file
    model = transformers.BertModel(transformers.BertConfig(**SIZES))
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        model.save_pretrained(folder)
        tensors = load_file(folder / "model.safetensors")
        del tensors["encoder.layer.1.output.dense.bias"]
        tensors["embeddings.word_embeddings.weight"] = tensors["embeddings.word_embeddings.weight"][:90].clone()
        save_file(tensors, folder / "model.safetensors")
        (folder / "texts.json").write_text('{"tokens": [[5]], "segments": [[0]]}')
        done = subprocess.run([dump, folder, folder / "texts.json", folder / "out"], capture_output=True, text=True)
    assert done.returncode == 1, done
    for words in ("encoder.layer.1.output.dense.bias", "embeddings.word_embeddings.weight [90, 48], in the model [97, 48]"):
        assert words in done.stderr, done.stderr


def main():
    dump = pathlib.Path(sys.argv[1]).absolute()
    for module in ("torch", "transformers", "safetensors"):
        if importlib.util.find_spec(module) is None:
            print(f"skipped: python3 has no {module}")
            sys.exit(77)
    if not dump.exists():
        print("skipped: make test-python builds what this test runs")
        sys.exit(77)
    import torch
    import transformers
    torch.manual_seed(1)
    torch.set_num_threads(1)
    for name, model, binary in models(transformers):
        compare(dump, name, model, binary, torch)
    check_left_out(dump, transformers, torch)
    check_refusal(dump, transformers)


if __name__ == "__main__":
    main()

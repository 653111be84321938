#!/usr/bin/env python3
"""Whether llama.cpp reads what Attune writes, and writes the same.

usage: tools/golden/compare_llama_cpp.py ATTUNE MODEL.gguf [families [NAME...]]

(needs: llama-cpp-python, as bench/setup_peers llama compiles it; numpy,
safetensors; for the families transformers)

Of MODEL.gguf, of the files that `attune convert` makes of it in each type, and of those that llama.cpp's own quantiser makes: both give the
same ids for texts, and both continue prompts by the most probable token. llama.cpp rounds activations (to 8 bits where weights are quantised, to
f16 where they are f16), Attune does not as far as can be seen; so the same weights are given to llama.cpp in f32, too, where it rounds nothing. With
those it must write what Attune writes of the file itself, unless two tokens are as good as tied there (EXACT_TIE), and have the same logits.
Of each file the table says how many prompts were continued alike and the worst gap between llama.cpp's logits where texts part, with the file and
with the weights in f32; how far the logits are apart (root of the mean squared difference over the logits' deviation); and how far Attune's and
llama.cpp's are from those of the weights in f32.

families: besides, small random models of each architecture with MODEL.gguf's tokenizer, which `attune convert` writes in f32.
Exit status 1 where anything is at fault.
"""
import ctypes
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import llama_cpp
import numpy as np
from safetensors.numpy import load_file

WRITTEN = 24
EXACT_TIE = 0.02  # where the logits deviate by some 4
PROMPTS = ["The capital of France is", "def fibonacci(n):\n", "Once upon a time there was a", "Water boils at",
           "<|im_start|>user\nName three colours.<|im_end|>\n<|im_start|>assistant\n"]
TEXTS = PROMPTS + ["Grüße, 世界! 👩‍👩‍👧 naïve  café\t42\n\n  x", "I'll've 1234567 $3.50 don't <|im_end|> A\u0301 " + "ab" * 40]
ATTUNE_TYPES = ["f32", "f16", "bf16", "q8_0", "q4_0", "q4_1", "q4_k", "q5_k", "q6_k"]
LLAMA_TYPES = {"Q4_0": 2, "Q4_1": 3, "Q8_0": 7, "Q5_0": 8, "Q5_1": 9, "Q2_K": 10, "Q3_K_M": 12, "Q4_K_M": 15, "Q5_K_M": 17, "Q6_K": 18,
               "IQ4_NL": 25, "IQ4_XS": 30}

silent = llama_cpp.llama_log_callback(lambda level, text, data: None)
llama_cpp.llama_log_set(silent, None)


class Llama:
    def __init__(self, path):
        self.model = llama_cpp.llama_model_load_from_file(str(path).encode(), llama_cpp.llama_model_default_params())
        if not self.model:
            raise RuntimeError("llama.cpp does not read it")
        self.vocabulary = llama_cpp.llama_model_get_vocab(self.model)
        self.size = llama_cpp.llama_vocab_n_tokens(self.vocabulary)
        parameters = llama_cpp.llama_context_default_params()
        parameters.n_ctx, parameters.n_batch, parameters.n_ubatch = 256, 256, 256
        parameters.n_threads = parameters.n_threads_batch = 1
        parameters.type_k = parameters.type_v = llama_cpp.GGML_TYPE_F32
        parameters.flash_attn_type = 0
        self.context = llama_cpp.llama_init_from_model(self.model, parameters)

    def ids(self, text):
        data = text.encode()
        held = (llama_cpp.llama_token * (len(data) + 16))()
        count = llama_cpp.llama_tokenize(self.vocabulary, data, len(data), held, len(held), True, True)
        return list(held[:count])

    def logits(self, ids, fresh=True):
        """Of what follows each of the ids."""
        if fresh:
            llama_cpp.llama_memory_clear(llama_cpp.llama_get_memory(self.context), True)
        start = 0 if fresh else self.read
        batch = llama_cpp.llama_batch_init(len(ids), 0, 1)
        batch.n_tokens = len(ids)
        for i, token in enumerate(ids):
            batch.token[i], batch.pos[i], batch.n_seq_id[i], batch.logits[i] = token, start + i, 1, 1
            batch.seq_id[i][0] = 0
        if llama_cpp.llama_decode(self.context, batch) != 0:
            raise RuntimeError("llama_decode failed")
        self.read = start + len(ids)
        rows = [np.ctypeslib.as_array(llama_cpp.llama_get_logits_ith(self.context, i), (self.size,)).copy() for i in range(len(ids))]
        llama_cpp.llama_batch_free(batch)
        return np.stack(rows)

    def greedy(self, ids):
        written, row = [], self.logits(ids)[-1]
        while len(written) < WRITTEN:
            token = int(row.argmax())
            if llama_cpp.llama_vocab_is_eog(self.vocabulary, token):
                break
            written.append(token)
            row = self.logits([token], fresh=False)[-1]
        return written

    def text(self, ids):
        out = b""
        for token in ids:
            piece = ctypes.create_string_buffer(256)
            length = llama_cpp.llama_token_to_piece(self.vocabulary, token, piece, 256, 0, False)
            out += piece.raw[:length]
        return out.decode(errors="replace")

    def close(self):
        llama_cpp.llama_free(self.context)
        llama_cpp.llama_model_free(self.model)


def attune_lines(attune, command, file, records, *options):
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as given:
        for record in records:
            given.write(json.dumps(record) + "\n")
        given.flush()
        done = subprocess.run([attune, command, file, "--input", given.name, "--quiet", *options], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    return [json.loads(line) for line in done.stdout.splitlines()]


def attune_logits(attune, file, all_ids, directory):
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as given:
        for ids in all_ids:
            given.write(json.dumps({"ids": ids}) + "\n")
        given.flush()
        out = pathlib.Path(directory) / "logits.safetensors"
        done = subprocess.run([attune, "forward", file, "--input", given.name, "--output", out, "--quiet"], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    rows = load_file(out)
    return [rows[f"{i}/logits"] for i in range(len(all_ids))]


def log_softmax(x):
    x = x.astype(np.float64)
    x = x - x.max(-1, keepdims=True)
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


def apart(a, b):
    """Root of the mean squared difference, over the deviation of the first."""
    a, b = np.concatenate(a), np.concatenate(b)
    return float(np.sqrt(((a - b) ** 2).mean()) / a.std(-1).mean())


def divergence(a, b):
    p, q = log_softmax(np.concatenate(a)), log_softmax(np.concatenate(b))
    return float((np.exp(p) * (p - q)).sum(-1).mean())


def texts_beside(llama, written, attune, file, directory):
    """How many of Attune's texts llama.cpp writes, too, and where others part, how far apart its logits are of the two tokens."""
    alike, worst = 0, 0.0
    for prompt, own in written:
        ids = llama.ids(prompt)
        theirs = llama.greedy(ids)
        if own == llama.text(theirs):
            alike += 1
            continue
        # What both begin with, and Attune's choice behind it.
        same = max(i for i in range(len(theirs) + 1) if own.startswith(llama.text(theirs[:i])))
        row = llama.logits(ids + theirs[:same])[-1]
        ours = attune_logits(attune, file, [ids + theirs[:same]], directory)[0][-1].argmax()
        worst = max(worst, float(row.max() - row[ours]))
    return alike, worst


def check(attune, name, file, directory, exact=False):
    """A line of the table; whether all is well."""
    llama, faults = Llama(file), []
    # Behind special tokens of a Phi-3 file llama.cpp leaves spaces out, which is right for Phi-3's own tokenizer alone.
    texts = [{"id": str(i), "text": text} for i, text in enumerate(TEXTS) if name != "phi3" or "<|" not in text]
    prompts = [text for text in texts if text["text"] in PROMPTS]
    for record, found in zip(texts, attune_lines(attune, "tokenize", file, texts, "--json")):
        if found["ids"] != llama.ids(record["text"]):
            faults.append(f"ids of {record['text']!r}: {found['ids']}, llama.cpp {llama.ids(record['text'])}")
    found = attune_lines(attune, "generate", file, prompts, "--json", "--max-tokens", str(WRITTEN))
    written = [(record["text"], own["text"]) for record, own in zip(prompts, found)]
    alike, gap = texts_beside(llama, written, attune, file, directory)
    ids = [llama.ids(text["text"]) for text in texts]
    theirs, mine = [llama.logits(row) for row in ids], attune_logits(attune, file, ids, directory)
    llama.close()
    line = f"{name:18} {alike} of {len(prompts)} alike, gap {gap:6.3f}, logits apart {apart(theirs, mine):8.6f}"
    if exact:
        if gap > EXACT_TIE:
            faults.append(f"a text parts from llama.cpp's where its logits are {gap:.3f} apart")
        if apart(theirs, mine) > 2e-3:
            faults.append("the logits differ")
    else:
        # The same numbers in f32, in which llama.cpp rounds nothing.
        run(attune, "convert", file, directory / "exact", "--type", "f32", "--quiet")
        run(attune, "convert", directory / "exact", directory / "exact.gguf", "--type", "f32", "--quiet")
        llama = Llama(directory / "exact.gguf")
        same, gap = texts_beside(llama, written, attune, file, directory)
        true = [llama.logits(row) for row in ids]
        llama.close()
        shutil.rmtree(directory / "exact")
        (directory / "exact.gguf").unlink()
        line += f"; in f32 {same} of {len(prompts)}, gap {gap:6.3f}; from f32: Attune {apart(true, mine):8.6f}, KL {divergence(true, mine):9.7f}"
        line += f", llama.cpp {apart(true, theirs):8.6f}, KL {divergence(true, theirs):8.6f}"
        if gap > EXACT_TIE:
            faults.append(f"a text parts from that of the weights in f32 where their logits are {gap:.3f} apart")
        if apart(true, mine) > 5e-3:
            faults.append("the logits are not those of the weights")
    print(line, flush=True)
    for fault in faults:
        print("    FAULT", fault, flush=True)
    return not faults


def checked(attune, name, directory, make, exact=False):
    file = pathlib.Path(directory) / f"{name.replace(' ', '_')}.gguf"
    try:
        make(file)
        return check(attune, name, file, directory, exact)
    except RuntimeError as error:
        print(f"{name:24} FAULT {str(error)[:300]}", flush=True)
        return False
    finally:
        file.unlink(missing_ok=True)


def run(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())


def quantised_by_llama(source, target, kind):
    parameters = llama_cpp.llama_model_quantize_default_params()
    parameters.ftype, parameters.nthread = kind, 1
    if llama_cpp.llama_model_quantize(str(source).encode(), str(target).encode(), ctypes.byref(parameters)) != 0:
        raise RuntimeError("llama.cpp does not quantise it")


def families():
    import transformers as tf

    base = dict(vocab_size=0, hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4, max_position_embeddings=256,
                bos_token_id=1, eos_token_id=2, initializer_range=0.1)
    kv = dict(base, num_key_value_heads=2)
    rms = dict(kv, rms_norm_eps=1e-5)
    old = dict(vocab_size=0, bos_token_id=1, eos_token_id=2, initializer_range=0.1)
    moe = dict(rms, num_experts=4, num_experts_per_tok=2, moe_intermediate_size=32, decoder_sparse_step=1)
    window = {"sliding_window": None}
    return {
        "llama": tf.LlamaConfig(**rms), "llama rope llama3": tf.LlamaConfig(**rms, rope_parameters={
            "rope_type": "llama3", "rope_theta": 5e5, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
            "original_max_position_embeddings": 64}),
        "mistral": tf.MistralConfig(**rms, **window), "mixtral": tf.MixtralConfig(**rms, **window, num_local_experts=4, num_experts_per_tok=2),
        "granite": tf.GraniteConfig(**rms, attention_multiplier=0.2, embedding_multiplier=3.0, residual_multiplier=0.7, logits_scaling=2.5),
        "smollm3": tf.SmolLM3Config(**{**rms, "num_hidden_layers": 5}), "qwen2": tf.Qwen2Config(**rms), "qwen3": tf.Qwen3Config(**rms, head_dim=32),
        "qwen2moe": tf.Qwen2MoeConfig(**moe, shared_expert_intermediate_size=64, norm_topk_prob=False),
        "qwen3moe": tf.Qwen3MoeConfig(**moe, head_dim=32, norm_topk_prob=True), "gemma": tf.GemmaConfig(**rms, head_dim=32),
        "gemma2": tf.Gemma2Config(**rms, head_dim=32, query_pre_attn_scalar=32, sliding_window=64), 
        "gemma3": tf.Gemma3TextConfig(**{**rms, "num_hidden_layers": 7}, head_dim=32, query_pre_attn_scalar=32, sliding_window=64),
        "phi": tf.PhiConfig(**base), "phi3": tf.Phi3Config(**rms, **window), "stablelm": tf.StableLmConfig(**kv), "olmo2": tf.Olmo2Config(**rms),
        "cohere": tf.CohereConfig(**kv, logit_scale=0.4), "starcoder2": tf.Starcoder2Config(**kv, **window),
        "gpt2": tf.GPT2Config(**old, n_embd=64, n_layer=2, n_head=4, n_positions=256), "gptneox": tf.GPTNeoXConfig(**base),
        "falcon": tf.FalconConfig(**old, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, num_kv_heads=2, new_decoder_architecture=True),
        "bloom": tf.BloomConfig(**old, hidden_size=64, n_layer=2, n_head=4), "mpt": tf.MptConfig(**old, d_model=64, n_layers=2, n_heads=4, max_seq_len=256),
    }


def family_directory(config, tokenizer, target):
    import torch
    import transformers as tf

    config.vocab_size = 49152
    config.pad_token_id = None
    config.torch_dtype = "float32"
    torch.manual_seed(1)
    model = tf.AutoModelForCausalLM.from_config(config)
    with torch.no_grad():
        for parameter in model.parameters():  # norms and biases, too, differ from how they begin
            if parameter.dim() == 1:
                parameter.add_(torch.randn_like(parameter) * 0.1)
    model.save_pretrained(target)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        text = (tokenizer / name).read_text()
        if config.model_type == "phi3":  # llama.cpp asks such a file for tokens of these names
            text = text.replace('"<filename>"', '"<unk>"').replace('"<gh_stars>"', '"<s>"').replace('"<issue_start>"', '"</s>"')
        (target / name).write_text(text)


def main():
    attune, model = sys.argv[1], pathlib.Path(sys.argv[2])
    good = True
    with tempfile.TemporaryDirectory(prefix="attune-llama-cpp-") as directory:
        directory = pathlib.Path(directory)
        good &= check(attune, "as it is", model, directory)
        run(attune, "convert", model, directory / "f32", "--type", "f32", "--quiet")
        if "families" not in sys.argv[3:]:
            for kind in ATTUNE_TYPES:
                good &= checked(attune, f"attune {kind}", directory, lambda file: run(attune, "convert", directory / "f32", file, "--type", kind),
                                exact=kind == "f32")
            run(attune, "convert", directory / "f32", directory / "f32.gguf", "--type", "f32")
            for name, kind in LLAMA_TYPES.items():
                good &= checked(attune, f"llama.cpp {name}", directory, lambda file: quantised_by_llama(directory / "f32.gguf", file, kind))
        else:
            only = sys.argv[4:]
            for name, config in families().items():
                if only and name not in only:
                    continue
                target = directory / name.replace(" ", "_")

                def make(file):
                    family_directory(config, directory / "f32", target)
                    run(attune, "convert", target, file, "--type", "f32")

                good &= checked(attune, name, directory, make, exact=True)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()

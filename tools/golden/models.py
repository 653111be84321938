#!/usr/bin/env python3
"""Goldens of whole models: tiny seeded checkpoints run by Hugging Face transformers.

usage: tools/golden/models.py [NAME...]     writes tests/golden/models/NAME/ for each NAME (all without one)
Models of encoders beside BERT, and other heads, are in encoder_models.py.

Needs torch, transformers and safetensors (tools/golden/requirements.txt) in an environment of its own. Each directory holds
config.json and model.safetensors as published, input.jsonl (lines of ids with labels), expected.safetensors (logits, hidden states,
loss, every gradient, named as `attune forward` names them) and training.json (losses and gradient norms of ten AdamW steps).
Every configurable value differs from its default. Sequences are run one by one, without padding: what a padded run must equal.
"""
import json
import pathlib
import shutil
import sys

import torch
import transformers as tf
from safetensors.torch import load_file, save_file

ROOT = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden" / "models"
torch.use_deterministic_algorithms(True)
LENGTHS = [7, 1, 12, 5]


def randomise(model):
    """Away from the initial values: zero biases and unit norms would hide mistakes."""
    generator = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for parameter in filter(lambda p: p.requires_grad, model.parameters()):  # Marian's sinusoids are not
            parameter.add_(torch.randn(parameter.shape, generator=generator) * 0.1)
        for name, buffer in model.named_buffers():
            if name == "final_logits_bias":
                buffer.add_(torch.randn(buffer.shape, generator=generator) * 0.1)


def ids(generator, count, vocab, lowest=3):
    return torch.randint(lowest, vocab, (count,), generator=generator).tolist()


def token_lines(vocab, typed=False, lengths=LENGTHS):
    generator = torch.Generator().manual_seed(3)
    lines = []
    for length in lengths:
        line = {"ids": ids(generator, length, vocab)}
        if typed:
            line["token_type_ids"] = [int(i >= length // 2) for i in range(length)]
        labels = ids(generator, length, vocab)
        line["labels"] = [label if i % 3 != 1 else -100 for i, label in enumerate(labels)]
        lines.append(line)
    return lines


def with_padding(lines, pad):
    """One look-up of the padding row, which must get no gradient."""
    lines[0]["ids"][2] = pad
    return lines


def class_lines(vocab, classes):
    lines = token_lines(vocab, typed=True)
    for i, line in enumerate(lines):
        line["labels"] = [i % classes]
    return lines


def pair_lines(vocab):
    generator = torch.Generator().manual_seed(5)
    lines = []
    for length in LENGTHS:
        labels = ids(generator, length + 2, vocab)
        lines.append({"ids": ids(generator, length, vocab), "labels": [l if i != 1 else -100 for i, l in enumerate(labels)]})
    lines[1]["decoder_ids"] = ids(generator, len(lines[1]["labels"]), vocab)
    return lines


def forward(model, line, **extra):
    inputs = {"input_ids": torch.tensor([line["ids"]])}
    if "token_type_ids" in line:
        inputs["token_type_ids"] = torch.tensor([line["token_type_ids"]])
    if model.config.is_encoder_decoder and not type(model).__name__.endswith("ForSequenceClassification"):
        inputs["decoder_input_ids"] = decoder_ids(model, line)
    return model(**inputs, **extra)


def decoder_ids(model, line):
    if "decoder_ids" in line:
        return torch.tensor([line["decoder_ids"]])
    if hasattr(model, "prepare_decoder_input_ids_from_labels"):
        return model.prepare_decoder_input_ids_from_labels(torch.tensor([line["labels"]]))
    shifted = [model.config.decoder_start_token_id] + line["labels"][:-1]
    return torch.tensor([[model.config.pad_token_id if i == -100 else i for i in shifted]])


def logits_of(result):
    """Of answers: [1, tokens, 2]."""
    if hasattr(result, "start_logits"):
        return torch.stack([result.start_logits, result.end_logits], dim=-1)
    return result.logits


def labelled(model, line, logits):
    """(logits, labels) of the rows that count: causal models predict the next token, answers are places in the line."""
    labels = torch.tensor(line["labels"])
    if type(model).__name__.endswith("ForQuestionAnswering"):
        return logits[0].T, labels
    if logits.dim() == 2:
        return logits, labels
    rows = logits[0]
    if type(model).__name__.endswith(("LMHeadModel", "ForCausalLM")):
        rows, labels = rows[:-1], labels[1:]
    return rows[labels != -100], labels[labels != -100]


def total_loss(model, lines):
    """Mean over all labelled positions of all lines."""
    parts = [labelled(model, line, logits_of(forward(model, line))) for line in lines]
    summed = sum(torch.nn.functional.cross_entropy(rows, labels, reduction="sum") for rows, labels in parts)
    return summed / sum(len(labels) for _, labels in parts)


def expected(model, lines, attentions):
    out = {}
    for i, line in enumerate(lines):
        with torch.no_grad():
            # Falcon's right path is not the one that gives weights.
            attentions = attentions and model.config._attn_implementation == "eager"
            result = forward(model, line, output_hidden_states=True, output_attentions=attentions)
        out[f"{i}/logits"] = logits_of(result)[0]
        if model.config.is_encoder_decoder:
            for stack in ("encoder", "decoder"):
                for layer, states in enumerate(getattr(result, f"{stack}_hidden_states")):
                    out[f"{i}/{stack}_hidden_states/{layer}"] = states[0]
                for layer, weights in enumerate(getattr(result, f"{stack}_attentions")):
                    out[f"{i}/{stack}_attentions/{layer}"] = weights[0]
        else:
            for layer, states in enumerate(result.hidden_states):
                out[f"{i}/hidden_states/{layer}"] = states[0][:len(line["ids"])]  # BigBird's are filled up to whole blocks
            for layer, weights in enumerate(result.attentions if attentions else []):
                out[f"{i}/attentions/{layer}"] = weights[0]
    loss = total_loss(model, lines)
    loss.backward()
    out["loss"] = loss.detach()
    for name, parameter in model.named_parameters():
        if parameter.grad is not None:
            out["gradient/" + name] = parameter.grad
    return {name: value.detach().float().contiguous().clone() for name, value in out.items()}


def train(model, lines):
    settings = {"learning_rate": 2e-3, "weight_decay": 0.05, "betas": [0.85, 0.97], "epsilon": 1e-7, "clip_norm": 0.7,
                "warmup_steps": 2, "max_steps": 10, "schedule": "linear"}
    matrices = [p for p in model.parameters() if p.dim() >= 2]
    vectors = [p for p in model.parameters() if p.dim() < 2]
    optimizer = torch.optim.AdamW([{"params": matrices, "weight_decay": settings["weight_decay"]}, {"params": vectors, "weight_decay": 0.0}],
                                  lr=settings["learning_rate"], betas=settings["betas"], eps=settings["epsilon"])
    schedule = tf.get_linear_schedule_with_warmup(optimizer, settings["warmup_steps"], settings["max_steps"])
    steps = []
    for step in range(settings["max_steps"]):
        optimizer.zero_grad()
        loss = total_loss(model, lines)
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), settings["clip_norm"])
        rate = schedule.get_last_lr()[0]
        optimizer.step()
        schedule.step()
        steps.append({"step": step + 1, "loss": loss.item(), "grad_norm": norm.item(), "learning_rate": rate})
    return {"settings": settings, "steps": steps}


def write(name, model, lines, edit_config=None, rename=None, convert=None, training=True, attentions=True):
    """rename: of one weight; convert: of all, {name: tensor}, and of their gradients; attentions: those that transformers gives are
    whole matrices."""
    directory = ROOT / name
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    model.eval()
    randomise(model)
    model.save_pretrained(directory, safe_serialization=True)
    (directory / "generation_config.json").unlink(missing_ok=True)
    values = expected(model, lines, attentions)
    weights = load_file(directory / "model.safetensors")
    if rename:
        values = {("gradient/" + rename(k[9:]) if k.startswith("gradient/") else k): v for k, v in values.items()}
        weights = {rename(k): v for k, v in weights.items()}
        save_file(weights, directory / "model.safetensors", metadata={"format": "pt"})
    if convert:
        gradients = convert({k[9:]: v for k, v in values.items() if k.startswith("gradient/")})
        values = {k: v for k, v in values.items() if not k.startswith("gradient/")}
        values.update({"gradient/" + k: v for k, v in gradients.items()})
        save_file(convert(weights), directory / "model.safetensors", metadata={"format": "pt"})
    if edit_config:
        config = json.loads((directory / "config.json").read_text())
        (directory / "config.json").write_text(json.dumps(edit_config(config), indent=2, sort_keys=True) + "\n")
    save_file(values, directory / "expected.safetensors", metadata={"format": "pt"})
    (directory / "input.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    if training:
        (directory / "training.json").write_text(json.dumps(train(model, lines), indent=1) + "\n")


def bert_config(**other):
    values = dict(vocab_size=37, hidden_size=24, num_hidden_layers=2, num_attention_heads=3, intermediate_size=40, hidden_act="gelu_new",
                  hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, max_position_embeddings=19, type_vocab_size=3,
                  initializer_range=0.05, layer_norm_eps=1e-3, pad_token_id=1, attn_implementation="eager")
    return tf.BertConfig(**{**values, **other})


def gamma_beta(name):
    return name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")


def bert_masked_lm():
    torch.manual_seed(1)
    write("bert_masked_lm", tf.BertForMaskedLM(bert_config()), with_padding(token_lines(37, typed=True), 1))


def bert_untied_gamma_beta():
    torch.manual_seed(2)
    model = tf.BertForMaskedLM(bert_config(tie_word_embeddings=False, hidden_act="gelu"))
    write("bert_untied_gamma_beta", model, token_lines(37, typed=True), rename=gamma_beta)


def bert_classification():
    torch.manual_seed(3)
    config = bert_config(hidden_act="relu", num_labels=3, id2label={0: "a", 1: "b", 2: "c"}, label2id={"a": 0, "b": 1, "c": 2},
                         classifier_dropout=0.0)
    write("bert_classification", tf.BertForSequenceClassification(config), class_lines(37, 3))


def llama_config(**other):
    values = dict(vocab_size=41, hidden_size=24, intermediate_size=36, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
                  head_dim=10, hidden_act="gelu", max_position_embeddings=17, initializer_range=0.05, rms_norm_eps=1e-3, pad_token_id=2,
                  bos_token_id=0, eos_token_id=1, tie_word_embeddings=True, attention_bias=True, mlp_bias=True, attention_dropout=0.0,
                  rope_parameters={"rope_type": "default", "rope_theta": 500.0}, attn_implementation="eager")
    return tf.LlamaConfig(**{**values, **other})


def old_rope(config):
    """transformers 4's spelling: rope_theta with rope_scaling, torch_dtype."""
    rope = config.pop("rope_parameters")
    config["rope_theta"] = rope.pop("rope_theta")
    config["rope_scaling"] = rope if rope.get("rope_type") != "default" else None
    config["torch_dtype"] = config.pop("dtype", "float32")
    return config


def llama_tied_biased():
    torch.manual_seed(4)
    write("llama_tied_biased", tf.LlamaForCausalLM(llama_config()), with_padding(token_lines(41), 2))


def llama_untied_llama3_rope():
    torch.manual_seed(5)
    rope = {"rope_type": "llama3", "rope_theta": 300.0, "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 3.0,
            "original_max_position_embeddings": 8}
    model = tf.LlamaForCausalLM(llama_config(tie_word_embeddings=False, attention_bias=False, mlp_bias=False, hidden_act="silu",
                                             rope_parameters=rope, num_key_value_heads=1))
    write("llama_untied_llama3_rope", model, token_lines(41), edit_config=old_rope)


def llama_linear_rope_old():
    torch.manual_seed(6)
    rope = {"rope_type": "linear", "rope_theta": 900.0, "factor": 3.0}
    model = tf.LlamaForCausalLM(llama_config(rope_parameters=rope, hidden_act="relu", mlp_bias=False))
    write("llama_linear_rope_old", model, token_lines(41), edit_config=old_rope)


def llama_yarn_rope():
    torch.manual_seed(12)
    rope = {"rope_type": "yarn", "rope_theta": 300.0, "factor": 4.0, "original_max_position_embeddings": 4, "beta_fast": 2.0, "beta_slow": 0.1}
    write("llama_yarn_rope", tf.LlamaForCausalLM(llama_config(rope_parameters=rope, mlp_bias=False)), token_lines(41))


def gpt2_config(**other):
    values = dict(vocab_size=43, n_positions=21, n_embd=24, n_layer=2, n_head=3, n_inner=50, activation_function="relu", resid_pdrop=0.0,
                  embd_pdrop=0.0, attn_pdrop=0.0, layer_norm_epsilon=1e-3, initializer_range=0.05, scale_attn_weights=True,
                  scale_attn_by_inverse_layer_idx=True, bos_token_id=0, eos_token_id=1, attn_implementation="eager")
    return tf.GPT2Config(**{**values, **other})


def gpt2_tied():
    torch.manual_seed(7)
    write("gpt2_tied", tf.GPT2LMHeadModel(gpt2_config()), token_lines(43))


def gpt2_untied_unscaled():
    torch.manual_seed(8)
    model = tf.GPT2LMHeadModel(gpt2_config(tie_word_embeddings=False, scale_attn_weights=False, scale_attn_by_inverse_layer_idx=False,
                                           activation_function="gelu_new", n_inner=None))
    write("gpt2_untied_unscaled", model, token_lines(43))


def gpt2_without_prefix():
    torch.manual_seed(9)
    model = tf.GPT2LMHeadModel(gpt2_config(activation_function="silu", scale_attn_by_inverse_layer_idx=False))
    write("gpt2_without_prefix", model, token_lines(43), rename=lambda n: n.removeprefix("transformer."))


def marian_config(**other):
    values = dict(vocab_size=39, d_model=24, encoder_layers=2, decoder_layers=3, encoder_attention_heads=3, decoder_attention_heads=4,
                  encoder_ffn_dim=30, decoder_ffn_dim=44, max_position_embeddings=23, activation_function="relu", dropout=0.0,
                  attention_dropout=0.0, activation_dropout=0.0, init_std=0.05, scale_embedding=True, pad_token_id=38, eos_token_id=2,
                  decoder_start_token_id=38, forced_eos_token_id=2, attn_implementation="eager")
    return tf.MarianConfig(**{**values, **other})


def marian_scaled():
    torch.manual_seed(10)
    write("marian_scaled", tf.MarianMTModel(marian_config()), pair_lines(38))


def marian_unscaled():
    torch.manual_seed(11)
    model = tf.MarianMTModel(marian_config(scale_embedding=False, activation_function="silu", decoder_start_token_id=3, pad_token_id=0))
    write("marian_unscaled", model, with_padding(pair_lines(38), 0))


ALL = [bert_masked_lm, bert_untied_gamma_beta, bert_classification, llama_tied_biased, llama_untied_llama3_rope, llama_linear_rope_old,
       llama_yarn_rope, gpt2_tied, gpt2_untied_unscaled, gpt2_without_prefix, marian_scaled, marian_unscaled]

if __name__ == "__main__":
    chosen = sys.argv[1:]
    for make in ALL:
        if not chosen or make.__name__ in chosen:
            make()
            print(make.__name__)

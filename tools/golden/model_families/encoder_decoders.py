#!/usr/bin/env python3
"""Goldens of encoder-decoders, made as those of ../models.py are (which see).

usage: tools/golden/model_families/encoder_decoders.py [NAME...]     writes tests/golden/models/NAME/ for each NAME (all without one)

Before a golden is kept, the directory is opened by from_pretrained, and must give the logits that were written.
"""
import pathlib
import sys

import torch
import transformers as tf
from safetensors.torch import load_file

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import models as base

VOCAB = 39


def check_reload(name, model, lines):
    again = type(model).from_pretrained(base.ROOT / name, attn_implementation="eager").eval()
    golden = load_file(base.ROOT / name / "expected.safetensors")
    for i, line in enumerate(lines):
        with torch.no_grad():
            logits = base.forward(again, line).logits[0]
        assert torch.allclose(logits, golden[f"{i}/logits"], atol=1e-5), (name, i)


def write(name, model, lines, **other):
    base.write(name, model, lines, **other)
    check_reload(name, model, lines)


def with_own_head(model):
    """An lm_head.weight that differs from the embedding, which the config ties it to."""
    generator = torch.Generator().manual_seed(21)
    weight = model.get_input_embeddings().weight.detach()
    model.lm_head.weight = torch.nn.Parameter(weight + torch.randn(weight.shape, generator=generator) * 0.1)
    return model


def class_lines(end, classes):
    """Each text has end tokens, the last of which counts."""
    lines = base.token_lines(VOCAB)
    for i, line in enumerate(lines):
        line["ids"] = [7 if id == end else id for id in line["ids"]]
        line["ids"][-1 if i % 2 == 0 else len(line["ids"]) // 2] = end
        line["labels"] = [i % classes]
    lines[2]["ids"][3] = end
    return lines


def bart_like(kind, **other):
    values = dict(vocab_size=VOCAB, d_model=12, encoder_layers=2, decoder_layers=1, encoder_attention_heads=3, decoder_attention_heads=2,
                  encoder_ffn_dim=14, decoder_ffn_dim=22, max_position_embeddings=23, activation_function="silu", dropout=0.0,
                  attention_dropout=0.0, activation_dropout=0.0, classifier_dropout=0.0, encoder_layerdrop=0.0, decoder_layerdrop=0.0,
                  init_std=0.2, scale_embedding=True, pad_token_id=2, bos_token_id=3, eos_token_id=6, decoder_start_token_id=4,
                  forced_eos_token_id=6, attn_implementation="eager")
    return kind(**{**values, **other})


CLASSES = dict(num_labels=4, id2label={0: "a", 1: "b", 2: "c", 3: "d"}, label2id={"a": 0, "b": 1, "c": 2, "d": 3})


def bart_scaled():
    torch.manual_seed(31)
    write("bart_scaled", tf.BartForConditionalGeneration(bart_like(tf.BartConfig)), base.with_padding(base.pair_lines(VOCAB), 2))


def bart_untied():
    torch.manual_seed(32)
    config = bart_like(tf.BartConfig, tie_word_embeddings=False, scale_embedding=False, activation_function="gelu_new", encoder_layers=1,
                       decoder_layers=2)
    write("bart_untied", tf.BartForConditionalGeneration(config), base.pair_lines(VOCAB))


def bart_own_head():
    torch.manual_seed(33)
    config = bart_like(tf.BartConfig, activation_function="relu", encoder_layers=1)
    write("bart_own_head", with_own_head(tf.BartForConditionalGeneration(config)), base.pair_lines(VOCAB))


def bart_classification():
    torch.manual_seed(34)
    config = bart_like(tf.BartConfig, encoder_layers=1, **CLASSES)
    write("bart_classification", tf.BartForSequenceClassification(config), class_lines(6, 4))


def mbart_scaled():
    torch.manual_seed(35)
    write("mbart_scaled", tf.MBartForConditionalGeneration(bart_like(tf.MBartConfig)), base.with_padding(base.pair_lines(VOCAB), 2))


def mbart_classification():
    torch.manual_seed(36)
    config = bart_like(tf.MBartConfig, encoder_layers=1, activation_function="relu", scale_embedding=False, **CLASSES)
    write("mbart_classification", tf.MBartForSequenceClassification(config), class_lines(6, 4))


def pegasus_scaled():
    torch.manual_seed(37)
    model = tf.PegasusForConditionalGeneration(bart_like(tf.PegasusConfig))
    write("pegasus_scaled", model, base.with_padding(base.pair_lines(VOCAB), 2))


def m2m_100_odd_width():
    torch.manual_seed(38)
    config = bart_like(tf.M2M100Config, d_model=15, decoder_attention_heads=5, scale_embedding=False, encoder_layers=1)
    write("m2m_100_odd_width", tf.M2M100ForConditionalGeneration(config), base.with_padding(base.pair_lines(VOCAB), 2))


def m2m_100_scaled():
    torch.manual_seed(39)
    config = bart_like(tf.M2M100Config, activation_function="gelu", encoder_layers=1, pad_token_id=1)
    write("m2m_100_scaled", tf.M2M100ForConditionalGeneration(config), base.pair_lines(VOCAB))


def t5_like(kind, **other):
    values = dict(vocab_size=VOCAB, d_model=12, d_kv=5, d_ff=18, num_layers=2, num_decoder_layers=3, num_heads=2,
                  relative_attention_num_buckets=8, relative_attention_max_distance=9, dropout_rate=0.0, layer_norm_epsilon=1e-3,
                  initializer_factor=0.7, feed_forward_proj="silu", pad_token_id=2, eos_token_id=6, decoder_start_token_id=4,
                  classifier_dropout=0.0, attn_implementation="eager")
    return kind(**{**values, **other})


def untied_in_config(config):
    """As version 1.1 is published: transformers 5 writes another key."""
    config.pop("scale_decoder_outputs", None)
    config["tie_word_embeddings"] = False
    return config


def t5_scaled():
    torch.manual_seed(41)
    write("t5_scaled", tf.T5ForConditionalGeneration(t5_like(tf.T5Config)), base.with_padding(base.pair_lines(VOCAB), 2))


def t5_v1_1():
    torch.manual_seed(42)
    config = t5_like(tf.T5Config, feed_forward_proj="gated-gelu", tie_word_embeddings=False, num_layers=1)
    write("t5_v1_1", with_own_head(tf.T5ForConditionalGeneration(config)), base.pair_lines(VOCAB), edit_config=untied_in_config)


def t5_unscaled():
    torch.manual_seed(43)
    config = t5_like(tf.T5Config, feed_forward_proj="relu", tie_word_embeddings=False, num_decoder_layers=None)
    write("t5_unscaled", tf.T5ForConditionalGeneration(config), base.pair_lines(VOCAB))


def t5_classification():
    torch.manual_seed(44)
    config = t5_like(tf.T5Config, num_layers=1, num_decoder_layers=2, **CLASSES)
    write("t5_classification", tf.T5ForSequenceClassification(config), class_lines(6, 4))


def mt5_own_head():
    torch.manual_seed(45)
    config = t5_like(tf.MT5Config, feed_forward_proj="gated-silu", num_decoder_layers=2, tie_word_embeddings=False)
    write("mt5_own_head", with_own_head(tf.MT5ForConditionalGeneration(config)), base.pair_lines(VOCAB), edit_config=untied_in_config)


def mt5_tied():
    torch.manual_seed(46)
    config = t5_like(tf.MT5Config, feed_forward_proj="gated-gelu", num_layers=1, num_decoder_layers=2)
    write("mt5_tied", tf.MT5ForConditionalGeneration(config), base.with_padding(base.pair_lines(VOCAB), 2))


def umt5_scaled():
    torch.manual_seed(47)
    config = t5_like(tf.UMT5Config, feed_forward_proj="gated-relu", num_decoder_layers=2)
    write("umt5_scaled", tf.UMT5ForConditionalGeneration(config), base.with_padding(base.pair_lines(VOCAB), 2))


def umt5_unscaled():
    torch.manual_seed(48)
    config = t5_like(tf.UMT5Config, feed_forward_proj="gelu", num_layers=1, num_decoder_layers=2, tie_word_embeddings=False)
    write("umt5_unscaled", tf.UMT5ForConditionalGeneration(config), base.pair_lines(VOCAB), edit_config=untied_in_config)


ALL = [bart_scaled, bart_untied, bart_own_head, bart_classification, mbart_scaled, mbart_classification, pegasus_scaled,
       m2m_100_odd_width, m2m_100_scaled, t5_scaled, t5_v1_1, t5_unscaled, t5_classification, mt5_own_head, mt5_tied, umt5_scaled,
       umt5_unscaled]

if __name__ == "__main__":
    chosen = sys.argv[1:]
    for make in ALL:
        if not chosen or make.__name__ in chosen:
            make()
            print(make.__name__, flush=True)

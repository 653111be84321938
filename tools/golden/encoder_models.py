#!/usr/bin/env python3
"""Goldens of encoders, and of heads that tag and answer: tiny seeded checkpoints run by Hugging Face transformers, as models.py makes them.

usage: tools/golden/encoder_models.py [NAME...]     writes tests/golden/models/NAME/ for each NAME (all without one)

Every configurable value differs from its default. Heads other than that of masked tokens are shown once each where they differ.
"""
import sys

import torch
import transformers as tf

from models import gamma_beta, gpt2_config, llama_config, token_lines, with_padding, write

SIZES = dict(vocab_size=37, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=20, hidden_act="gelu_new",
             hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, initializer_range=0.05, layer_norm_eps=1e-3)
THREE = dict(id2label={0: "a", 1: "b", 2: "c"}, label2id={"a": 0, "b": 1, "c": 2})
EAGER = dict(attn_implementation="eager")


def class_lines(vocab, classes, typed=False, lengths=(7, 1, 12, 5)):
    lines = token_lines(vocab, typed, lengths)
    for i, line in enumerate(lines):
        line["labels"] = [i % classes]
    return lines


def tag_lines(vocab, classes, typed=False, lengths=(7, 1, 12, 5)):
    lines = token_lines(vocab, typed, lengths)
    for line in lines:
        line["labels"] = [-100 if label == -100 else label % classes for label in line["labels"]]
    return lines


def answer_lines(vocab, typed=False, lengths=(7, 1, 12, 5)):
    lines = token_lines(vocab, typed, lengths)
    for line in lines:
        length = len(line["ids"])
        line["labels"] = [length // 3, length - 1 - length // 4]
    return lines


def make(name, seed, model, lines, **options):
    """One golden, made when it is called for."""
    def run():
        torch.manual_seed(seed)
        write(name, model(), lines(), **{"training": False, **options})
    run.__name__ = name
    return run


def bert(**other):
    return tf.BertConfig(**{**SIZES, **EAGER, **dict(max_position_embeddings=19, type_vocab_size=3, pad_token_id=1, classifier_dropout=0.0),
                            **other})


BERT = [
    make("bert_tagging", 21, lambda: tf.BertForTokenClassification(bert(hidden_act="relu", **THREE)), lambda: tag_lines(37, 3, True),
         training=True),
    make("bert_answering", 22, lambda: tf.BertForQuestionAnswering(bert(hidden_act="silu")), lambda: answer_lines(37, True), training=True),
]


def roberta(kind, **other):
    return kind(**{**SIZES, **EAGER, **dict(max_position_embeddings=20, type_vocab_size=2, pad_token_id=4, classifier_dropout=0.0), **other})


ROBERTA = [
    make("roberta_masked_lm", 23, lambda: tf.RobertaForMaskedLM(roberta(tf.RobertaConfig)), lambda: with_padding(token_lines(37, True), 4)),
    make("roberta_untied", 24, lambda: tf.RobertaForMaskedLM(roberta(tf.RobertaConfig, tie_word_embeddings=False, type_vocab_size=1)),
         lambda: token_lines(37)),
    make("roberta_classification", 25, lambda: tf.RobertaForSequenceClassification(roberta(tf.RobertaConfig, **THREE)),
         lambda: class_lines(37, 3, True)),
    make("xlm_roberta_tagging", 26, lambda: tf.XLMRobertaForTokenClassification(roberta(tf.XLMRobertaConfig, **THREE)),
         lambda: tag_lines(37, 3, True)),
    make("camembert_answering", 27, lambda: tf.CamembertForQuestionAnswering(roberta(tf.CamembertConfig)), lambda: answer_lines(37, True)),
]


def distilbert(**other):
    values = dict(vocab_size=37, dim=16, n_layers=2, n_heads=2, hidden_dim=20, activation="relu", dropout=0.0, attention_dropout=0.0,
                  qa_dropout=0.0, seq_classif_dropout=0.0, max_position_embeddings=19, initializer_range=0.05, pad_token_id=1,
                  sinusoidal_pos_embds=True)
    return tf.DistilBertConfig(**{**values, **EAGER, **other})


DISTILBERT = [
    make("distilbert_masked_lm", 28, lambda: tf.DistilBertForMaskedLM(distilbert()), lambda: with_padding(token_lines(37), 1)),
    make("distilbert_untied", 29, lambda: tf.DistilBertForMaskedLM(distilbert(tie_word_embeddings=False, activation="gelu")),
         lambda: token_lines(37)),
    make("distilbert_classification", 30, lambda: tf.DistilBertForSequenceClassification(distilbert(**THREE)), lambda: class_lines(37, 3)),
    make("distilbert_answering", 31, lambda: tf.DistilBertForQuestionAnswering(distilbert()), lambda: answer_lines(37)),
]


def electra(**other):
    return tf.ElectraConfig(**{**SIZES, **EAGER, **dict(embedding_size=12, max_position_embeddings=19, type_vocab_size=3, pad_token_id=1,
                                                        classifier_dropout=0.0), **other})


ELECTRA = [
    make("electra_masked_lm", 32, lambda: tf.ElectraForMaskedLM(electra()), lambda: with_padding(token_lines(37, True), 1)),
    make("electra_untied_unprojected", 33, lambda: tf.ElectraForMaskedLM(electra(tie_word_embeddings=False, embedding_size=16)),
         lambda: token_lines(37, True)),
    make("electra_classification", 34, lambda: tf.ElectraForSequenceClassification(electra(**THREE)), lambda: class_lines(37, 3, True)),
]


def albert(**other):
    return tf.AlbertConfig(**{**SIZES, **EAGER, **dict(embedding_size=12, num_hidden_layers=3, num_hidden_groups=2, inner_group_num=2,
                                                       hidden_act="gelu", max_position_embeddings=19, type_vocab_size=3, pad_token_id=1,
                                                       classifier_dropout_prob=0.0), **other})


ALBERT = [
    make("albert_masked_lm", 35, lambda: tf.AlbertForMaskedLM(albert()), lambda: with_padding(token_lines(37, True), 1)),
    make("albert_untied_one_group", 36, lambda: tf.AlbertForMaskedLM(albert(tie_word_embeddings=False, num_hidden_groups=1,
                                                                            inner_group_num=1)), lambda: token_lines(37, True)),
    make("albert_classification", 37, lambda: tf.AlbertForSequenceClassification(albert(**THREE)), lambda: class_lines(37, 3, True)),
]


def mpnet(**other):
    return tf.MPNetConfig(**{**SIZES, **dict(max_position_embeddings=20, relative_attention_num_buckets=34, pad_token_id=1), **other})


MPNET = [
    make("mpnet_masked_lm", 38, lambda: tf.MPNetForMaskedLM(mpnet()), lambda: with_padding(token_lines(37), 1)),
    make("mpnet_classification", 39, lambda: tf.MPNetForSequenceClassification(mpnet(**THREE)), lambda: class_lines(37, 3)),
]


def modernbert(**other):
    values = dict(vocab_size=37, hidden_size=16, intermediate_size=20, num_hidden_layers=3, num_attention_heads=2, hidden_activation="silu",
                  max_position_embeddings=32, initializer_range=0.05, norm_eps=1e-3, norm_bias=True, pad_token_id=2, eos_token_id=3,
                  bos_token_id=4, cls_token_id=4, sep_token_id=3, attention_bias=True, attention_dropout=0.0, local_attention=6,
                  layer_types=["full_attention", "sliding_attention", "full_attention"],
                  rope_parameters={"full_attention": {"rope_type": "default", "rope_theta": 300.0},
                                   "sliding_attention": {"rope_type": "linear", "rope_theta": 70.0, "factor": 2.0}},
                  mlp_bias=True, decoder_bias=True, classifier_pooling="mean", classifier_bias=True, classifier_activation="relu")
    return tf.ModernBertConfig(**{**values, **EAGER, **other})


def older_modernbert(config):
    """As published before transformers 5."""
    rope = config.pop("rope_parameters")
    config["global_rope_theta"] = rope["full_attention"]["rope_theta"]
    config["local_rope_theta"] = rope["sliding_attention"]["rope_theta"]
    del config["layer_types"]
    config["global_attn_every_n_layers"] = 2
    config["layer_norm_eps"] = 1e-5
    config["position_embedding_type"] = "absolute"
    return config


PLAIN_ROPES = {"full_attention": {"rope_type": "default", "rope_theta": 300.0},
               "sliding_attention": {"rope_type": "default", "rope_theta": 70.0}}
MODERNBERT = [
    make("modernbert_masked_lm", 40, lambda: tf.ModernBertForMaskedLM(modernbert()), lambda: with_padding(token_lines(37), 2)),
    make("modernbert_untied_older", 41, lambda: tf.ModernBertForMaskedLM(modernbert(
        tie_word_embeddings=False, norm_bias=False, attention_bias=False, mlp_bias=False, classifier_bias=False,
        rope_parameters=PLAIN_ROPES)), lambda: token_lines(37), edit_config=older_modernbert),
    make("modernbert_classification", 42, lambda: tf.ModernBertForSequenceClassification(modernbert(**THREE)),
         lambda: class_lines(37, 3)),
    make("modernbert_answering", 43, lambda: tf.ModernBertForQuestionAnswering(modernbert(norm_bias=False)), lambda: answer_lines(37)),
]


def deberta(**other):
    values = dict(max_position_embeddings=24, type_vocab_size=3, relative_attention=True, max_relative_positions=11, position_buckets=6,
                  pos_att_type="p2c|c2p", position_biased_input=False, norm_rel_ebd="layer_norm", share_att_key=True, pad_token_id=1,
                  pooler_dropout=0.0, pooler_hidden_act="relu", cls_dropout=0.0, legacy=False)
    return tf.DebertaV2Config(**{**SIZES, **values, **other})


DEBERTA = [
    make("deberta_v3_masked_lm", 44, lambda: tf.DebertaV2ForMaskedLM(deberta()), lambda: with_padding(token_lines(37, True), 1)),
    make("deberta_v2_masked_lm", 45, lambda: tf.DebertaV2ForMaskedLM(deberta(
        legacy=True, share_att_key=False, conv_kernel_size=3, conv_groups=2, conv_act="gelu", position_biased_input=True, type_vocab_size=0,
        embedding_size=12, position_buckets=-1, max_relative_positions=-1, norm_rel_ebd="none")), lambda: token_lines(37)),
    make("deberta_v2_one_kind", 46, lambda: tf.DebertaV2ForMaskedLM(deberta(legacy=True, share_att_key=False, pos_att_type=["c2p"],
                                                                            conv_kernel_size=5, tie_word_embeddings=False)),
         lambda: token_lines(37, True)),
    make("deberta_v2_absolute", 47, lambda: tf.DebertaV2ForTokenClassification(deberta(relative_attention=False, position_biased_input=True,
                                                                                       norm_rel_ebd="none", **THREE)),
         lambda: tag_lines(37, 3, True)),
    make("deberta_v2_classification", 48, lambda: tf.DebertaV2ForSequenceClassification(deberta(pos_att_type="p2c", **THREE)),
         lambda: class_lines(37, 3, True)),
]


def esm(**other):
    values = dict(mask_token_id=5, pad_token_id=1, max_position_embeddings=20, position_embedding_type="rotary", rope_theta=300.0,
                  emb_layer_norm_before=True, token_dropout=True)
    sizes = {k: v for k, v in SIZES.items() if k != "hidden_act"}
    return tf.EsmConfig(**{**sizes, **EAGER, **values, **other})


def masked(lines, token, at):
    for line in lines:
        for place in at:
            if place < len(line["ids"]) - 1:
                line["ids"][place] = token
    return lines


def rounded_frequencies(weights):
    """As the first published files hold them: in each layer, rounded to halves."""
    out = {gamma_beta(k): v for k, v in weights.items() if not k.endswith("inv_freq")}
    for k, v in weights.items():
        if k.endswith("inv_freq"):
            for layer in range(2):
                out[f"esm.encoder.layer.{layer}.attention.self.rotary_embeddings.inv_freq"] = v.clone()
    return out


def esm_with_rounded_frequencies():
    model = tf.EsmForSequenceClassification(esm(emb_layer_norm_before=False, token_dropout=False, **THREE))
    frequencies = model.esm.rotary_embeddings.inv_freq
    frequencies.copy_((frequencies * 1.1).half().float())
    return model


def without_gamma_beta(name):
    """transformers saves these norms of ESM under their oldest names."""
    return name.replace(".gamma", ".weight").replace(".beta", ".bias")


ESM = [
    make("esm_masked_lm", 49, lambda: tf.EsmForMaskedLM(esm()), lambda: masked(with_padding(token_lines(37), 1), 5, (1, 3)), rename=gamma_beta),
    make("esm_absolute_untied", 50, lambda: tf.EsmForMaskedLM(esm(position_embedding_type="absolute", emb_layer_norm_before=False,
                                                                  tie_word_embeddings=False)),
         lambda: masked(with_padding(token_lines(37), 1), 5, (0,)), rename=without_gamma_beta),
    make("esm_classification", 51, esm_with_rounded_frequencies, lambda: class_lines(37, 3), convert=rounded_frequencies),
]


def roformer(**other):
    return tf.RoFormerConfig(**{**SIZES, **dict(embedding_size=12, max_position_embeddings=19, type_vocab_size=3, pad_token_id=1,
                                                rotary_value=True), **other})


ROFORMER = [
    make("roformer_masked_lm", 52, lambda: tf.RoFormerForMaskedLM(roformer()), lambda: with_padding(token_lines(37, True), 1)),
    make("roformer_classification", 53, lambda: tf.RoFormerForSequenceClassification(roformer(embedding_size=16, rotary_value=False, **THREE)),
         lambda: class_lines(37, 3, True)),
]


def nomic(**other):
    values = dict(max_position_embeddings=32, type_vocab_size=3, pad_token_id=1, classifier_dropout=0.0, head_dim=10,
                  rope_parameters={"rope_type": "default", "rope_theta": 300.0})
    return tf.NomicBertConfig(**{**SIZES, **EAGER, **values, **other})


def as_saved(weights):
    """The names that transformers saves under, with one matrix for queries, keys and values: gradients come under others."""
    out = {}
    for name, value in weights.items():
        if "encoder.layers" not in name:
            name = name.replace("nomic_bert.layers", "nomic_bert.encoder.layers")
        for ours, theirs in (("embeddings.LayerNorm", "emb_ln"), ("self_attn.o_proj", "attn.out_proj"), ("up_proj", "fc11"),
                             ("gate_proj", "fc12"), ("down_proj", "fc2"), ("post_attention_layernorm", "norm1"),
                             ("post_mlp_layernorm", "norm2")):
            name = name.replace(ours, theirs)
        out[name] = value
    for layer in range(2):
        at = f"nomic_bert.encoder.layers.{layer}."
        if at + "self_attn.q_proj.weight" in out:
            out[at + "attn.Wqkv.weight"] = torch.cat([out.pop(f"{at}self_attn.{part}_proj.weight") for part in "qkv"])
    return out


def as_nomic_publishes(weights):
    return {name.replace("nomic_bert.", "bert."): value for name, value in as_saved(weights).items()}


def config_as_nomic_publishes(config):
    return {"model_type": "nomic_bert", "architectures": ["NomicBertForPreTraining"], "vocab_size": 37, "n_embd": 16, "n_head": 2, "n_layer": 2,
            "n_inner": 20, "n_positions": 8192, "max_trained_positions": 2048, "activation_function": "swiglu", "attn_pdrop": 0.0,
            "embd_pdrop": 0.0, "resid_pdrop": 0.0, "layer_norm_epsilon": 1e-3, "initializer_range": 0.05, "type_vocab_size": 3,
            "pad_token_id": 1, "rotary_emb_base": 300.0, "rotary_emb_fraction": 1.0, "rotary_emb_interleaved": False,
            "rotary_emb_scale_base": None, "rotary_scaling_factor": None, "qkv_proj_bias": False, "mlp_fc1_bias": False,
            "mlp_fc2_bias": False, "prenorm": False, "parallel_block": False, "use_rms_norm": False, "causal": False,
            "scale_attn_weights": True, "use_flash_attn": True, "fused_bias_fc": True, "dense_seq_output": True, "use_cache": True}


NOMIC = [
    make("nomic_bert_masked_lm", 54, lambda: tf.NomicBertForMaskedLM(nomic()), lambda: with_padding(token_lines(37, True), 1),
         convert=as_saved),
    make("nomic_bert_as_published", 55, lambda: tf.NomicBertForMaskedLM(nomic(hidden_act="silu", head_dim=8)),
         lambda: token_lines(37, True), convert=as_nomic_publishes, edit_config=config_as_nomic_publishes),
    make("nomic_bert_classification", 56, lambda: tf.NomicBertForSequenceClassification(nomic(**THREE)), lambda: class_lines(37, 3, True),
         convert=as_saved),
]


def longformer(**other):
    return tf.LongformerConfig(**{**SIZES, **dict(max_position_embeddings=30, type_vocab_size=3, pad_token_id=1, sep_token_id=3,
                                                  attention_window=[4, 8]), **other})


def separated(lines):
    """<s> question </s></s> text </s>, without a separator elsewhere."""
    for i, line in enumerate(lines):
        line["ids"] = [5 if token == 3 else token for token in line["ids"]]
        for place in (2 + i, 3 + i, len(line["ids"]) - 1):
            line["ids"][place] = 3
    return lines


LONGFORMER = [
    make("longformer_masked_lm", 57, lambda: tf.LongformerForMaskedLM(longformer()),
         lambda: with_padding(token_lines(37, True, (7, 1, 19, 5)), 1), attentions=False),
    make("longformer_classification", 58, lambda: tf.LongformerForSequenceClassification(longformer(**THREE)),
         lambda: class_lines(37, 3, True, (7, 1, 19, 5)), attentions=False),
    make("longformer_answering", 59, lambda: tf.LongformerForQuestionAnswering(longformer(attention_window=4)),
         lambda: separated(answer_lines(37, True, (7, 8, 19, 12))), attentions=False),
]


def big_bird(**other):
    return tf.BigBirdConfig(**{**SIZES, **dict(hidden_act="relu", max_position_embeddings=32, type_vocab_size=3, pad_token_id=1, sep_token_id=3,
                                               use_bias=False, rescale_embeddings=True, block_size=2, num_random_blocks=1,
                                               classifier_dropout=0.0), **other})


def sparse_again(model):
    """A model that read a short sequence has full attention from then on; each line is to be read by a fresh one."""
    model.register_forward_pre_hook(lambda m, args: m.bert.set_attention_type("block_sparse"))
    return model


def questions():
    """<s> question </s> text </s>: with types and without, of which one has no separator; long and short."""
    lines = answer_lines(37, True, (20, 9, 25, 6))
    for i, line in enumerate(lines):
        length = len(line["ids"])
        line["ids"] = [5 if token == 3 else token for token in line["ids"]]
        if i == 3:
            del line["token_type_ids"]
            continue
        for place in (2 + i, length - 1):
            line["ids"][place] = 3
        line["labels"] = [4 + i, length - 2 if i else 0]
        if i != 1:
            del line["token_type_ids"]
    return lines


BIG_BIRD = [
    make("big_bird_masked_lm", 60, lambda: sparse_again(tf.BigBirdForMaskedLM(big_bird())),
         lambda: with_padding(token_lines(37, True, (18, 1, 25, 15)), 1), attentions=False),
    make("big_bird_full_untied", 61, lambda: tf.BigBirdForMaskedLM(big_bird(attention_type="original_full", rescale_embeddings=False,
                                                                            use_bias=True, tie_word_embeddings=False)),
         lambda: token_lines(37, True), attentions=False),
    make("big_bird_classification", 62, lambda: sparse_again(tf.BigBirdForSequenceClassification(big_bird(num_random_blocks=2, **THREE))),
         lambda: class_lines(37, 3, True, (19, 3, 24, 26)), attentions=False),
    make("big_bird_answering", 69, lambda: sparse_again(tf.BigBirdForQuestionAnswering(big_bird(hidden_act="gelu"))), questions,
         attentions=False, training=True),
]


def nystromformer(**other):
    return tf.NystromformerConfig(**{**SIZES, **dict(max_position_embeddings=19, type_vocab_size=3, pad_token_id=1, segment_means_seq_len=12,
                                                     num_landmarks=4, conv_kernel_size=3), **other})


NYSTROMFORMER = [
    make("nystromformer_masked_lm", 63, lambda: tf.NystromformerForMaskedLM(nystromformer()),
         lambda: with_padding(token_lines(37, True, (12, 12)), 1), attentions=False),
    make("nystromformer_exact_classification", 64,
         lambda: tf.NystromformerForSequenceClassification(nystromformer(segment_means_seq_len=8, num_landmarks=8, **THREE)),
         lambda: class_lines(37, 3, True, (8, 5, 12)), attentions=False),
]

DECODERS = [
    make("llama_tagging", 65, lambda: tf.LlamaForTokenClassification(llama_config(classifier_dropout=0.0, **THREE)),
         lambda: tag_lines(41, 3)),
    make("llama_answering", 66, lambda: tf.LlamaForQuestionAnswering(llama_config(mlp_bias=False)), lambda: answer_lines(41)),
    make("gpt2_tagging", 67, lambda: tf.GPT2ForTokenClassification(gpt2_config(classifier_dropout=0.0, **THREE)),
         lambda: tag_lines(43, 3)),
    make("gpt2_answering", 68, lambda: tf.GPT2ForQuestionAnswering(gpt2_config()), lambda: answer_lines(43)),
]

ALL = BERT + ROBERTA + DISTILBERT + ELECTRA + ALBERT + MPNET + MODERNBERT + DEBERTA + ESM + ROFORMER + NOMIC + LONGFORMER + BIG_BIRD + NYSTROMFORMER + DECODERS

if __name__ == "__main__":
    chosen = sys.argv[1:]
    for generate in ALL:
        if not chosen or generate.__name__ in chosen:
            generate()
            print(generate.__name__)

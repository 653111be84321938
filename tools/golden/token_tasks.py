#!/usr/bin/env python3
"""Goldens of tagging and answering: tiny seeded models as published, and what transformers' pipeline (entities) and the post-processing of its
question answering examples (answers) make of some texts.

usage: tools/golden/token_tasks.py     writes tests/golden/token_tasks/NAME/

Needs torch, transformers and tokenizers in an environment of its own. Each directory is a model, with expected.json.
"""
import json
import pathlib
import shutil

import torch
import transformers as tf
from tokenizers import Tokenizer, models, pre_tokenizers, processors, decoders, trainers

ROOT = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden" / "token_tasks"
LABELS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC", "MISC"]
WORDS = "[PAD] [UNK] [CLS] [SEP] [MASK] ada love ##lace met bab ##bage in lon ##don , . the notes ##s of who wrote where ? a engine ##er and é".split()
TEXTS = ["Ada Lovelace met Babbage in London.", "The notes of the engineers, and Ada", "Zürich — é Lovelace's notes", "met", "ada  ada\tada lovelace babbage london"]
QUESTIONS = [("Who met Babbage?", "Ada Lovelace met Babbage in London."), ("Where?", "The notes of the engineers: é London — Ada wrote the notes"), ("who wrote the notes", "ada")]


def settings():
    return dict(hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24, max_position_embeddings=48, initializer_range=0.8)


def word_piece(directory):
    (directory / "vocab.txt").write_text("\n".join(WORDS) + "\n")
    tokenizer = tf.BertTokenizerFast(vocab_file=str(directory / "vocab.txt"), do_lower_case=True)
    tokenizer.save_pretrained(directory)
    return tokenizer


def byte_bpe(directory):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=300, special_tokens=["<s>", "<pad>", "</s>", "<unk>"], initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False)
    tokenizer.train_from_iterator(TEXTS * 4, trainer)
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    fast = tf.PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", cls_token="<s>", sep_token="</s>", unk_token="<unk>", pad_token="<pad>")
    fast.save_pretrained(directory)
    return fast


def by_token(model):
    """Makes what is said of a token depend on the token more than on its neighbours."""
    with torch.no_grad():
        model.bert.embeddings.word_embeddings.weight.mul_(6)
        for layer in model.bert.encoder.layer:
            layer.attention.output.dense.weight.mul_(0.3)
    return model.eval()


def fresh(name, seed):
    target = ROOT / name
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    torch.manual_seed(seed)
    return target


def entities(name, make_tokenizer):
    target = fresh(name, 11)
    tokenizer = make_tokenizer(target)
    config = tf.BertConfig(vocab_size=len(tokenizer), id2label=dict(enumerate(LABELS)), label2id={l: i for i, l in enumerate(LABELS)}, **settings())
    model = by_token(tf.BertForTokenClassification(config))
    with torch.no_grad():  # so that no label is everywhere the likeliest
        model.classifier.bias.sub_(torch.cat([model(**tokenizer(text, return_tensors="pt")).logits[0] for text in TEXTS]).mean(0))
    model.save_pretrained(target)
    pipeline = tf.pipeline("token-classification", model=model, tokenizer=tokenizer, device="cpu")
    found = {}
    for grouping in ("simple", "first", "average", "max"):
        found[grouping] = [[[e["entity_group"], e["start"], e["end"], float(e["score"])] for e in pipeline(text, aggregation_strategy=grouping)] for text in TEXTS]
    (target / "expected.json").write_text(json.dumps({"texts": TEXTS, "entities": found}))


def answers(name, sign):
    """Sums of start and end logits over spans of at most `most` tokens; the first token's for none; scores are the softmax over them all."""
    target = fresh(name, 15)
    tokenizer = word_piece(target)
    model = by_token(tf.BertForQuestionAnswering(tf.BertConfig(vocab_size=len(tokenizer), **settings())))
    with torch.no_grad():
        model.qa_outputs.weight.mul_(sign)
    model.save_pretrained(target)
    cases = []
    for most in (1, 4, 30):
        for question, text in QUESTIONS:
            read = tokenizer(question, text, return_offsets_mapping=True, return_tensors="pt")
            offsets, of = read.pop("offset_mapping")[0].tolist(), read.sequence_ids(0)
            with torch.no_grad():
                out = model(**read)
            start, end = out.start_logits[0].double(), out.end_logits[0].double()
            spans = [(start[a] + end[b], a, b) for a in range(len(of)) if of[a] == 1 for b in range(a, min(a + most, len(of))) if of[b] == 1]
            logit, first, last = max(spans, key=lambda s: s[0])
            none = start[0] + end[0]
            logits = torch.stack([s[0] for s in spans])
            case = {"question": question, "text": text, "most": most, "start": offsets[first][0], "end": offsets[last][1],
                    "score": float((logit - logits.logsumexp(0)).exp())}
            every = torch.cat([logits, none[None]]).logsumexp(0)
            case["with_none"] = {"none_wins": bool(none > logit), "score": float((logit - every).exp()), "none_score": float((none - every).exp())}
            cases.append(case)
    (target / "expected.json").write_text(json.dumps(cases))


entities("entities_word_piece", word_piece)
entities("entities_byte_bpe", byte_bpe)
answers("answers", 1)
answers("answers_other_way", -1)  # where no answer is unlikely

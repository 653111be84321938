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
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, decoders, trainers

ROOT = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden" / "token_tasks"
LABELS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC", "MISC"]
WORDS = "[PAD] [UNK] [CLS] [SEP] [MASK] ada love ##lace met bab ##bage in lon ##don , . the notes ##s of who wrote where ? a engine ##er and é".split()
TEXTS = ["Ada Lovelace met Babbage in London.", "The notes of the engineers, and Ada", "Zürich — é Lovelace's notes", "met", "ada  ada\tada lovelace babbage london"]
QUESTIONS = [("Who met Babbage?", "Ada Lovelace met Babbage in London."), ("Where?", "The notes of the engineers: é London — Ada wrote the notes"), ("who wrote the notes", "ada")]


def settings():
    return dict(hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24, max_position_embeddings=48, initializer_range=0.8)


def word_piece(directory):
    tokenizer = Tokenizer(models.WordPiece({word: i for i, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    fast = tf.PreTrainedTokenizerFast(tokenizer_object=tokenizer, cls_token="[CLS]", sep_token="[SEP]", unk_token="[UNK]", pad_token="[PAD]", mask_token="[MASK]", model_input_names=["input_ids", "token_type_ids", "attention_mask"])
    fast.save_pretrained(directory)
    return fast


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


# Words, and which of them are an entity: (first, behind the last, kind).
MARKED = [("Ada Lovelace met Babbage in London", [(0, 2, "PER"), (3, 4, "PER"), (5, 6, "LOC")]), ("the engine", []),
          ("London London lovelaces , Ada Babbage", [(0, 1, "LOC"), (1, 2, "LOC"), (2, 3, "PER"), (4, 5, "PER"), (5, 6, "PER")]),
          ("wrote é Zürich engineer", [(1, 2, "LOC"), (2, 4, "LOC")])]


def labels_of_tokens(tokenizer):
    """tokenize_and_align_labels of transformers' token classification example, with label_all_tokens."""
    cases = []
    for text, marked in MARKED:
        words, ids = text.split(" "), {label: i for i, label in enumerate(LABELS)}
        tags = [0] * len(words)
        for begin, end, kind in marked:
            for w in range(begin, end):
                tags[w] = ids[("B-" if w == begin else "I-") + kind]
        b_to_i = {i: ids.get("I-" + label[2:], i) if label.startswith("B-") else i for i, label in enumerate(LABELS)}
        read, labels, before = tokenizer(words, is_split_into_words=True), [], None
        for word in read.word_ids():
            labels.append(-100 if word is None else tags[word] if word != before else b_to_i[tags[word]])
            before = word
        starts = [len(" ".join(words[:w])) + (w > 0) for w in range(len(words))]
        cases.append({"text": text, "entities": [{"start": starts[b], "end": starts[e - 1] + len(words[e - 1]), "label": kind} for b, e, kind in marked],
                      "ids": read["input_ids"], "labels": labels})
    return cases


LONG = "the notes of ada , the engineers and babbage in london . who wrote the notes ? ada wrote of babbage"
LONGEST = 16  # tokens of a window


def labels_of_answers(tokenizer):
    """prepare_train_features of transformers' question answering example, for windows that share a quarter, the last flush with the end.

    Its loops end with the text here: there, of a text whose last token is the answer's first, they run on into what stands behind."""
    cases = []
    for question, context, answer in [("who ?", LONG, "ada , the engineers"), ("where", LONG, "london"), ("who wrote", LONG, "babbage in london . who"), ("who", LONG, ""),
                                      ("a", LONG, "of babbage"), ("Where?", "Ada met Babbage", "Babbage"), ("where ?", "Ada met Babbage", "Ad")]:
        read = tokenizer(question, context, return_offsets_mapping=True, return_token_type_ids=True)
        of, offsets = read.sequence_ids(0), read["offset_mapping"]
        first, size = of.index(1), of.count(1)
        room = LONGEST - (len(of) - size)
        starts = [0] if size <= room else list(range(0, size - room, room - room // 4)) + [size - room]
        start = context.rindex(answer) if answer else -1
        windows = []
        for w in starts:
            keep = [t for t in range(len(of)) if not (first <= t < first + size) or first + w <= t < first + w + room]
            places, sequence = [offsets[t] for t in keep], [of[t] for t in keep]
            begin, end = sequence.index(1), len(sequence) - 1 - sequence[::-1].index(1)
            last, label = end, [0, 0]
            if answer and places[begin][0] <= start and places[end][1] >= start + len(answer):
                while begin <= last and places[begin][0] <= start:
                    begin += 1
                while places[end][1] >= start + len(answer):
                    end -= 1
                label = [begin - 1, end + 1]
            windows.append({"ids": [read["input_ids"][t] for t in keep], "token_type_ids": [read["token_type_ids"][t] for t in keep], "labels": label})
        cases.append({"question": question, "context": context, "answers": [{"text": answer, "start": start}] if answer else [], "windows": windows})
    return cases


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
    (target / "labels.json").write_text(json.dumps(labels_of_tokens(tokenizer)))


def bert(tokenizer):
    return tf.BertForQuestionAnswering(tf.BertConfig(vocab_size=len(tokenizer), **settings()))


def bert_other_way(tokenizer):
    """No answer is unlikely."""
    model = bert(tokenizer)
    with torch.no_grad():
        model.qa_outputs.weight.neg_()
    return model


def big_bird(tokenizer):
    """Finds out the types itself, from the separator."""
    tokenizer.model_input_names = ["input_ids", "attention_mask"]
    return tf.BigBirdForQuestionAnswering(tf.BigBirdConfig(vocab_size=len(tokenizer), sep_token_id=3, **settings()))


def answers(name, make_model):
    """Sums of start and end logits over spans of at most `most` tokens; the first token's for none; scores are the softmax over them all."""
    target = fresh(name, 15)
    tokenizer = word_piece(target)
    model = by_token(make_model(tokenizer))
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
    (target / "labels.json").write_text(json.dumps({"longest": LONGEST, "questions": labels_of_answers(tokenizer)}))


entities("entities_word_piece", word_piece)
entities("entities_byte_bpe", byte_bpe)
answers("answers", bert)
answers("answers_other_way", bert_other_way)
answers("answers_of_big_bird", big_bird)

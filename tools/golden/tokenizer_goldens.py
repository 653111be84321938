#!/usr/bin/env python3
"""Writes tests/golden/text/*.json: small tokenizers of every kind and option, made with Hugging Face's tokenizers, and what they
give for texts that are hard in the ways that real ones are.

usage: tokenizer_goldens.py OUTPUT_DIRECTORY [--tokenizers DIRECTORY]

A golden is {"tokenizer": the tokenizer.json, "cases": [{"text", "pair", "special", "ids", "type_ids", "tokens", "offsets",
"mask", "decoded", "decoded_all"}]}. With --tokenizers the tokenizer files alone are written, too.
"""
import argparse
import collections
import io
import json
import math
import pathlib
import tempfile

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

CORPUS = [
    "The patient was discharged on day 12 with instructions to take 40 mg of furosemide twice daily.",
    "We're sure they'll say it's fine, but I'd rather we'd waited; you've seen that John's can't.",
    "Le café était fermé à Noël. Größe, Straße, Ärzte, naïve façade, señor, año, İstanbul, ŞİŞLİ",
    "Привет, мир! Это проверка. Γειά σου Κόσμε, ΣΊΣΥΦΟΣ",
    "你好，世界。今天天气很好。こんにちは世界。안녕하세요 세계",
    "مرحبا بالعالم، كيف حالك؟ שלום עולם",
    "def f(x):\n    return x + 1\n\n\tprint('a  b   c')\r\n",
    "low lower lowest new newer newest wide wider widest unhappy unhappiness 1 22 333 4444",
    "emoji 😀 👍🏽 👨‍👩‍👧‍👦 and more 😀😀 e.g. U.S.A. (a.b@c.de) #tag $5.00 <b>x</b>",
]

TEXTS = [
    "",
    " ",
    "Hello, world!  It's   they'll [MASK] ok.",
    "  lead and trail  \n",
    "\t\ttabs\r\n\r\nlines\n\n\n  x",
    "你好世界 mixed中文text，한국어 조선말 ひらがな",
    "مرحبا بالعالم؟ שָׁלוֹם ‏RTL‎",
    "e\u0301 u\u0308\u0323 o\u0323\u0308 A\u030a \u1e69 \u01d5 \ufb01 ½ Ⅷ ² \u2126 \u0344",
    "👨‍👩‍👧‍👦👍🏽🏳️‍🌈 ☃️",
    "nul\x00bell\x07del\x7fc1\x85nbsp\xa0zwsp\u200bbom\ufeffrepl\ufffdls\u2028x\u3000y\u180ez",
    "ab" * 20 + " " + "x" * 101,
    "3.14 1,000 ١٢٣ ४५ 2nd x² №5 can't 'S 'll ''s don’t",
    "<s>word</s> <mask>  [CLS]x[SEP] foo_bar pre<new>post New new NEW",
    "ÀÉÎ İI ıi ΣΑΣ ẞß Ǆ straße",
    "का ক্ষ த‌மிழ் ไทย Việt\u0302\u0301 \U0001d15e\u302e\u302f한글",
    "a.b,c!d?—h…i\"j\"(k)[l]`q´¿s«u»",
]
PAIRS = [("Hello there", "General Kenobi's  ok"), ("", "b"), ("日本", ""), ("a <mask> b", "It's 5")]

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def bert_template():
    return processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])


def word_piece(normalizer=None, pre=None, post=None, decoder=None, size=360, prefix="##", longest=100):
    t = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=longest))
    t.normalizer = normalizer
    t.pre_tokenizer = pre or pre_tokenizers.BertPreTokenizer()
    t.decoder = decoder or decoders.WordPiece(prefix=prefix)
    t.train_from_iterator(CORPUS, trainers.WordPieceTrainer(
        vocab_size=size, special_tokens=SPECIAL, continuing_subword_prefix=prefix, show_progress=False))
    if prefix != "##":
        t.model.continuing_subword_prefix = prefix
    t.post_processor = post
    return t


def byte_bpe(pre=None, post=None, size=360, special=("<s>", "</s>"), normalizer=None, alphabet=True, **model):
    t = Tokenizer(models.BPE(**model))
    t.normalizer = normalizer
    t.pre_tokenizer = pre or pre_tokenizers.ByteLevel(add_prefix_space=False)
    t.decoder = decoders.ByteLevel()
    t.train_from_iterator(CORPUS, trainers.BpeTrainer(
        vocab_size=size, special_tokens=list(special), show_progress=False,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()) if alphabet else []))
    t.post_processor = post
    return t


def char_bpe(pre, decoder, special=("<unk>",), size=300, normalizer=None, trainer=None, **model):
    t = Tokenizer(models.BPE(**model))
    t.normalizer = normalizer
    t.pre_tokenizer = pre
    t.decoder = decoder
    t.train_from_iterator(CORPUS[:4] + CORPUS[6:], trainers.BpeTrainer(
        vocab_size=size, special_tokens=list(special), show_progress=False, **(trainer or {})))
    return t


def added(t, *tokens):
    for token in tokens:
        (t.add_special_tokens if token.special else t.add_tokens)([token])
    return t


def replace_model(t, **changes):
    data = json.loads(t.to_str())
    data["model"].update(changes)
    return Tokenizer.from_str(json.dumps(data))


def unigram(normalizer=None, pre=None, decoder=None, post=None, special=("<unk>", "<s>", "</s>"), byte_fallback=False, unk_id=0):
    """Scores by hand, so that the same tokenizer comes each time: substrings of the corpus's words by count and length."""
    counts = collections.Counter()
    for text in CORPUS[:4] + CORPUS[6:8]:
        for word in text.split():
            word = "▁" + word
            for i in range(len(word)):
                for length in range(1, 7):
                    if i + length <= len(word): counts[word[i:i + length]] += 1
    chosen = sorted(counts, key=lambda piece: (-counts[piece] * len(piece), piece))[:420]
    total = sum(counts[piece] * len(piece) for piece in chosen)
    vocab = [(token, 0.0) for token in special] + [(piece, math.log(counts[piece] * len(piece) / total)) for piece in chosen]
    t = Tokenizer(models.Unigram(vocab, unk_id=unk_id, byte_fallback=byte_fallback))
    t.normalizer = normalizer
    t.pre_tokenizer = pre
    t.decoder = decoder
    t.post_processor = post
    return t


def more_tokenizers():
    N, P, D, R = normalizers, pre_tokenizers, decoders, processors
    yield "unigram", added(unigram(N.Sequence([N.Nmt(), N.NFKC(), N.Replace(Regex(" {2,}"), " ")]), P.Metaspace(), D.Metaspace(),
                                   R.TemplateProcessing(single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 2)])),
                           AddedToken("<extra_id_0>", special=True, normalized=False))
    bytes_ = ["<unk>", "<s>", "</s>"] + [f"<0x{b:02X}>" for b in range(256)]
    yield "unigram_bytes", unigram(None, P.Metaspace(prepend_scheme="first", split=False),
                                   D.Sequence([D.ByteFallback(), D.Metaspace(prepend_scheme="first")]), special=bytes_, byte_fallback=True)
    yield "unigram_precompiled", unigram(N.Sequence([N.Precompiled(charsmap()), N.Strip(left=False), N.Replace(Regex(" {2,}"), "▁")]),
                                         P.Sequence([P.WhitespaceSplit(), P.Metaspace(prepend_scheme="always")]), D.Metaspace())
    yield "unigram_scripts", unigram(None, P.Sequence([P.UnicodeScripts(), P.Metaspace(prepend_scheme="never"), P.Punctuation("isolated")]),
                                     D.Metaspace(prepend_scheme="never"))
    framed = word_piece(N.BertNormalizer())
    framed.post_processor = R.Sequence([R.BertProcessing(("[SEP]", 3), ("[CLS]", 2)), R.RobertaProcessing(("[UNK]", 1), ("[MASK]", 4), trim_offsets=False),
                                        R.TemplateProcessing(single="[PAD] $A", pair="$B:1 [PAD]:2 $A", special_tokens=[("[PAD]", 0)]),
                                        R.BertProcessing(("[SEP]", 3), ("[CLS]", 2))])
    yield "post_sequence", framed
    yield "fixed_length", char_bpe(P.FixedLength(length=4), D.Fuse(), unk_token="<unk>")
    yield "wordpiece_nmt", word_piece(N.Nmt())
    bloom = byte_bpe(P.Sequence([P.Split(Regex(r" ?[^(\s|[.,!?…。，、।۔،])]+"), "isolated"), P.ByteLevel(add_prefix_space=False, use_regex=False)]),
                     R.ByteLevel(trim_offsets=False))
    yield "bloom", bloom
    letters = Tokenizer(models.WordLevel({"<pad>": 0, "<unk>": 1, "|": 2, **{c: i + 3 for i, c in enumerate("ehlorwd's.it")}}, unk_token="<unk>"))
    letters.pre_tokenizer = P.Split(Regex("."), "isolated")
    letters.normalizer = N.Sequence([N.Lowercase(), N.Replace(" ", "|")])
    letters.decoder = D.CTC()
    yield "ctc", letters


def charsmap():
    """A small table of SentencePiece's: keys that begin others, replacements that are longer, shorter, empty, or spaces."""
    import sentencepiece
    from sentencepiece import sentencepiece_model_pb2

    from sentencepiece_goldens import RULES
    with tempfile.TemporaryDirectory() as directory:
        rules = pathlib.Path(directory) / "rules.tsv"
        rules.write_text("".join(f"{a}\t{b}\n" for a, b in RULES))
        written = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(CORPUS), model_writer=written, vocab_size=200, hard_vocab_limit=False,
                                                 num_threads=1, minloglevel=2, normalization_rule_tsv=str(rules))
    model = sentencepiece_model_pb2.ModelProto()
    model.ParseFromString(written.getvalue())
    return model.normalizer_spec.precompiled_charsmap


def tokenizers():
    N, P, D, R = normalizers, pre_tokenizers, decoders, processors
    yield "bert_lower", word_piece(N.BertNormalizer(), post=bert_template())
    yield "bert_cased", word_piece(N.BertNormalizer(lowercase=False), post=R.BertProcessing(("[SEP]", 3), ("[CLS]", 2)))
    yield "bert_accents_off", word_piece(N.BertNormalizer(strip_accents=False, handle_chinese_chars=False), longest=12,
                                         decoder=D.WordPiece(cleanup=False))
    yield "bert_unclean", word_piece(N.BertNormalizer(clean_text=False, lowercase=False, strip_accents=True))
    yield "wordpiece_nfkc", word_piece(N.Sequence([N.NFKC(), N.Lowercase(), N.Strip(right=False)]),
                                       P.Sequence([P.Whitespace(), P.Digits(individual_digits=True)]))
    yield "wordpiece_nfd", word_piece(N.Sequence([N.NFD(), N.StripAccents(), N.Replace(Regex(r"\d+"), "0"), N.Replace("ß", "ss")]),
                                      P.Sequence([P.WhitespaceSplit(), P.Punctuation("merged_with_previous")]))
    yield "gpt2", byte_bpe(post=R.ByteLevel(trim_offsets=False))
    yield "gpt2_trim", byte_bpe(P.ByteLevel(add_prefix_space=True), R.ByteLevel(trim_offsets=True), normalizer=N.NFC())
    roberta = byte_bpe(P.ByteLevel(add_prefix_space=True), R.RobertaProcessing(("</s>", 1), ("<s>", 0)))
    yield "roberta", added(roberta, AddedToken("<mask>", lstrip=True, special=True, normalized=False))
    llama3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
    split = byte_bpe(P.Sequence([P.Split(Regex(llama3), "isolated"), P.ByteLevel(add_prefix_space=False, use_regex=False)]),
                     R.Sequence([R.ByteLevel(trim_offsets=True), R.TemplateProcessing(
                         single="<s> $A", pair="<s> $A <s>:1 $B:1", special_tokens=[("<s>", 0)])]))
    yield "llama3", replace_model(split, ignore_merges=True)
    words = byte_bpe()
    yield "added_tokens", added(
        words, AddedToken("<new>"), AddedToken("new", single_word=True, normalized=False), AddedToken("foo", rstrip=True, lstrip=True),
        AddedToken("lower case", normalized=True), AddedToken("<mask>", lstrip=True, rstrip=True, special=True, normalized=False),
        AddedToken("<m", normalized=False), AddedToken("中文", normalized=False))
    lower = word_piece(N.BertNormalizer(), post=bert_template())
    yield "added_normalized", added(lower, AddedToken("NEW", normalized=True), AddedToken("<MASK>", normalized=True, special=True),
                                    AddedToken("Foo_Bar", normalized=True, single_word=True))
    yield "no_alphabet", byte_bpe(alphabet=False, unk_token="<unk>", special=("<unk>", "</s>"), size=300, normalizer=N.NFKD(),
                                 post=R.RobertaProcessing(("</s>", 1), ("<unk>", 0), trim_offsets=False, add_prefix_space=False))
    meta = char_bpe(P.Metaspace(), D.Metaspace(), unk_token="<unk>", fuse_unk=True)
    yield "metaspace", meta
    llama = char_bpe(None, D.Sequence([D.Replace("▁", " "), D.ByteFallback(), D.Fuse(), D.Strip(" ", 1, 0)]),
                     special=["<unk>", "<s>", "</s>"] + [f"<0x{b:02X}>" for b in range(256)], size=360, unk_token="<unk>",
                     fuse_unk=True, byte_fallback=True, normalizer=N.Sequence([N.Prepend("▁"), N.Replace(" ", "▁")]))
    llama.post_processor = R.TemplateProcessing(single="<s> $A", pair="<s> $A <s>:1 $B:1", special_tokens=[("<s>", 1)])
    yield "byte_fallback", llama
    yield "affixes", char_bpe(P.Split(" ", "merged_with_next"), D.BPEDecoder(), unk_token="<unk>", continuing_subword_prefix="@@",
                              end_of_word_suffix="</w>", trainer=dict(continuing_subword_prefix="@@", end_of_word_suffix="</w>"))
    yield "byte_level_inside", char_bpe(P.Sequence([P.ByteLevel(add_prefix_space=True), P.Split("Ġ", "removed")]), D.ByteLevel(),
                                        special=(), unk_token=None)
    yield "byte_level_normalizer", char_bpe(P.Split(Regex(r"[\w']+|[^\w\s]"), "contiguous", invert=True), D.ByteLevel(),
                                            normalizer=N.ByteLevel(), unk_token="<unk>")
    yield from more_tokenizers()
    level = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    level.pre_tokenizer = P.CharDelimiterSplit(" ")
    level.train_from_iterator(CORPUS, trainers.WordLevelTrainer(special_tokens=SPECIAL, show_progress=False))
    yield "word_level", level


def case(t, text, pair, special):
    e = t.encode(text, pair, add_special_tokens=special)
    return {"text": text, "pair": pair, "special": special, "ids": e.ids, "type_ids": e.type_ids, "tokens": e.tokens,
            "offsets": [list(o) for o in e.offsets], "mask": e.special_tokens_mask,
            "decoded": t.decode(e.ids), "decoded_all": t.decode(e.ids, skip_special_tokens=False)}


def compact(t, one):
    """Lists that are what they nearly always are are left out."""
    vocabulary = {i: token for token, i in t.get_vocab(True).items()}
    if one["tokens"] == [vocabulary[i] for i in one["ids"]]: del one["tokens"]
    if not any(one["type_ids"]): del one["type_ids"]
    if not any(one["mask"]): del one["mask"]
    if one["pair"] is None: del one["pair"]
    if one["special"]: del one["special"]
    if one["decoded"] == one["decoded_all"]: del one["decoded_all"]
    one["offsets"] = [x for o in one["offsets"] for x in o]
    return one


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--tokenizers", type=pathlib.Path)
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    for name, t in tokenizers():
        cases = [compact(t, case(t, text, None, True)) for text in TEXTS]
        cases += [compact(t, case(t, a, b, special)) for a, b in PAIRS for special in ((True, False) if a == PAIRS[0][0] else (True,))]
        if arguments.tokenizers:
            arguments.tokenizers.mkdir(parents=True, exist_ok=True)
            t.save(str(arguments.tokenizers / f"{name}.json"), pretty=False)
        golden = {"tokenizer": json.loads(t.to_str()), "cases": cases}
        (arguments.output / f"{name}.json").write_text(
            json.dumps(golden, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

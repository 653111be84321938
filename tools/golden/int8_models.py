#!/usr/bin/env python3
"""Golden of models in int8: a BERT classifier that compressed-tensors wrote, and what transformers makes of it.

usage: int8_models.py tests/golden/int8     (needs: compressed-tensors, transformers, torch)

Written is a model directory, bert/, whose linear layers but the classifier are in the format int-quantized (weights: a scale for
each output; inputs: rounded a row at a time), with codes down to -128; expected.json beside it has inputs and
logits, with inputs of layers rounded as the config says (to -128..127, where Attune takes -127..127) and exact.
"""
import json
import os
import pathlib
import sys

import torch
from compressed_tensors.compressors import ModelCompressor
from compressed_tensors.quantization import QuantizationConfig, apply_quantization_config
from transformers import AutoModelForSequenceClassification, BertConfig, BertForSequenceClassification

NUMBERS = {"num_bits": 8, "type": "int", "symmetric": True}


def main():
    root = pathlib.Path(sys.argv[1])
    directory = root / "bert"
    torch.manual_seed(5)
    model = BertForSequenceClassification(BertConfig(vocab_size=50, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                                                     intermediate_size=72, max_position_embeddings=40, num_labels=3,
                                                     initializer_range=0.4)).eval()
    config = QuantizationConfig(
        config_groups={"group_0": {"targets": ["Linear"], "weights": {**NUMBERS, "strategy": "channel", "dynamic": False},
                                   "input_activations": {**NUMBERS, "strategy": "token", "dynamic": True}}},
        format="int-quantized", quantization_status="compressed", ignore=["classifier"])
    apply_quantization_config(model, config)
    for module in model.modules():
        if hasattr(module, "weight_scale"):
            largest = module.weight.data.abs().amax(1, keepdim=True)
            module.weight_scale.data = largest / 127.5
    compressor = ModelCompressor.from_pretrained_model(model)
    compressor.compress_model(model)
    model.save_pretrained(directory)
    compressor.update_config(str(directory))
    lowest = min(int(m.weight.min()) for m in model.modules() if getattr(m, "weight", None) is not None and m.weight.dtype == torch.int8)
    assert lowest == -128, lowest

    read = AutoModelForSequenceClassification.from_pretrained(directory, dtype=torch.float32).eval()
    ids = [[2, 7, 11, 13, 3], [2, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 3], [2, 3]]
    with torch.no_grad():
        rounded = [read(torch.tensor([one])).logits[0].tolist() for one in ids]  # makes numbers of its codes at first
        plain = BertForSequenceClassification(model.config).eval()
        plain.load_state_dict({name: value for name, value in read.state_dict().items() if not name.endswith("_scale")})
        exact = [plain(torch.tensor([one])).logits[0].tolist() for one in ids]
    (root / "expected.json").write_text(json.dumps({"ids": ids, "inputs_rounded": rounded, "inputs_exact": exact}) + "\n")
    for stray in directory.glob("*"):
        if stray.name not in ("config.json", "model.safetensors"):
            os.unlink(stray)


if __name__ == "__main__":
    main()

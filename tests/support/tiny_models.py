"""Tiny models in the files that fastembed reads: a sentence encoder and a cross-encoder over single characters."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Regex, Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Split

from cognitive_memory_core.models.local import shipped

EMBEDDER, RERANKER = "BAAI/bge-small-zh-v1.5", "BAAI/bge-reranker-base"
EMBEDDER_FILE, RERANKER_FILE = "model_optimized.onnx", "onnx/model.onnx"  # where fastembed expects them
LENGTH = 512  # numbers of a vector of EMBEDDER
RELEVANT = "猫"  # the character for which the cross-encoder's score is high
_PADDING, _UNKNOWN = "[PAD]", "[UNK]"


def write_embedder(folder: Path, *, length: int = LENGTH, seed: int = 1) -> Path:
    """Write an encoder that adds up one random vector per character, and return its folder."""
    vocabulary = _write_tokenizer(folder)
    table = np.random.default_rng(seed).standard_normal((len(vocabulary), length)).astype(np.float32)
    _write_model(folder / EMBEDDER_FILE, table, keeps_axis=True)
    return folder


def write_reranker(folder: Path) -> Path:
    """Write a cross-encoder that counts RELEVANT, and return its folder."""
    vocabulary = _write_tokenizer(folder)
    table = np.full((len(vocabulary), 1), -0.5, np.float32)
    table[vocabulary[RELEVANT]] = 3.0
    _write_model(folder / RERANKER_FILE, table, keeps_axis=False)
    return folder


def _write_tokenizer(folder: Path) -> dict[str, int]:
    folder.mkdir(parents=True, exist_ok=True)
    known = "".join(pair.question + pair.statement for pair in shipped())
    characters = sorted(set(known + "橘猫狗茶水谁家有宠物养了一只"))
    vocabulary = {token: number for number, token in enumerate([_PADDING, _UNKNOWN, *characters])}
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token=_UNKNOWN))
    tokenizer.pre_tokenizer = Split(Regex("."), "isolated")
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 512, "pad_token": _PADDING}))
    (folder / "config.json").write_text(json.dumps({"pad_token_id": 0}))
    return vocabulary


def _write_model(path: Path, table: np.ndarray, *, keeps_axis: bool) -> None:
    """Write a model whose output is the sum of the table's rows of all tokens that are no padding."""
    path.parent.mkdir(parents=True, exist_ok=True)
    names = "input_ids", "attention_mask"
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["b", "t"]) for name in names]
    shape = ["b", 1, table.shape[1]] if keeps_axis else ["b", table.shape[1]]
    output = helper.make_tensor_value_info("output", TensorProto.FLOAT, shape)
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["rows"]),
        helper.make_node("Cast", ["attention_mask"], ["weights"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["weights", "last"], ["column"]),
        helper.make_node("Mul", ["rows", "column"], ["kept"]),
        helper.make_node("ReduceSum", ["kept", "middle"], ["output"], keepdims=int(keeps_axis)),
    ]
    constants = [
        numpy_helper.from_array(table, "table"),
        numpy_helper.from_array(np.array([2], np.int64), "last"),
        numpy_helper.from_array(np.array([1], np.int64), "middle"),
    ]
    graph = helper.make_graph(nodes, "tiny", inputs, [output], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))

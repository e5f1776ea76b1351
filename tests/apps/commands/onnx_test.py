#!/usr/bin/env python3
"""Exports to ONNX: onnx accepts them, and onnxruntime computes with them what `troupe predict` does.

  onnx_test.py PROGRAM SOURCE_DIR
"""
import csv
import json
import os
import subprocess
import sys
import tempfile

try:
    import numpy
    import onnx
    import onnxruntime
except ImportError as error:
    print(f"skipped: {error} (tests/requirements.txt)")
    sys.exit(77)

PROGRAM, SOURCE = (os.path.abspath(argument) for argument in sys.argv[1:3])
SAMPLES = 7


def troupe(*arguments, code=0):
    """Runs the program, which must end with this exit code. Returns its output."""
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == code, f"{arguments}: {done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def random_input(random, given):
    """Returns samples for an input of an ONNX model."""
    shape = [SAMPLES if isinstance(size, str) else size for size in given.shape]
    numbers = random.integers(0, 10, shape)
    return numbers.astype({"tensor(float)": "float32", "tensor(int32)": "int32", "tensor(int64)": "int64"}[given.type])


def check(model, name, inputs=None, renamed=None):
    """Exports a model, and compares what both runtimes compute, of random inputs if none are given. `renamed` has the names that outputs
    have in ONNX, by their names in Troupe, if these differ."""
    troupe("export", model, f"{name}.onnx")
    onnx.checker.check_model(f"{name}.onnx", full_check=True)
    session = onnxruntime.InferenceSession(f"{name}.onnx")
    random = numpy.random.default_rng(1)
    inputs = inputs or {given.name: random_input(random, given) for given in session.get_inputs()}
    outputs = [output.name for output in session.get_outputs()]
    theirs = session.run(outputs, inputs)
    ours_of = {theirs: ours for ours, theirs in (renamed or {}).items()}
    outputs = [ours_of.get(output, output) for output in outputs]
    numpy.savez(f"{name}_in.npz", **inputs)
    troupe("predict", model, f"{name}_in.npz", "--outputs", ",".join(outputs), "-o", f"{name}_out.npz")
    ours = numpy.load(f"{name}_out.npz")
    for output, values in zip(outputs, theirs):
        numpy.testing.assert_allclose(values, ours[output], rtol=1e-5, atol=1e-6, err_msg=f"{name}: {output}")


def check_table():
    """Exports a model that takes words, and compares the classes of a whole table."""
    model = train("penguins", "--set", "train.max_epochs=9")
    table = os.path.join(SOURCE, "examples", "penguins.csv")
    troupe("export", model, "penguins.onnx")
    onnx.checker.check_model("penguins.onnx", full_check=True)
    with open(table, encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    sizes = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
    inputs = {name: numpy.array([row[name] for row in rows], object) for name in ("island", "sex")}
    inputs["sizes"] = numpy.array([[float(row[size].replace("NA", "nan")) for size in sizes] for row in rows], "float32")
    classes, = onnxruntime.InferenceSession("penguins.onnx").run(["class"], inputs)
    ours = troupe("predict", model, table).split()[1:]
    assert len(ours) == len(rows) == 344 and list(classes) == ours


def check_reviews(model, words, splits):
    """Compares the classes of texts, whose words are lines of the vocabulary."""
    troupe("export", model, "reviews.onnx")
    onnx.checker.check_model("reviews.onnx", full_check=True)
    theirs, = onnxruntime.InferenceSession("reviews.onnx").run(["probabilities"], {"words": words, "words_splits": splits})
    with open(os.path.join(SOURCE, "examples", "reviews_words.txt"), encoding="utf-8") as file:
        vocabulary = file.read().split()
    with open("texts.jsonl", "w", encoding="utf-8") as file:
        for begin, end in zip(splits, splits[1:]):
            file.write(json.dumps({"text": [vocabulary[word] for word in words[begin:end]]}) + "\n")
    troupe("predict", model, "texts.jsonl", "--outputs", "probabilities", "-o", "reviews_out.npz")
    numpy.testing.assert_allclose(theirs, numpy.load("reviews_out.npz")["probabilities"], rtol=1e-5, atol=1e-6)


def check_segments():
    """Exports models whose samples have lengths of their own, and that combine columns by their numbers, of which some are negative."""
    splits = numpy.array([0, 3, 3, 9, 10], "int64")
    words = numpy.arange(10, dtype="int32") * 7 % 144
    check_reviews(train("reviews"), words, splits)
    outputs = ", ".join(f"{how}=\"transpose(unsorted_segment_{how}(transpose(image, [1, 0]), floor_mod(range(0, 64, 1), 9) - 1, 10), "
                        "[1, 0])\"" for how in ["sum", "prod", "max", "min"])
    outputs += ", hot=\"one_hot(cast(argmax(image, 1), 'int32') - 3, 9, on_value=2.0, off_value=-1.0)\""
    check(train("digits", "--set", "run.name=segments", "--set", "model.outputs={" + outputs + "}").replace("digits", "segments"),
          "segments")


def check_layers():
    """Exports layers of sequences and of images that grow."""
    graph = {
        "rows": "reshape(image, [-1, 8, 8])",
        "steps": 'nn.conv1d(nn.position_embedding(rows, steps=8), filters=6, kernel=3, padding="CAUSAL")',
        "both": "nn.lstm(nn.max_pool1d(steps), units=5, sequences=true, bidirectional=true)",
        "plain": 'nn.rnn(steps, units=6, sequences=true)',
        "before": "nn.gru(plain, units=5, reset_after=false, bidirectional=true)",
        "lengths": 'floor_mod(cast(sum(image, 1), "int32"), 3) + 1',
        "seen": "nn.attention(both, both, lengths, heads=2)",
        "turned": "nn.rms_norm(nn.attention(nn.gelu(seen), heads=4, units=8, kv_heads=2, causal=true, rotary=true))",
        "gated": 'nn.prelu(nn.glu(nn.mish(turned) + nn.hard_swish(turned) + nn.gelu_tanh(turned), activation="swish"))',
        "large": "nn.upsample2d(nn.group_norm(reshape(image, [-1, 8, 8, 1]), groups=1), size=[3, 2])",
        "smooth": 'nn.upsample2d(large, method="bilinear")',
        "parts": "concat([nn.global_max_pool1d(seen), nn.flatten(gated), nn.flatten(large), nn.global_max_pool2d(smooth), before], 1)",
        "logits": "nn.dense(parts, units=10)",
        "loss": "mean(sparse_softmax_cross_entropy_with_logits(logits, label))",
    }
    table = ", ".join(f"{name}='{expression}'" for name, expression in graph.items())
    check(train("digits", "--set", "run.name=layers", "--set", "model.variables={}", "--set", "model.graph={" + table + "}")
          .replace("digits", "layers"), "layers")


def check_ops():
    """Exports ops whose form differs in ONNX, and outputs with the names of inputs and of other tensors."""
    graph = {
        "pixels": "reshape(image / 16.0, [-1, 8, 8, 1])",
        "wide": "nn.conv2d(pixels, filters=4, kernel=3, dilations=2)",
        "deep": "nn.depthwise_conv2d(wide, kernel=3, dilations=[1, 3])",
        "grown": "nn.conv2d_transpose(nn.lrn(deep), filters=4, kernel=3, strides=2)",
        "wider": "nn.conv2d_transpose(wide, filters=3, kernel=2, strides=3, padding='VALID')",
        "normed": "nn.batch_norm(grown, scale=false)",
        "blocks": "space_to_depth(depth_to_space(normed, 2), 4)",
        "clipped": "clip_by_value(image, 1.0, 9.0)",
        "sums": "cumsum(image, 1, exclusive=true, reverse=true)",
        "narrow_products": "cast(einsum('bi,bj->bij', [cast(clipped, 'bfloat16'), cast(clipped, 'bfloat16')]), 'float')",
        "products": "einsum('bi,bj->bij', [clipped, clipped])",
        "bright": "cast(all(greater(image, -1.0), 1), 'float')",
        "rows": "gather_nd(transpose(image, [1, 0]), [[3], [5]])",
        "parts": "concat([nn.flatten(blocks), nn.flatten(wider), clipped, sums, nn.flatten(products), nn.flatten(narrow_products), transpose(rows, [1, 0])], 1)",
        "logits": "nn.dense(parts, units=10) + expand_dims(bright, 1)",
        "loss": "mean(sparse_softmax_cross_entropy_with_logits(logits, label))",
    }
    table = ", ".join(f'{name}="{expression}"' for name, expression in graph.items())
    model = train("digits", "--set", "run.name=ops", "--set", "model.variables={}", "--set", "model.graph={" + table + "}",
                  "--set", "model.outputs={image='clipped', Conv_1='wide', given='image', image_output='sums'}")
    check(model.replace("digits", "ops"), "ops", renamed={"image": "image_output_output"})


def train(example, *more):
    troupe("train", os.path.join(SOURCE, "examples", f"{example}.toml"), "-q", "--set", "train.max_epochs=1", *more)
    return os.path.join("runs", example)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for example in ["digits", "digits_cnn", "digits_lstm", "linear", "ratings"]:
            check(train(example), example)
        grouped = "hidden='nn.conv2d(reshape(image, [-1, 8, 8, 1]), filters=4, kernel=3)', "\
                  "groups='nn.conv2d(hidden, filters=6, kernel=3, groups=2)', logits='nn.dense(nn.flatten(groups), units=10)'"
        check(train("digits", "--set", "run.name=grouped", "--set", "model.variables={}", "--set", "model.graph={" + grouped +
                    ", loss='mean(sparse_softmax_cross_entropy_with_logits(logits, label))'}").replace("digits", "grouped"), "grouped")
        check_layers()
        check_ops()
        check_table()
        for model in ["convolution", "functions"]:
            check(os.path.join(SOURCE, "tests", "golden", "models", model), model)
        check_segments()
        refusal = troupe("export", train("reversal"), "reversal.onnx", code=1)
        assert "TensorListStack" in refusal and "no rule that exports this op" in refusal, refusal
        assert not os.path.exists("reversal.onnx")


if __name__ == "__main__":
    main()

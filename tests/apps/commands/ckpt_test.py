#!/usr/bin/env python3
"""Checkpoints as `troupe ckpt` lists, shows, compares, converts and averages them.

  ckpt_test.py PROGRAM SOURCE_DIR
"""
import glob
import json
import os
import struct
import subprocess
import sys
import tempfile

PROGRAM, SOURCE = (os.path.abspath(argument) for argument in sys.argv[1:3])


def troupe(*arguments, code=0):
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == code, f"{arguments}: {done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout


def ckpt(*arguments, code=0):
    return json.loads(troupe("ckpt", *arguments, "--json", code=code))


def tensors_of(path):
    """Reads the floats of a safetensors file."""
    with open(path, "rb") as file:
        data = file.read()
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + length])
    found = {}
    for name, entry in header.items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            begin, end = entry["data_offsets"]
            found[name] = struct.unpack(f"<{(end - begin) // 4}f", data[8 + length + begin:8 + length + end])
    return found


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        troupe("train", os.path.join(SOURCE, "examples", "digits.toml"), "-q", "--set", "train.max_steps=30", "--set", "train.checkpoint.every=10 steps")
        listed = ckpt("ls", "runs/digits")["checkpoints"]
        paths = sorted(glob.glob("runs/digits/001/checkpoints/*"))
        assert [one["name"] for one in listed] == [os.path.basename(path) for path in paths] and len(paths) >= 3, listed
        assert [one["step"] for one in listed][:3] == [10, 20, 30], listed
        assert all(one["bytes"] > 4 * 6400 and "damage" not in one for one in listed), listed

        shown = {one["name"]: one for one in ckpt("show", paths[0])["variables"]}
        w1 = shown["w1"]
        assert w1["dtype"] == "float" and w1["shape"] == [64, 100] and w1["not_finite"] == 0, w1
        assert w1["min"] < w1["mean"] < w1["max"], w1

        # All formats hold the same values.
        troupe("ckpt", "convert", paths[0], "-o", "one.safetensors")
        troupe("ckpt", "convert", "one.safetensors", "-o", "tf/model")
        troupe("ckpt", "convert", "tf/model", "-o", "own/")
        own = glob.glob("own/*")
        assert len(own) == 1 and os.path.exists("tf/model.index"), own
        for converted in ["one.safetensors", "tf/model", "tf/model.index", own[0], "own"]:
            assert ckpt("diff", paths[0], converted) == {"equal": True, "differences": []}, converted
        values = tensors_of("one.safetensors")["w1"]
        assert abs(min(values) - w1["min"]) < 1e-9 and abs(max(values) - w1["max"]) < 1e-9

        differ = {one["name"]: one["greatest"] for one in ckpt("diff", paths[0], paths[1], code=1)["differences"]}
        assert differ["w1"] > 0, differ

        # The mean of two checkpoints.
        troupe("ckpt", "convert", paths[1], "-o", "two.safetensors")
        troupe("ckpt", "average", paths[0], paths[1], "-o", "mean.safetensors")
        one, two, mean = (tensors_of(f"{name}.safetensors") for name in ["one", "two", "mean"])
        assert set(one) == set(mean)
        for name in ["w1", "b2"]:
            for a, b, c in zip(one[name], two[name], mean[name]):
                assert abs((a + b) / 2 - c) <= 1e-6 * max(1, abs(c)), (name, a, b, c)

        # What is left of a deleted checkpoint does not count. A mean in the folder of its run is evaluated as the run's checkpoints are.
        left = "runs/digits/001/checkpoints/000000-round-5"
        os.mkdir(left)
        with open(os.path.join(left, "shard-00000-of-00001-steady.safetensors"), "wb"):
            pass
        troupe("ckpt", "average", left, paths[0], paths[1], "-o", "runs/digits/001/averaged/")
        averaged, = glob.glob("runs/digits/001/averaged/*")
        assert ckpt("diff", "mean.safetensors", averaged) == {"equal": True, "differences": []}
        assert troupe("eval", averaged) != troupe("eval", paths[0])
        troupe("ckpt", "average", left, left, "-o", "other.safetensors", code=2)

        # Refusals leave what is there.
        troupe("ckpt", "convert", paths[1], "-o", "one.safetensors", code=1)
        assert tensors_of("one.safetensors") == one
        troupe("ckpt", "average", paths[0], os.path.join(SOURCE, "tests", "golden", "models", "convolution"), "-o", "other.safetensors", code=2)
        assert not os.path.exists("other.safetensors")
        for arguments in [("ls", "nowhere"), ("show", "nowhere"), ("diff", paths[0]), ("convert", paths[0]), ("average", paths[0], "-o", "x.safetensors")]:
            troupe("ckpt", *arguments, code=2)
        with open("cut.safetensors", "wb") as cut, open("one.safetensors", "rb") as whole:
            cut.write(whole.read()[:-5])
        troupe("ckpt", "show", "cut.safetensors", code=3)
        with open(os.path.join(paths[0], "manifest.json"), "w", encoding="utf-8") as file:
            file.write("{}")
        assert "damage" in ckpt("ls", "runs/digits/001")["checkpoints"][0]


if __name__ == "__main__":
    main()

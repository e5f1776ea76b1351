"""graphs/: ops that save and restore checkpoints, as far as a case may go that leaves no files: what they refuse. Checkpoints that
TensorFlow wrote are in checkpoint/ (make_checkpoint.py)."""
from reference import apply, f32, i64, text, tf
from script import Script


def second_format():
    """A checkpoint that is not there, and names, slices and tensors whose numbers differ."""
    script = Script("graphs/saver_refusals")
    with script.graph.as_default():
        prefix = tf.placeholder(tf.string, None, "prefix")
        names, slices = tf.placeholder(tf.string, None, "names"), tf.placeholder(tf.string, None, "slices")
        prefixes = tf.placeholder(tf.string, None, "prefixes")
        x = tf.placeholder(tf.float32, None, "x")
        save = apply("SaveV2", prefix=prefix, tensor_names=names, shape_and_slices=slices, tensors=[x, x], name="save")
        restore = list(apply("RestoreV2", prefix=prefix, tensor_names=names, shape_and_slices=slices, dtypes=[tf.float32, tf.int64],
                             name="restore").outputs)
        merge = apply("MergeV2Checkpoints", checkpoint_prefixes=prefixes, destination_prefix=prefix, name="merge")
    one, two, nowhere = text(["a"]), text(["a", "b"]), text("nowhere/model")
    script.step(restore, {prefix: nowhere, names: two, slices: text(["", ""])}, fails=True)
    script.step(restore, {prefix: nowhere, names: one, slices: text(["", ""])}, fails=True)
    script.step(restore, {prefix: nowhere, names: two, slices: one}, fails=True)
    script.step(restore, {prefix: text(["a", "b"]), names: two, slices: text(["", ""])}, fails=True)
    script.step(targets=[save], feeds={prefix: nowhere, names: one, slices: text(["", ""]), x: f32([1])}, fails=True)
    script.step(targets=[save], feeds={prefix: nowhere, names: two, slices: one, x: f32([1])}, fails=True)
    script.step(targets=[save], feeds={prefix: nowhere, names: text([["a", "b"]]), slices: text(["", ""]), x: f32([1])}, fails=True)
    script.step(targets=[merge], feeds={prefix: text("model"), prefixes: text(["nowhere/a", "nowhere/b"])}, fails=True)
    script.step(targets=[merge], feeds={prefix: text("model"), prefixes: text("nowhere/a")}, fails=True)
    script.write()


def first_format():
    script = Script("graphs/saver_refusals_v1")
    with script.graph.as_default():
        file, name, piece = (tf.placeholder(tf.string, None, one) for one in ("file", "name", "piece"))
        x = tf.placeholder(tf.float32, None, "x")
        save = apply("Save", filename=file, tensor_names=name, data=[x, x], name="save")
        save_slices = apply("SaveSlices", filename=file, tensor_names=name, shapes_and_slices=piece, data=[x, x], name="save_slices")
        restore = apply("Restore", file_pattern=file, tensor_name=name, dt=tf.float32, name="restore").outputs[0]
        restore_slice = apply("RestoreSlice", file_pattern=file, tensor_name=name, shape_and_slice=piece, dt=tf.float32,
                              name="restore_slice").outputs[0]
    nowhere, a, two = text("nowhere/model"), text("a"), text(["a", "b"])
    script.step([restore], {file: nowhere, name: a}, fails=True)
    script.step([restore_slice], {file: nowhere, name: a, piece: text("3 0,2")}, fails=True)
    script.step(targets=[save], feeds={file: nowhere, name: text(["a"]), x: f32([1])}, fails=True)
    script.step(targets=[save_slices], feeds={file: nowhere, name: two, piece: text(["", "", ""]), x: f32([1])}, fails=True)
    script.step(targets=[save_slices], feeds={file: nowhere, name: two, piece: text(["3 0,1", "nonsense"]), x: f32([1])}, fails=True)
    script.write()


def remapping():
    script = Script("graphs/remap_refusals")
    with script.graph.as_default():
        path, name = tf.placeholder(tf.string, None, "path"), tf.placeholder(tf.string, None, "name")
        rows, columns = tf.placeholder(tf.int64, None, "rows"), tf.placeholder(tf.int64, None, "columns")
        initial = tf.placeholder(tf.float32, None, "initial")
        matrix = apply("LoadAndRemapMatrix", ckpt_path=path, old_tensor_name=name, row_remapping=rows, col_remapping=columns,
                       initializing_values=initial, num_rows=2, num_cols=2, name="matrix").outputs[0]
        lines = list(apply("GenerateVocabRemapping", new_vocab_file=path, old_vocab_file=name, new_vocab_offset=0, num_new_vocab=1,
                           name="lines").outputs)
    feeds = {path: text("nowhere/model"), name: text("w"), rows: i64([0, 1]), columns: i64([]), initial: f32([])}
    script.step([matrix], feeds, fails=True)
    script.step([matrix], feeds | {rows: i64([0])}, fails=True)
    script.step([matrix], feeds | {columns: i64([0])}, fails=True)
    script.step([matrix], feeds | {rows: i64([1, 1])}, fails=True)
    script.step([matrix], feeds | {columns: i64([1, 1])}, fails=True)
    script.step(lines, {path: text("nowhere/new"), name: text("nowhere/old")}, fails=True)
    script.write()


def copy_on_read():
    script = Script("graphs/disable_copy_on_read")
    with script.graph.as_default():
        handle = apply("VarHandleOp", dtype=tf.float32, shape=[2], shared_name="v", name="v").outputs[0]
        assign = apply("AssignVariableOp", resource=handle, value=tf.constant([1.0, 2.0]), name="assign")
        disable = apply("DisableCopyOnRead", resource=handle, name="disable")
        read = apply("ReadVariableOp", resource=handle, dtype=tf.float32, name="read").outputs[0]
    script.run(assign)
    script.run(disable)
    script.step([read])
    script.write()


def refusals():
    second_format()
    first_format()


GRAPHS = (refusals, remapping, copy_on_read)

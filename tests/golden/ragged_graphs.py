"""graphs/: tf.ragged, as a classifier of texts uses it, and its gradients."""
from flow_graphs import own_gradients
from reference import f32, i64, tf
from script import Script


def ragged_texts():
    """Words of texts of different lengths: looked up, weighted by a softmax over each text, added up, joined, gathered, padded."""
    script = Script("graphs/ragged_texts", rtol=1e-5, atol=1e-6)
    with script.graph.as_default():
        words = tf.placeholder(tf.int64, [None], "words")
        splits = tf.placeholder(tf.int64, [None], "splits")
        table = tf.placeholder(tf.float32, [5, 2], "table")
        texts = tf.RaggedTensor.from_row_splits(words, splits)
        vectors = tf.ragged.map_flat_values(lambda ids: tf.tanh(tf.gather(table, ids)), texts)
        score = tf.RaggedTensor.from_row_splits(tf.reduce_sum(vectors.flat_values, 1), splits)
        powers = tf.exp(score - tf.expand_dims(tf.reduce_max(score, axis=1), 1))
        weights = powers / tf.expand_dims(tf.reduce_sum(powers, axis=1), 1)
        read = tf.reduce_sum(vectors * tf.expand_dims(weights, 2), axis=1)
        both = tf.concat([vectors, vectors[:, :1]], axis=1)
        every = tf.gather(tf.concat([both, vectors], axis=0), i64([3, 0, 5]))
        padded = every.to_tensor(default_value=-1.0)
        results = [read, tf.reduce_max(both, axis=1), both.row_splits, every.values, padded, texts.to_sparse().indices, texts.value_rowids()]
        results = [tf.identity(result, name=f"result_{i}") for i, result in enumerate(results)]
        loss = tf.add(tf.reduce_sum(tf.square(read)), tf.reduce_sum(tf.square(padded)), name="loss")
        slope = tf.convert_to_tensor(tf.gradients(loss, table)[0])
    own, expected = own_gradients(script, loss, {table: slope})
    values = {table: f32([[0.1, -0.2], [0.3, 0.5], [-0.7, 0.2], [1.1, -0.4], [0.6, 0.9]])}
    for rows in ([3, 0, 4, 1, 1, 2], [0, 2, 2, 5, 6]), ([1, 1, 1, 1], [0, 1, 2, 3, 4]):
        script.step(results + [slope], values | {words: i64(rows[0]), splits: i64(rows[1])})
        script.step(own, values | {words: i64(rows[0]), splits: i64(rows[1])}, like=expected)
    script.step([results[0]], values | {words: i64([1, 2]), splits: i64([0, 1, 3])}, fails=True)
    script.write()


GRAPHS = (ragged_texts,)

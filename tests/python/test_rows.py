"""What trained models predict for rows of tables, for texts and for files."""
import csv
import math
import pathlib

import numpy as np
import pytest

import troupe

EXAMPLES = pathlib.Path(__file__).parent.parent.parent / "examples"
FEATURES = ["island", "bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g", "sex"]


@pytest.fixture(scope="module")
def penguins(tmp_path_factory):
    """The folder of a trained model."""
    settings = {"run.directory": str(tmp_path_factory.mktemp("runs")), "train.max_epochs": 2}
    return troupe.train(EXAMPLES / "penguins.toml", settings).folder


def table():
    with open(EXAMPLES / "penguins.csv", newline="") as file:
        return list(csv.DictReader(file))


class Frame:
    """What a DataFrame of pandas gives."""

    def __init__(self, rows):
        self._rows = rows

    def to_dict(self, how):
        assert how == "records"
        return self._rows


def test_rows_of_the_table(penguins):
    expected = troupe.predict(penguins, EXAMPLES / "penguins.csv")
    model = troupe.load(penguins)
    assert set(model.columns) == set(FEATURES) and model.columns["island"].values == ["Biscoe", "Dream", "Torgersen"]
    assert model.columns["body_mass_g"] == ("number", True, [])
    rows = [{name: None if row[name] == "NA" else row[name] for name in FEATURES} for row in table()]
    columns = {name: [row[name] for row in rows] for name in FEATURES}
    numbers = [{name: math.nan if value is None else np.float32(value) if name[-1] in "mg" else value for name, value in row.items()}
               for row in rows]
    for given in (rows, columns, Frame(rows), numbers):
        result = model.predict_rows(given)
        assert list(result["class"]) == list(expected["class"])
        np.testing.assert_allclose(result["probabilities"], expected["probabilities"], rtol=1e-5, atol=1e-6)
    with pytest.raises(troupe.InvalidArgumentError, match="rows\\[1\\].*'wings' is no column"):
        model.predict_rows([{}, {"wings": 2}])
    with pytest.raises(ValueError, match="different numbers of rows"):
        model.predict_rows({"island": ["Dream"], "sex": []})
    with pytest.raises(troupe.InvalidArgumentError, match="no rows"):
        model.predict_rows([])
    for mistake, told in [("Dream", "rows are a list of dictionaries.*not 'Dream'"), (3, "not 3"), ([[1, "Dream"]], r"row 0 is \[1"),
                          ({"body_mass_g": 3750, "island": "Dream"}, "the column 'body_mass_g' is 3750; one row is a list")]:
        with pytest.raises(TypeError, match=told):
            model.predict_rows(mistake)
    with pytest.raises(ValueError, match="row 1 has inf in the column 'body_mass_g'"):
        model.predict_rows([{}, {"body_mass_g": math.inf}])


def test_files_and_parts(penguins):
    result = troupe.predict(penguins, [EXAMPLES / "penguins.csv"], outputs="class", keep=["species", "body_mass_g"])
    assert list(result) == ["body_mass_g", "class", "species"] and len(result["class"]) == len(table())
    assert result["body_mass_g"][3] == b"NA" and result["species"][0] == b"Adelie"
    valid = troupe.predict(penguins, part="valid")
    assert set(valid) == {"class", "label", "probabilities"} and valid["probabilities"].shape == (len(valid["label"]), 3)
    with pytest.raises(troupe.InvalidArgumentError, match="nothing to predict"):
        troupe.predict(penguins)
    with pytest.raises(troupe.InvalidArgumentError, match="no output 'klass'; it has class, probabilities"):
        troupe.predict(penguins, part="valid", outputs=["klass"])


def test_texts(tmp_path):
    result = troupe.train(EXAMPLES / "reviews.toml", {"run.directory": str(tmp_path), "train.max_epochs": 1})
    model = result.load()
    texts = ["good not dull", "", "boring"]
    expected = model(text=texts)["probabilities"]
    assert expected.shape == (3, 2)
    rows = model.predict_rows([{"text": text} for text in texts])
    np.testing.assert_array_equal(rows["probabilities"], expected)
    parsed = model(words=np.array([1, 2, 3], np.int32), words_splits=[0, 3], signature="serving_parsed")
    assert parsed["probabilities"].shape == (1, 2)


def test_models_without_tables(tmp_path):
    model = troupe.train(EXAMPLES / "digits.toml", {"run.directory": str(tmp_path), "train.max_steps": 1}).load()
    with pytest.raises(troupe.InvalidArgumentError, match="takes no rows"):
        model.predict_rows([{}])


def test_truth_values_are_those_of_the_table(tmp_path):
    rows = [{"active": i % 3 == 0, "x": i % 5, "y": "yes" if i % 3 == 0 else "no"} for i in range(60)]
    with open(tmp_path / "t.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, ["active", "x", "y"])  # writes True and False
        writer.writeheader()
        writer.writerows(rows)
    (tmp_path / "t.toml").write_text("""
[data]
format = "csv"
train = ["t.csv"]
header = true
label = "y"
label_names = "auto"
batch = 10
[data.columns]
active = "category"
x = "number"
[model.graph]
logits = "nn.dense(features, units=2)"
[train]
loss = "softmax_cross_entropy"
optimizer = { type = "adam", lr = 0.1 }
max_epochs = 30
""")
    model = troupe.train(tmp_path / "t.toml", {"run.directory": str(tmp_path)}).load()
    given = [{name: row[name] for name in ("active", "x")} for row in rows]
    assert [word.decode() for word in model.predict_rows(given)["class"]] == [row["y"] for row in rows]


# Rows that differ in nothing but their labels: the best probabilities are the shares of the weights.
def test_a_column_says_how_much_each_sample_counts(tmp_path):
    (tmp_path / "t.csv").write_text("x,weight,y\n" + "1,3,a\n1,1,b\n" * 8)
    (tmp_path / "t.toml").write_text("""
[data]
format = "csv"
train = ["t.csv"]
header = true
label = "y"
label_names = "auto"
batch = 16
valid = { files = ["t.csv"] }
[data.columns]
x = "number"
weight = { type = "number", input = "weight" }
[model.graph]
logits = "nn.dense(features, units=2)"
[train]
loss = "mean(squeeze(weight, [1]) * nn.softmax_cross_entropy(logits, label, reduction='none')) / mean(weight)"
optimizer = { type = "adam", lr = 0.1 }
max_epochs = 300
""")
    result = troupe.train(tmp_path / "t.toml", {"run.directory": str(tmp_path)})
    of_shares = -(0.75 * np.log(0.75) + 0.25 * np.log(0.25))
    assert result.metrics["valid/loss"] == pytest.approx(of_shares, rel=1e-3)
    probabilities = result.load().predict_rows([{"x": 1}])["probabilities"]     # the weight is not needed
    assert probabilities[0] == pytest.approx([0.75, 0.25], abs=0.01)

"""What a user sees who gives the command line something it cannot use."""

import re

import pandas as pd
import pytest
from typer.testing import CliRunner

from dcoco_viz.train import branch, recipe
from dcoco_viz.train.cli import app


def _run(*args):
    return CliRunner().invoke(app, [str(a) for a in args])


def test_an_unknown_recipe_names_those_there_are(tmp_path):
    result = _run("run", "--recipe", "none", "--data", tmp_path / "x.parquet")
    assert result.exit_code == 1 and "smollm2-cpu" in result.output


def test_a_run_is_not_overwritten_by_accident(tmp_path):
    (tmp_path / "shared.pt").touch()
    result = _run("run", "--data", tmp_path / "x.parquet", "--out", tmp_path)
    assert result.exit_code == 1 and "--resume" in result.output


@pytest.mark.parametrize("name", [path.stem for path in recipe.FOLDER.glob("*.toml")])
def test_every_shipped_recipe_can_be_taken(name):
    loaded = recipe.load(name)
    assert [branch.parse(method).name for method in loaded.methods] == list(loaded.methods)
    assert loaded.sequences % loaded.micro == 0 and loaded.loss_vocab <= loaded.label_vocab


def test_a_recipe_has_a_rate_for_every_head(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text((recipe.FOLDER / "smollm2-cpu.toml").read_text().replace("domino = 0.003, ", ""))
    with pytest.raises(recipe.RecipeError, match="head_lr has a rate for each of dcoco, domino"):
        recipe.load(str(path))


def test_a_recipe_with_a_wrong_field(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text((recipe.FOLDER / "smollm2-cpu.toml").read_text() + "speed = 9\n")
    with pytest.raises(recipe.RecipeError, match="unknown field.*speed"):
        recipe.load(str(path))


def test_a_bad_data_file_is_one_sentence(tmp_path):
    from tests.unit.train import tiny

    tiny.verifier().save_pretrained(tmp_path / "verifier")
    text = (recipe.FOLDER / "smollm2-cpu.toml").read_text().replace('"embedded"', f'"{tmp_path / "verifier"}"')
    (tmp_path / "r.toml").write_text(re.sub(r"target_layer_ids = .*", 'target_layer_ids = "auto"', text))
    pd.DataFrame({"prompt": ["x"]}).to_parquet(tmp_path / "bad.parquet")
    arguments = (
        "--recipe",
        tmp_path / "r.toml",
        "--data",
        tmp_path / "bad.parquet",
        "--out",
        tmp_path / "out",
    )
    result = _run("run", *arguments)
    assert result.exit_code == 1 and "lacks the column(s) source" in result.output
    assert "Traceback" not in result.output

import pytest

from dcoco_viz import presets


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Puts a presets.toml of the test's own in place of the project's."""

    def put(text: str) -> None:
        file = tmp_path / "presets.toml"
        file.write_text(text, encoding="utf-8")
        monkeypatch.setattr(presets, "FILE", file)

    return put


@pytest.fixture(autouse=True)
def _no_drafter_of_the_users(monkeypatch):
    monkeypatch.delenv(presets.DCOCO_VARIABLE, raising=False)


SMALL = """
[mine]
label = "Mine"
verifier = "someone/model"
drafters.dflash = "someone/drafter"
max_model_len = 512
max_num_seqs = 1
kv_cache_gib = 1
memory_gib = 2
"""


def test_the_default_comes_first_and_runs_without_a_gpu():
    assert presets.names()[0] == presets.DEFAULT
    preset = presets.load()
    assert preset.verifier == presets.EMBEDDED and preset.device == "auto" and preset.note == ""
    shipped = presets.ROOT / "assets/checkpoints/smollm2-135m"
    assert preset.drafters == {folder.name: str(folder) for folder in shipped.iterdir()}
    assert {"dflash", "dcoco", "domino", "dspark", "selector"} <= set(preset.drafters)


@pytest.mark.parametrize(
    ("name", "verifier", "drafter"),
    [
        ("qwen3-4b", "Qwen/Qwen3-4B", "z-lab/Qwen3-4B-DFlash-b16"),
        ("qwen3-8b", "Qwen/Qwen3-8B", "z-lab/Qwen3-8B-DFlash-b16"),
        ("qwen3-coder-30b-a3b", "Qwen/Qwen3-Coder-30B-A3B-Instruct", "z-lab/Qwen3-Coder-30B-A3B-DFlash"),
        ("llama-3.1-8b", "meta-llama/Llama-3.1-8B-Instruct", "z-lab/LLaMA3.1-8B-Instruct-DFlash-UltraChat"),
    ],
)
def test_gpu_presets_name_their_models_and_say_that_they_were_not_run(name, verifier, drafter):
    preset = presets.load(name)
    assert (preset.verifier, preset.drafters, preset.device) == (verifier, {"dflash": drafter}, "cuda")
    assert preset.note == "not run on this hardware yet"
    assert presets.DCOCO_VARIABLE in presets.how_to_name_dcoco(preset)


def test_thinking_is_off_where_the_verifier_can_think():
    thinkers = [name for name in presets.names() if presets.load(name).chat_template_kwargs]
    assert thinkers == ["qwen3-4b", "qwen3-8b"]
    assert presets.load("qwen3-8b").chat_template_kwargs == {"enable_thinking": False}


def test_an_unknown_name_is_answered_with_the_known_ones():
    with pytest.raises(presets.PresetError, match=r"no preset 'qwen'; the presets are smollm2-cpu, qwen3-4b"):
        presets.load("qwen")


def test_the_user_names_a_dcoco_drafter_in_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv(presets.DCOCO_VARIABLE, "someone/dcoco-drafter")
    assert presets.load("qwen3-8b").drafters["dcoco"] == "someone/dcoco-drafter"

    (tmp_path / "someone" / "dcoco-drafter").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    assert presets.load("qwen3-8b").drafters["dcoco"] == str(tmp_path / "someone" / "dcoco-drafter")
    monkeypatch.setenv(presets.DCOCO_VARIABLE, "somewhere")
    named = presets.load("qwen3-8b").drafters
    assert named == {"dflash": "z-lab/Qwen3-8B-DFlash-b16", "dcoco": str(tmp_path / "somewhere")}
    assert presets.is_local(named["dcoco"]) and not presets.is_local(named["dflash"])


def test_a_preset_of_ones_own_needs_only_what_has_no_default(write):
    write(SMALL)
    assert presets.names() == ["mine"]
    assert presets.load("mine").dtype == "auto"


@pytest.mark.parametrize(
    ("line", "where"),
    [
        ("colour = 1", "colour"),
        ("dtype = 'int4'", "dtype"),
        ("drafters.eagle = 'someone/eagle'", "drafters"),
        ("drafters.dcoco = 3", ""),
        ("chat_template_kwargs = 3", "chat_template_kwargs"),
    ],
)
def test_a_badly_written_preset_is_named_with_the_field(write, line, where):
    write(SMALL + line)
    with pytest.raises(presets.PresetError, match=f"Preset 'mine' in presets.toml is not valid: {where}"):
        presets.load("mine")


def test_a_missing_field_and_a_verifier_that_is_no_text(write):
    write(SMALL.replace("memory_gib = 2", ""))
    with pytest.raises(presets.PresetError, match="memory_gib: Field required"):
        presets.load("mine")
    write(SMALL.replace('"someone/model"', "7"))
    with pytest.raises(presets.PresetError, match="'mine'"):
        presets.load("mine")


@pytest.mark.parametrize("text", ["[mine", "mine = 3"])
def test_a_file_that_is_no_table_of_presets(write, text):
    write(text)
    with pytest.raises(presets.PresetError):
        presets.load("mine")

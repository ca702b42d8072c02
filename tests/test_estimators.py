"""The scikit-learn estimator."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import covary
from covary import SubspaceSearch


# Some checks use a few rows of noise, in which nothing may be selected.
@pytest.mark.filterwarnings("ignore:No features were selected")
@parametrize_with_checks([SubspaceSearch(), SubspaceSearch(supervised=True)])
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    x = rng.random(2000)
    return pd.DataFrame(
        {
            "noise": rng.random(2000),
            "a": x,
            "b": x**2 + rng.normal(scale=0.05, size=2000),
            "more": rng.random(2000),
            "c": x > 0.7,
        }
    ).astype(float)


def test_sets_are_those_of_search(frame):
    fitted = SubspaceSearch(top=5, max_size=3).fit(frame)
    assert fitted.subspaces_ == covary.search(frame, top=5, max_size=3).subspaces


def test_transform_keeps_the_columns_of_the_best_sets(frame):
    fitted = SubspaceSearch(top=3).set_output(transform="pandas").fit(frame)
    best = {name for subspace in fitted.subspaces_ for name in subspace.columns}
    assert best == {"a", "b", "c"}
    assert list(fitted.transform(frame).columns) == ["a", "b", "c"]
    assert list(fitted.get_feature_names_out()) == ["a", "b", "c"]


def test_sets_that_score_0_select_nothing():
    noise = np.random.default_rng(1).normal(size=(2000, 4))
    fitted = SubspaceSearch(measure="uds").fit(noise)
    assert all(subspace.score == 0 for subspace in fitted.subspaces_)
    assert not fitted.get_support().any()


def test_supervised_search_selects_the_columns_that_explain_y(frame):
    X, y = frame[["noise", "a", "more"]], frame["b"]
    fitted = SubspaceSearch(supervised=True, top=2).fit(X, y)
    assert list(fitted.get_feature_names_out()) == ["a"]
    assert fitted.subspaces_[0].columns == ("a", "y")


def test_class_labels_are_a_nominal_target(frame):
    X = frame[["noise", "a", "more"]]
    labels = np.array(["b", "c", "a"])[np.digitize(frame["a"], [0.3, 0.6])]
    fitted = SubspaceSearch(supervised=True).fit(X, labels)
    assert list(fitted.get_feature_names_out()) == ["a"]
    for y in (labels.astype(object), np.char.upper(labels), pd.Series(labels), labels.tolist()):
        assert SubspaceSearch(supervised=True).fit(X, y).subspaces_ == fitted.subspaces_
    expected = covary.search(X.assign(y=labels), target="y", top=1)
    assert fitted.subspaces_ == expected.subspaces
    numbers = SubspaceSearch(supervised=True).fit(X, np.digitize(frame["a"], [0.3, 0.6]))
    assert list(numbers.get_feature_names_out()) == ["a"]
    assert numbers.subspaces_ != fitted.subspaces_, "whole numbers are ordered"


def test_labels_that_look_like_missing_cells_are_classes(frame):
    X = frame[["noise", "a", "more"]]
    labels = np.array(["NA", "", "1"])[np.digitize(frame["a"], [0.3, 0.6])]
    other = np.array(["x", "y", "z"])[np.digitize(frame["a"], [0.3, 0.6])]
    fitted = SubspaceSearch(supervised=True).fit(X, labels)
    assert fitted.subspaces_ == SubspaceSearch(supervised=True).fit(X, other).subspaces_


def test_a_single_class_is_an_error(frame):
    with pytest.raises(
        ValueError, match="y cannot be used: it is a single level, 'a' in all rows"
    ):
        SubspaceSearch(supervised=True).fit(frame, ["a"] * len(frame))


def test_a_column_named_y_is_not_confused_with_the_target(frame):
    X, y = frame[["noise", "a"]].rename(columns={"a": "y"}), frame["b"]
    fitted = SubspaceSearch(supervised=True, top=1).fit(X, y)
    assert list(fitted.get_feature_names_out()) == ["y"]


def test_estimator_in_a_pipeline(frame):
    X, y = frame[["noise", "a", "more"]], frame["b"]
    pipeline = make_pipeline(StandardScaler(), SubspaceSearch(supervised=True))
    assert pipeline.fit_transform(X, y).shape == (2000, 1)


def test_missing_cells_are_allowed(frame):
    holes = frame.mask(np.random.default_rng(2).random(frame.shape) < 0.1)
    assert SubspaceSearch(top=1).fit(holes).subspaces_ == covary.search(holes, top=1).subspaces


def test_parameters_are_passed_to_the_measure(frame):
    fitted = SubspaceSearch(measure="uds", measure_params={"beta": 5}, top=1).fit(frame)
    assert fitted.result_.parameters["measure_parameters"]["beta"] == 5
    with pytest.raises(covary.CovaryError, match="no parameter 'gamma'"):
        SubspaceSearch(measure_params={"gamma": 5}).fit(frame)


def test_parameters_are_passed_to_the_strategy(frame):
    fitted = SubspaceSearch(top=3, beam=2, parents="one", max_size=3).fit(frame)
    expected = {"max_size": 3, "beam": 2, "parents": "one", "every": None}
    assert fitted.result_.parameters["strategy_parameters"] == expected
    fitted = SubspaceSearch(top=3, strategy="4s", strategy_params={"edges": 2}).fit(frame)
    assert fitted.subspaces_ == covary.search(frame, top=3, strategy="4s", edges=2).subspaces
    with pytest.raises(covary.CovaryError, match="'4s' has no parameter 'beam'"):
        SubspaceSearch(strategy="4s", beam=2).fit(frame)


def test_options_are_passed_to_the_search(frame):
    options = {"top": 3, "sift": True, "permutations": 19}
    fitted = SubspaceSearch(**options, random_state=3, max_size=3).fit(frame)
    assert fitted.result_ == covary.search(frame, **options, seed=3, max_size=3)


def test_unknown_parameter_is_an_error():
    with pytest.raises(TypeError, match="SubspaceSearch has no parameter 'topp'"):
        SubspaceSearch(topp=3)


def test_the_supervised_selector_selects_the_columns_that_explain_y_together():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 12))
    y = X[:, 0] * X[:, 1] + np.sin(X[:, 0] * X[:, 2]) + X[:, 3] ** 2
    selected = SubspaceSearch(supervised=True).fit(X, y).get_support(indices=True)
    assert selected.tolist() == [0, 1, 2, 3]
    assert SubspaceSearch(supervised=True).fit(X[:, 4:], y).get_support().sum() <= 1


@pytest.fixture(scope="module")
def mixed():
    rng = np.random.default_rng(0)
    sex = rng.choice(["male", "female"], 600)
    port = pd.Categorical(rng.choice(["S", "C", "Q"], 600))
    fare = np.where(port == "C", 50.0, 10.0) * rng.uniform(0.8, 1.2, 600)
    start = pd.date_range("2024-01-01", periods=600, freq="31h")
    return pd.DataFrame(
        {
            "sex": sex,
            "port": port,
            "fare": fare,
            "when": start,
            "note": [f"a remark of the passenger with number {k}" for k in range(600)],
        }
    )


@pytest.mark.filterwarnings("ignore::covary.CovaryWarning")
def test_frames_with_text_categories_and_dates(mixed):
    fitted = SubspaceSearch(top=3).set_output(transform="pandas").fit(mixed)
    assert fitted.subspaces_ == covary.search(mixed, top=3).subspaces
    assert {"port", "fare"} <= set(fitted.get_feature_names_out())
    assert list(fitted.transform(mixed).columns) == list(fitted.get_feature_names_out())
    assert fitted.get_support().shape == (5,)
    survived = np.where(mixed["sex"] == "female", "yes!", "no!")
    supervised = SubspaceSearch(supervised=True).fit(mixed, survived)
    assert list(supervised.get_feature_names_out()) == ["sex"]
    assert supervised.transform(mixed).ravel().tolist() == mixed["sex"].tolist()


@pytest.mark.filterwarnings("ignore::covary.CovaryWarning")
def test_a_calendar_column_selects_its_date(mixed):
    weekend = np.where(mixed["when"].dt.day_of_week >= 5, "free", "work")
    fitted = SubspaceSearch(supervised=True).fit(mixed, weekend)
    assert fitted.subspaces_[0].columns == ("when (weekday)", "y")
    assert list(fitted.get_feature_names_out()) == ["when"]


def test_missing_labels_are_an_error(frame):
    X = frame[["noise", "a"]]
    labels = np.where(frame["a"] > 0.5, "high", "low").astype(object)
    labels[[3, 5]] = None
    for y in (labels, pd.Series(labels), pd.Series(labels, dtype="category")):
        for data in (X, X.to_numpy()):
            with pytest.raises(ValueError, match="2 of 2,000 labels are missing; remove these"):
                SubspaceSearch(supervised=True).fit(data, y)


def test_labels_must_have_one_per_row(frame):
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        SubspaceSearch(supervised=True).fit(frame[["noise", "a"]], ["a", "b"])


@pytest.mark.filterwarnings("ignore:X has feature names")
def test_transform_needs_a_fit(mixed):
    with pytest.raises(NotFittedError):
        SubspaceSearch().transform(mixed)

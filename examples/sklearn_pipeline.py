"""A model that learns from masked people only: a scikit-learn pipeline with an anonymising step."""

from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import crypsis
from crypsis.sklearn import LocalRecoder, Microaggregator, RankSwapper

people = crypsis.to_frame(crypsis.example(500)).drop_nulls()
X = people.select("age", "sex", "education", "marital", "hours")
y = (people["income"] > people["income"].median()).to_numpy()

maskers = {
    "as collected": "passthrough",
    "groups of five": Microaggregator(k=5).set_output(transform="polars"),
    "recoded for k = 5": LocalRecoder(k=5, random_state=0).set_output(transform="polars"),
    "ranks swapped": RankSwapper(columns=["age", "hours"], random_state=0).set_output(transform="polars"),
}
for name, masker in maskers.items():
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["sex", "education", "marital"]),
        (StandardScaler(), ["age", "hours"]),
    )
    model = make_pipeline(masker, encode, LogisticRegression(max_iter=1000))
    print(f"{name:20} accuracy {cross_val_score(model, X, y, cv=3).mean():.3f}")

masked = maskers["groups of five"].fit_transform(X)  # the fitted rows are protected, and k can be counted by anybody
print("smallest group:", masked.group_by(masked.columns).len()["len"].min())

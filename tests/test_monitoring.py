"""The alert rules and the dashboard against the metrics that Footnote has, and against Prometheus' own checker."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from prometheus_client import REGISTRY

import adapters.observability.prometheus  # noqa: F401 - registers the metrics

DEPLOY = Path(__file__).parents[1] / "deploy"
RULES = DEPLOY / "prometheus" / "alerts.yml"
DASHBOARD = DEPLOY / "grafana" / "footnote.json"
SUFFIXES = {"counter": ("_total",), "gauge": ("",), "histogram": ("_bucket", "_count", "_sum")}

EXPRESSIONS = [
    *(rule["expr"] for group in yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"] for rule in group["rules"]),
    *(
        target["expr"]
        for panel in json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]
        for target in panel["targets"]
    ),
]


def metric_names() -> set[str]:
    """Return the names under which Prometheus stores our metrics."""
    return {
        metric.name + suffix
        for metric in REGISTRY.collect()
        if metric.name.startswith("footnote_")
        for suffix in SUFFIXES[metric.type]
    }


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_every_expression_uses_metrics_that_exist(expression: str) -> None:
    names = set(re.findall(r"\bfootnote_\w+", expression))
    assert names or expression.startswith("up{")
    assert names <= metric_names()


def test_prometheus_accepts_the_rules_and_raises_the_alerts() -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool is not installed")
    for arguments in (["check", "rules", str(RULES)], ["test", "rules", str(RULES.with_name("alerts_test.yml"))]):
        done = subprocess.run([promtool, *arguments], capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

#!/usr/bin/env python3
"""The manifests in contrib/kubernetes: their names agree, and with the variables of each pod the program finds that pod's task.

  kubernetes_test.py PROGRAM SOURCE_DIR
"""
import os
import re
import subprocess
import sys

try:
    import tomllib
    import yaml
except ImportError as error:
    print(f"skipped: {error} (package python3-yaml)")
    sys.exit(77)

PROGRAM, SOURCE = sys.argv[1:3]
FOLDER = os.path.join(SOURCE, "contrib", "kubernetes")


def manifests(name):
    """Returns the objects of a file by kind and name."""
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        objects = {(one["kind"], one["metadata"]["name"]): one for one in yaml.safe_load_all(file)}
    for (kind, what), one in objects.items():
        assert one["apiVersion"] and "spec" in one, f"{name}: {kind} {what} has no apiVersion or spec"
    return objects


def pod_of(workload):
    return workload["spec"]["template"]["spec"]


def arguments_of(workload):
    return pod_of(workload)["containers"][0]["args"]


def option(arguments, name):
    return next(one.split("=", 1)[1] for one in arguments if one.startswith(f"--{name}="))


def check_volumes(workload):
    pod = pod_of(workload)
    mounted = {one["name"] for one in pod["containers"][0]["volumeMounts"]}
    assert mounted == {one["name"] for one in pod["volumes"]}, mounted


def explain(arguments, variables):
    """Returns what a node with these variables says about its place."""
    kept = {name: os.environ[name] for name in os.environ if re.fullmatch("PATH|LD_.*|[A-Z]+SAN_OPTIONS", name)}
    result = subprocess.run([PROGRAM, "node", *arguments, "--explain"], env={**kept, **variables}, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60, check=False)
    assert result.returncode == 0, result.stdout
    return result.stdout


def check_service(objects, name, labels):
    spec = objects["Service", name]["spec"]
    assert spec["clusterIP"] == "None", f"service {name} is not headless"
    assert spec["selector"].items() <= labels.items(), (name, spec["selector"], labels)
    assert spec["ports"][0]["port"] == 4242


def check_run():
    objects = manifests("run.yaml")
    job = objects["Job", "troupe-run"]
    spec, arguments = job["spec"], arguments_of(job)
    check_service(objects, pod_of(job)["subdomain"], spec["template"]["metadata"]["labels"])
    check_volumes(job)
    assert spec["completionMode"] == "Indexed" and spec["completions"] == spec["parallelism"]
    assert "--ranks" in arguments
    placing = [one for one in arguments if one.split("=")[0] in ("--hosts", "--plain", "--ps")]
    for index in range(spec["completions"]):
        told = explain(placing, {"JOB_COMPLETION_INDEX": str(index)})
        place = "ps/0" if index == 0 else f"worker/{index - 1}"
        name = f"troupe-run-{index}.{pod_of(job)['subdomain']}"
        assert told.startswith(f"{place} of cluster ") and f" at {name}:4242" in told, told
        assert f"by JOB_COMPLETION_INDEX {index} of {spec['completions']}" in told, told


def check_cluster():
    objects = manifests("cluster.yaml")
    with open(os.path.join(FOLDER, "cluster.toml"), "rb") as file:
        jobs = tomllib.load(file)["jobs"]
    for job, endpoints in jobs.items():
        node = objects["StatefulSet", f"troupe-{job}"]
        spec, arguments = node["spec"], arguments_of(node)
        check_service(objects, spec["serviceName"], spec["template"]["metadata"]["labels"])
        check_volumes(node)
        assert spec["selector"]["matchLabels"] == spec["template"]["metadata"]["labels"]
        assert option(arguments, "job") == job
        pods = [f"troupe-{job}-{index}" for index in range(spec["replicas"])]
        assert endpoints == [f"{pod}.{spec['serviceName']}:4242" for pod in pods], (job, endpoints, pods)
        for task, pod in enumerate(pods):
            told = explain([f"--cluster={FOLDER}/cluster.toml", f"--job={job}"],
                           {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "HOSTNAME": pod})
            assert told.startswith(f"{job}/{task} of cluster troupe at {endpoints[task]}"), told


def check_train():
    job = manifests("train.yaml")["Job", "troupe-train"]
    check_volumes(job)
    assert option(arguments_of(job), "cluster") == "/etc/troupe/cluster.toml"


check_run()
check_cluster()
check_train()
assert ("PersistentVolumeClaim", "troupe-files") in manifests("files.yaml")
print("kubernetes: fine")

#!/usr/bin/env python3
"""What `troupe doctor` finds on this machine and in a cluster file.

  doctor_test.py PROGRAM SOURCE_DIR
"""
import json
import os
import socket
import subprocess
import sys
import tempfile

PROGRAM = os.path.abspath(sys.argv[1])


def doctor(*arguments, code=0, **environment):
    done = subprocess.run([PROGRAM, "doctor", "--json", *arguments], capture_output=True, text=True, check=False, env={**os.environ, **environment})
    assert done.returncode == code, f"{arguments}: {done.returncode}: {done.stdout}{done.stderr}"
    report = json.loads(done.stdout)
    assert report["ok"] == (code == 0), report
    for one in report["findings"]:
        assert one["level"] in ("ok", "warn", "fail") and one["what"] and one["state"], one
        assert (one["level"] == "ok") == ("remedy" not in one), one
    return {one["what"]: one for one in report["findings"]}


def write_cluster(port, more=""):
    with open("cluster.toml", "w", encoding="utf-8") as file:
        file.write(f'cluster = {{ name = "lab"{more} }}\n[jobs]\nps = ["127.0.0.1:{port}"]\nworker = ["192.0.2.1:4242"]\n')


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        found = doctor("--directory", "not/there/yet")
        assert {"processor", "memory", "shared memory", "open files", "clock", "space for runs", "GPUs"} <= set(found), found
        assert "UCX" in found["parts of the program"]["state"], found
        assert folder in found["space for runs"]["state"], found["space for runs"]
        assert doctor(PATH="/nowhere")["program dot"]["level"] == "warn"
        doctor("--directory", "/proc/none", code=1)

        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            write_cluster(taken.getsockname()[1])
            found = doctor("--cluster", "cluster.toml", code=1)
            assert found["encryption"]["level"] == "fail", found  # 192.0.2.1 is another machine
            write_cluster(taken.getsockname()[1], ", plain = true")
            found = doctor("--cluster", "cluster.toml")
            assert found["port of ps/0"]["level"] == "warn" and "in use" in found["port of ps/0"]["state"], found
            assert "another machine" in found["port of worker/0"]["state"], found
            assert found["encryption"]["level"] == "warn", found
            port = taken.getsockname()[1]
        write_cluster(port, ', tls = { cert = "certs/{job}-{task}.pem", key = "certs/{job}-{task}.key", ca = "certs/ca.pem" }')
        subprocess.run([PROGRAM, "certs", "certs", "--cluster", "cluster.toml"], check=True, capture_output=True)
        found = doctor("--cluster", "cluster.toml")
        assert found["certificate of ps/0"]["level"] == "ok" and "free" in found["port of ps/0"]["state"], found
        os.rename("certs/ps-0.pem", "certs/mine.pem")
        os.rename("certs/ps-0.key", "certs/mine.key")
        for kind in "pem", "key":
            os.link(f"certs/worker-0.{kind}", f"certs/ps-0.{kind}")
        found = doctor("--cluster", "cluster.toml", code=1)
        assert "is that of /job:worker" in found["certificate of ps/0"]["state"], found
        for kind in "pem", "key":
            os.replace(f"certs/mine.{kind}", f"certs/ps-0.{kind}")
        with open("certs/ps-0.key", "w", encoding="utf-8") as file:
            file.write("damaged")
        assert doctor("--cluster", "cluster.toml", code=1)["certificate of ps/0"]["level"] == "fail"
        for port in "no port", "0":
            write_cluster(port)
            assert doctor("--cluster", "cluster.toml", code=1)["cluster file"]["level"] == "fail"
        with open("cluster.toml", "w", encoding="utf-8") as file:
            file.write('cluster = { name = "lab" }\n[jobs]\nworker = ["127.0.0.1:4242", "127.0.0.1:4242"]\n')
        assert "each task needs its own" in doctor("--cluster", "cluster.toml", code=1)["cluster file"]["state"]


if __name__ == "__main__":
    main()

"""packaging/container and packaging/kubernetes, as far as they can be checked without a registry and a
cluster: what the files say of each other, the image of a stand-in for its base, and the daemon in
that image as its pod would have it."""

import json
import os
import pathlib
import re
import shutil
import stat
import subprocess

import yaml

from support import case, programs

SOURCE = pathlib.Path(__file__).resolve().parents[2]
FOLDER = SOURCE / "packaging" / "kubernetes"
CONTAINERFILE = SOURCE / "packaging" / "container" / "Containerfile"
MARK = "Not run on a cluster yet"


def objects():
    """{kind: object} of all files."""
    found = {}
    for file in sorted(FOLDER.glob("*.yaml")):
        for thing in yaml.safe_load_all(file.read_text()):
            assert thing["kind"] not in found, f"{file.name}: a second {thing['kind']}"
            found[thing["kind"]] = thing
    return found


class Manifests(case.SystemTest):
    def setUp(self):
        super().setUp()
        self.all = objects()
        self.pod = self.all["Deployment"]["spec"]["template"]
        self.container, = self.pod["spec"]["containers"]
        self.ports = {port["name"]: port["containerPort"] for port in self.container["ports"]}
        self.config = self.all["ConfigMap"]["data"]["culvert.conf"]

    def key(self, name):
        return re.search(rf"^{name} = (.*)$", self.config, re.M)[1]

    def seconds(self, text):
        return int(re.fullmatch(r"(\d+)s", text)[1])

    def test_every_file_is_marked_and_part_of_the_whole(self):
        names = {file.name for file in FOLDER.glob("*.yaml")}
        self.assertEqual(set(self.all["Kustomization"]["resources"]),
                         names - {"kustomization.yaml"})
        for name in names:
            self.assertTrue(MARK in (FOLDER / name).read_text(), f"{name} is not marked")
        told = (FOLDER / "README.md").read_text()
        for name in names - {"namespace.yaml"}:
            self.assertIn(f"`{name}`", told)

    def test_all_are_in_the_same_namespace(self):
        space = self.all["Namespace"]["metadata"]["name"]
        self.assertEqual(self.all["Kustomization"]["namespace"], space)
        for kind, thing in self.all.items():
            if kind not in ("Kustomization", "Namespace"):
                self.assertEqual(thing["metadata"]["namespace"], space, kind)

    def test_they_find_each_other(self):
        labels = self.pod["metadata"]["labels"]
        deployment = self.all["Deployment"]
        self.assertEqual(deployment["spec"]["selector"]["matchLabels"], labels)
        self.assertEqual(self.all["Service"]["spec"]["selector"], labels)
        self.assertEqual(self.all["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"], labels)
        self.assertEqual(self.all["NetworkPolicy"]["spec"]["podSelector"]["matchLabels"], labels)
        spread, = self.pod["spec"]["topologySpreadConstraints"]
        self.assertEqual(spread["labelSelector"]["matchLabels"], labels)
        scaled = self.all["HorizontalPodAutoscaler"]["spec"]["scaleTargetRef"]
        self.assertEqual((scaled["apiVersion"], scaled["kind"], scaled["name"]),
                         (deployment["apiVersion"], "Deployment", deployment["metadata"]["name"]))
        self.assertNotIn("replicas", deployment["spec"])

        volumes = {volume["name"]: volume for volume in self.pod["spec"]["volumes"]}
        self.assertEqual({mount["name"] for mount in self.container["volumeMounts"]}, set(volumes))
        self.assertEqual(volumes["config"]["configMap"]["name"],
                         self.all["ConfigMap"]["metadata"]["name"])
        self.assertEqual(volumes["keys"]["secret"]["secretName"],
                         self.all["Secret"]["metadata"]["name"])

    def test_ports_are_those_of_the_configuration(self):
        listen, admin = self.key("listen"), self.key("admin")
        self.assertEqual(self.ports, {"tunnel": int(listen.rpartition(":")[2]),
                                      "admin": int(admin.rpartition(":")[2])})
        service, = self.all["Service"]["spec"]["ports"]
        self.assertIn(service["targetPort"], self.ports)
        policed = [port["port"] for rule in self.all["NetworkPolicy"]["spec"]["ingress"]
                   for port in rule["ports"]]
        self.assertEqual(sorted(policed), sorted(self.ports))
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            self.assertEqual(self.container[probe]["httpGet"]["port"], "admin")
        self.assertEqual(int(self.pod["metadata"]["annotations"]["prometheus.io/port"]),
                         self.ports["admin"])
        exposed = re.search(r"^EXPOSE (.*)$", CONTAINERFILE.read_text(), re.M)[1].split()
        self.assertEqual(sorted(map(int, exposed)), sorted(self.ports.values()))

    def test_a_pod_has_time_to_drain(self):
        grace = self.pod["spec"]["terminationGracePeriodSeconds"]
        pause = int(self.container["lifecycle"]["preStop"]["exec"]["command"][-1])
        self.assertGreater(grace, self.seconds(self.key("drain")) + pause)

    def test_fewer_may_be_missing_than_there_are(self):
        least = self.all["HorizontalPodAutoscaler"]["spec"]["minReplicas"]
        self.assertLess(self.all["PodDisruptionBudget"]["spec"]["minAvailable"], least)

    def test_nothing_more_than_it_needs(self):
        pod, own = self.pod["spec"]["securityContext"], self.container["securityContext"]
        self.assertTrue(pod["runAsNonRoot"] and own["readOnlyRootFilesystem"])
        self.assertFalse(own["allowPrivilegeEscalation"])
        self.assertEqual(own["capabilities"], {"drop": ["ALL"]})
        self.assertFalse(self.pod["spec"]["automountServiceAccountToken"])
        user = re.search(r"^USER (.*)$", CONTAINERFILE.read_text(), re.M)[1]
        self.assertEqual(user, f"{pod['runAsUser']}:{pod['runAsGroup']}")

    # ---- the volumes, as the kubelet lays them out ----

    def lay_out(self, root, psk):
        """Fills `root` as the pod has it: links through `..data`, and modes of the volumes."""
        secret = {**self.all["Secret"]["stringData"], "edge.psk": psk}
        for volume in self.pod["spec"]["volumes"]:
            mount = next(m for m in self.container["volumeMounts"] if m["name"] == volume["name"])
            if "secret" in volume:
                files, mode = secret, volume["secret"]["defaultMode"]
            else:
                files, mode = self.all["ConfigMap"]["data"], 0o644
            folder = root / mount["mountPath"].lstrip("/")
            data = folder / "..2026_12_01"
            data.mkdir(parents=True)
            (folder / "..data").symlink_to(data.name)
            for name, text in files.items():
                (data / name).write_text(text)
                (data / name).chmod(mode)
                os.chown(data / name, -1, self.pod["spec"]["securityContext"]["fsGroup"])
                (folder / name).symlink_to(f"..data/{name}")

    def make_psk(self):
        file = self.make_folder() / "edge.psk"
        subprocess.run([programs.culvert(), "keygen", "psk", file], check=True)
        return file.read_text()

    def check(self, psk):
        """`culvert check` of the configuration, with its paths below a folder."""
        root = self.make_folder()
        try:
            self.lay_out(root, psk)
        except PermissionError:
            self.skipTest("only root can give files to the group of the pod")
        file = root / "culvert.conf"
        file.write_text(re.sub(r"= (/etc/)", rf"= {root}\1", self.config))
        return subprocess.run([programs.culvert(), "check", file], capture_output=True, text=True,
                              check=False)

    def test_the_configuration_is_good(self):
        done = self.check(self.make_psk())
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_placeholder_is_no_key(self):
        done = self.check(self.all["Secret"]["stringData"]["edge.psk"])
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn("edge.psk", done.stderr)

    # ---- the image ----

    def run_quietly(self, *command, status=0):
        done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, status, done.stdout)
        return done.stdout.strip()

    def build_image(self):
        """The last stage of the Containerfile: its root, and what it says about itself."""
        if shutil.which("buildah") is None:
            self.skipTest("there is no buildah here: the package buildah has it")
        if os.geteuid() != 0:
            self.skipTest("only root can look into the image without more settings")
        store = self.make_folder()
        buildah = ["buildah", "--root", store / "images", "--runroot", store / "run",
                   "--storage-driver", "vfs"]
        base = re.findall(r"^FROM (\S+)", CONTAINERFILE.read_text(), re.M)[-1]
        empty = self.run_quietly(*buildah, "from", "scratch")
        self.run_quietly(*buildah, "copy", empty, self.stand_in_for_base(), "/")
        self.run_quietly(*buildah, "commit", "-q", empty, base)

        built = self.make_folder()
        programs_there = built / "source/build/static"
        programs_there.mkdir(parents=True)
        shutil.copy(programs.culvert(), programs_there / "culvert")
        shutil.copy(programs.culvert_load(), programs_there / "culvert-load")
        self.run_quietly(*buildah, "build", "--isolation", "chroot", "--pull-never",
                         "--build-context", f"build={built}", "-f", CONTAINERFILE, "-t", "culvert",
                         self.make_folder())
        about = json.loads(self.run_quietly(*buildah, "inspect", "--type", "image", "culvert"))
        working = self.run_quietly(*buildah, "from", "--pull-never", "culvert")
        root = self.run_quietly(*buildah, "mount", working)
        self.addCleanup(subprocess.run, [*map(str, buildah), "umount", "--all"],
                        stdout=subprocess.DEVNULL, check=False)
        return pathlib.Path(root), about["OCIv1"]["config"]

    def stand_in_for_base(self):
        """What the programs and the pod's pause need of Debian, from this one."""
        folder = self.make_folder()
        folder.chmod(0o755)
        needed = ["/bin/sh", "/bin/sleep"]
        for program in (*needed, programs.culvert(), programs.culvert_load()):
            told = subprocess.run(["ldd", program], capture_output=True, text=True, check=True)
            needed += re.findall(r"(/\S+) \(0x", told.stdout)
        for path in set(needed):
            copy = folder / path.lstrip("/")
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)
        for name in ("etc", "proc", "tmp", "dev"):
            (folder / name).mkdir(exist_ok=True)
        return folder

    def test_the_image_runs_as_its_pod_would(self):
        root, about = self.build_image()
        self.assertEqual(about["StopSignal"], "SIGTERM")
        self.assertEqual(about["Entrypoint"], ["/usr/local/bin/culvert"])
        self.assertEqual(about["Cmd"], self.container["args"])
        user = self.pod["spec"]["securityContext"]
        self.assertEqual(about["User"], f"{user['runAsUser']}:{user['runAsGroup']}")

        self.lay_out(root, self.make_psk())
        script = self.make_folder() / "pod.sh"
        script.write_text(POD)
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        alone = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child"]
        if subprocess.run([*alone, "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("no namespaces can be made here")
        probes = [self.container[f"{name}Probe"]["httpGet"]["path"]
                  for name in ("startup", "liveness", "readiness")]
        metric, = self.all["HorizontalPodAutoscaler"]["spec"]["metrics"]
        told = self.run_quietly(
            *alone, script, root, about["User"], self.ports["admin"],
            metric["pods"]["metric"]["name"],
            self.pod["metadata"]["annotations"]["prometheus.io/path"], " ".join(probes),
            *about["Entrypoint"], *about["Cmd"])
        self.assertEqual(told.splitlines()[-1], "as a pod")


# ROOT USER PORT METRIC METRICS-PATH PROBES COMMAND…: runs the command with a root that can't be written
# to, and nothing of root's rights; asks the probes; ends it.
POD = """#!/bin/sh
set -eu
root=$1 user=$2 port=$3 metric=$4 metrics=$5 probes=$6
shift 6
ip link set lo up
mount --bind "$root" "$root"
mount -o remount,bind,ro "$root"
mount -t proc proc "$root/proc"
setpriv --no-new-privs chroot --userspec="$user" --groups="${user#*:}" "$root" "$@" &
daemon=$!
tries=0
until curl -sf -o /dev/null "http://127.0.0.1:$port/readyz"; do
    tries=$((tries + 1))
    [ $tries -lt 100 ]
    sleep .1
done
for path in $probes; do curl -sSf "http://127.0.0.1:$port$path"; done
curl -sSf "http://127.0.0.1:$port$metrics" | grep "^$metric[ {]"
kill -TERM $daemon
wait $daemon
echo "as a pod"
"""


if __name__ == "__main__":
    case.main()

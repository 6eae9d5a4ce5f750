//! `packaging/slurm/fleet.sbatch` on a real SLURM of one node, which this test starts and ends.

#[expect(dead_code, reason = "shared with tests that need more of it")]
mod support;

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use nbuf::experiment::result::FleetDocument;
use nbuf::internal::sys::process;
use support::{Need, Place, requires_shared, skip, until};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/slurm/fleet.sbatch");

/// Processes that end with the test, the last one first.
#[derive(Default)]
struct Daemons(Vec<Child>);

impl Daemons {
    fn start(&mut self, command: &mut Command) {
        let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        self.0.push(command.spawn().unwrap());
    }
}

impl Drop for Daemons {
    fn drop(&mut self) {
        for mut daemon in self.0.drain(..).rev() {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}

/// A SLURM of this machine alone. No plug-in of it touches a cgroup.
struct Slurm {
    _daemons: Daemons,
    config: String,
}

impl Slurm {
    fn start(place: &Place) -> Self {
        let own = |name: &str| place.path(name).display().to_string();
        for folder in ["munge", "state", "spool"] {
            fs::create_dir(place.path(folder)).unwrap();
            fs::set_permissions(place.path(folder), fs::Permissions::from_mode(0o700)).unwrap();
        }
        fs::write(place.path("munge/key"), [7; 1024]).unwrap();
        fs::set_permissions(place.path("munge/key"), fs::Permissions::from_mode(0o400)).unwrap();
        let config = own("slurm.conf");
        fs::write(&config, self::config(&own)).unwrap();
        let mut daemons = Daemons::default();
        daemons.start(Command::new("munged").args([
            "--foreground",
            "--force",
            &format!("--key-file={}", own("munge/key")),
            &format!("--socket={}", own("munge/socket")),
            &format!("--pid-file={}", own("munge/pid")),
            &format!("--log-file={}", own("munge/log")),
            &format!("--seed-file={}", own("munge/seed")),
        ]));
        until("a socket of munged", || Path::new(&own("munge/socket")).exists());
        daemons.start(Command::new("slurmctld").args(["-D", "-i"]).env("SLURM_CONF", &config));
        daemons.start(Command::new("slurmd").arg("-D").env("SLURM_CONF", &config));
        let slurm = Self { _daemons: daemons, config };
        until("an idle node", || {
            let state = slurm.command("sinfo").args(["-h", "-o", "%T"]).output().unwrap();
            state.stdout.trim_ascii() == b"idle"
        });
        slurm
    }

    fn command(&self, name: &str) -> Command {
        let mut command = Command::new(name);
        command.env("SLURM_CONF", &self.config);
        command
    }
}

/// Two ports that nothing else has at the moment.
fn ports() -> (u16, u16) {
    let free = || TcpListener::bind("127.0.0.1:0").unwrap();
    let (one, two) = (free(), free());
    (one.local_addr().unwrap().port(), two.local_addr().unwrap().port())
}

fn config(own: &dyn Fn(&str) -> String) -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let name = name.trim().split('.').next().unwrap();
    let (control, node) = ports();
    let plugins = "AuthType=auth/munge\nCredType=cred/munge\nMpiDefault=none\n\
        ProctrackType=proctrack/pgid\nTaskPlugin=task/none\nSwitchType=switch/none\n\
        JobAcctGatherType=jobacct_gather/none\nAccountingStorageType=accounting_storage/none\n\
        JobCompType=jobcomp/none\nSelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n";
    format!(
        "ClusterName=nbuf\nSlurmctldHost={name}(127.0.0.1)\nSlurmUser=root\nSlurmdUser=root\n{plugins}\
         AuthInfo=socket={}\nSlurmctldPort={control}\nSlurmdPort={node}\nReturnToService=2\n\
         SlurmctldPidFile={}\nSlurmdPidFile={}\nSlurmdSpoolDir={}\nStateSaveLocation={}\n\
         SlurmctldLogFile={}\nSlurmdLogFile={}\n\
         NodeName={name} NodeAddr=127.0.0.1 CPUs=1 RealMemory=500 State=UNKNOWN\n\
         PartitionName=all Nodes=ALL Default=YES State=UP\n",
        own("munge/socket"),
        own("control.pid"),
        own("node.pid"),
        own("spool"),
        own("state"),
        own("control.log"),
        own("node.log"),
    )
}

fn fleet(place: &Place, arguments: &str) -> FleetDocument {
    let words = ["-q", "fleet"].into_iter().chain(arguments.split(' '));
    let output = place.nbuf(words.chain(["--json"])).output().unwrap();
    assert!(output.status.success(), "{arguments}: {output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_job_array_of_slurm_does_every_row() {
    let programs = ["munged", "slurmctld", "slurmd", "sbatch", "sinfo"];
    if !process::is_root() {
        return skip("the daemons of SLURM need root");
    }
    let Some(_lock) = requires_shared(&programs.map(Need::Program)) else { return };
    let place = Place::new();
    fs::create_dir(place.path("v")).unwrap();
    for (name, accesses) in [("a", "30000"), ("b", "9000"), ("c", "4000")] {
        let to = format!("v/{name}.bin");
        let words = ["-q", "trace", "generate", "zipf", "-n", accesses, "--keys", "900", "-o", &to];
        assert!(place.nbuf(words).output().unwrap().status.success());
    }
    let want = fleet(&place, "v --out one --workers 1").checksum;
    let plan = place.nbuf("-q fleet plan v --out out --split time:2".split(' ')).output().unwrap();
    assert!(plan.status.success(), "{plan:?}");
    let slurm = Slurm::start(&place);
    let folder = place.program().parent().unwrap().display().to_string();
    let mut batch = slurm.command("sbatch");
    batch.args(["--wait", "--array=0-2", "--mem=100", SCRIPT]).arg(place.path("out"));
    batch.env("PATH", format!("{folder}:{}", std::env::var("PATH").unwrap()));
    let ran = batch.current_dir(place.path(".")).output().unwrap();
    let log = || fs::read_to_string(place.path("control.log")).unwrap_or_default();
    assert!(ran.status.success(), "{ran:?}\n{}", log());
    let document = fleet(&place, "reduce --out out");
    assert_eq!((document.checksum, document.tasks_missing), (want, 0));
}

//! Programs that are started before they are needed: `rewright wrap` has each wait right before its `main`, and
//! `rewright cc` has a copy of it run for each command.
//!
//! Starting clang takes 12 ms of processor time before it looks at its arguments, `opt` 8 ms, and a file that rules see
//! needs clang twice: for small files that is more than everything else. A copy takes one. The program is the
//! installed one, as it is; what makes it wait is a library that is loaded into it (`fork_server.c`, see `build.rs`).
//!
//! **Invariant**: a copy sees what the program would see that its caller starts: the caller's arguments, environment
//! and folder go with the request, and the socket's name is made of everything else ([`world`]) and of the program's
//! identity. A caller with another [`world`], or one that gets no exit code, starts the program itself.
//!
//! Not here: programs that read standard input or want their standard output; both are empty.

use super::rules::{find, identity};
use rewright_files::cache::Key;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};

/// Empty where it could not be built.
const LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/fork_server.so"));

/// What a request and the name of a socket mean.
const VERSION: u32 = 1;

/// Programs that wait; they end with this.
pub struct ForkServers {
    children: Vec<Child>,
}

impl ForkServers {
    /// Starts programs, with their sockets in a folder of our own. A program that cannot wait is left out.
    pub fn start(folder: &Path, programs: &[&Path]) -> Self {
        let library = folder.join("fork_server.so");
        // Another library that is to be loaded first may want the place of ours.
        let can_be_loaded = !LIBRARY.is_empty() && std::env::var_os("LD_PRELOAD").is_none();
        let Some(world) = world().filter(|_| can_be_loaded && fs::write(&library, LIBRARY).is_ok()) else {
            return ForkServers { children: vec![] };
        };
        let start = |program: &&Path| start(folder, &library, &world, program.as_os_str()).ok().flatten();
        ForkServers { children: programs.iter().filter_map(start).collect() }
    }
}

impl Drop for ForkServers {
    fn drop(&mut self) {
        for child in &mut self.children {
            // It ends when no process holds the other end of its standard output.
            child.stdout = None;
            let _ = child.wait();
        }
    }
}

fn start(folder: &Path, library: &Path, world: &str, program: &OsStr) -> io::Result<Option<Child>> {
    let (path, mut magic) = (find(program), [0; 4]);
    File::open(&path)?.read_exact(&mut magic)?;
    if magic != *b"\x7fELF" {
        // A script is started by another program, with another `main`.
        return Ok(None);
    }
    let listener = UnixListener::bind(folder.join(name(program, world)))?;
    let mut command = Command::new(path);
    // Each copy would look names up again.
    command.env("LD_BIND_NOW", "1").env("LD_PRELOAD", library);
    command.stdin(OwnedFd::from(listener)).stdout(Stdio::piped()).stderr(Stdio::null());
    command.spawn().map(Some)
}

/// The socket of a program.
fn name(program: &OsStr, world: &str) -> String {
    Key::of(VERSION, [identity(program).as_bytes(), world.as_bytes()]).to_string()
}

/// What a process inherits and no request says: its user, what it may do and use, which files it sees, and what it was
/// linked with. `None` where the system does not tell.
fn world() -> Option<String> {
    const FACTS: [&str; 13] = [
        "Umask:",
        "Uid:",
        "Gid:",
        "Groups:",
        "CapInh:",
        "CapPrm:",
        "CapEff:",
        "CapBnd:",
        "CapAmb:",
        "NoNewPrivs:",
        "Seccomp:",
        "Seccomp_filters:",
        "Cpus_allowed:",
    ];
    let own = |file: &str| fs::read_to_string(Path::new("/proc/self").join(file)).ok();
    let link = |file: &str| fs::read_link(Path::new("/proc/self").join(file)).ok();
    let status = own("status")?;
    let facts: Vec<&str> = status.lines().filter(|line| FACTS.iter().any(|fact| line.starts_with(fact))).collect();
    let stat = own("stat")?;
    let nice = stat.rsplit(')').next()?.split_whitespace().nth(16)?;
    let is_linkers =
        |name: &OsStr| ["LD_", "GLIBC_", "MALLOC_"].iter().any(|p| name.as_bytes().starts_with(p.as_bytes()));
    let mut linkers: Vec<_> = std::env::vars_os().filter(|(name, _)| is_linkers(name)).collect();
    linkers.sort();
    let seen = (link("ns/mnt")?, link("root")?, own("limits")?, own("cgroup")?);
    Some(format!("{facts:?} {nice} {linkers:?} {seen:?}"))
}

/// The same programs, for processes that want them to run.
#[derive(Clone, Debug)]
pub struct Started {
    folder: PathBuf,
    world: String,
}

impl Started {
    /// Those whose sockets are in a folder.
    pub fn new(folder: PathBuf) -> Option<Self> {
        Some(Started { folder, world: world()? })
    }

    /// The folder with the sockets, which goes with the build.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Runs a command that has neither an environment nor a folder of its own, without standard output and with `said`
    /// for its standard error. `None` where that did not come to an exit code.
    pub fn output(&self, command: &Command, said: &Path) -> Option<Output> {
        let request = request(command, said)?;
        let mut stream = UnixStream::connect(self.folder.join(name(command.get_program(), &self.world))).ok()?;
        stream.write_all(&request).ok()?;
        stream.shutdown(Shutdown::Write).ok()?;
        let mut answer = [0; 4];
        stream.read_exact(&mut answer).ok()?;
        let status = ExitStatus::from_raw(i32::from_ne_bytes(answer));
        status.code()?;
        Some(Output { status, stdout: vec![], stderr: fs::read(said).ok()? })
    }
}

/// As `fork_server.c` reads it.
fn request(command: &Command, said: &Path) -> Option<Vec<u8>> {
    let folder = std::env::current_dir().ok()?;
    let mut request = vec![];
    let mut word = |parts: &[&OsStr]| {
        let start = request.len();
        parts.iter().for_each(|part| request.extend_from_slice(part.as_bytes()));
        // An empty word ends a list.
        let can_be_said = request.len() > start && !request[start..].contains(&0);
        request.push(0);
        can_be_said.then_some(())
    };
    for argument in [folder.as_os_str(), said.as_os_str(), command.get_program()].into_iter().chain(command.get_args())
    {
        word(&[argument])?;
    }
    let _end = word(&[]);
    for (name, value) in std::env::vars_os() {
        word(&[&name, OsStr::new("="), &value])?;
    }
    let _end = word(&[]);
    Some(request)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A shell that waits, and a file for what it says.
    fn shell() -> (tempfile::TempDir, ForkServers, Started, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let servers = ForkServers::start(folder.path(), &[Path::new("/bin/ls"), Path::new("/bin/sh")]);
        let started = Started::new(folder.path().to_path_buf()).unwrap();
        let said = folder.path().join("said");
        (folder, servers, started, said)
    }

    fn script(text: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", text, "name", "an argument"]);
        command
    }

    #[test]
    fn a_copy_does_what_the_program_does() {
        let (_folder, servers, started, said) = shell();
        assert_eq!(servers.children.len(), 2);
        let text = "pwd >&2; umask >&2; env | grep -v '^_=' | sort >&2; ulimit -a >&2; echo \"$0 $1\" >&2; cat; exit 3";
        let plain = script(text).stdin(Stdio::null()).stdout(Stdio::null()).output().unwrap();
        assert_eq!(started.output(&script(text), &said), Some(plain));
        // One after another, and at once.
        let codes = |text: &str| started.output(&script(text), &said).and_then(|o| o.status.code());
        assert_eq!((codes("exit 0"), codes("exit 125")), (Some(0), Some(125)));
        let one = |i: usize| {
            let (started, said) = (started.clone(), said.with_extension(i.to_string()));
            std::thread::spawn(move || started.output(&script(&format!("exit {i}")), &said).unwrap().status.code())
        };
        let running: Vec<_> = (0..20).map(one).collect();
        for (i, thread) in running.into_iter().enumerate() {
            assert_eq!(thread.join().unwrap(), Some(i as i32));
        }
    }

    #[test]
    fn what_comes_to_no_exit_code_is_no_answer() {
        let (folder, servers, started, said) = shell();
        assert_eq!(started.output(&script("kill -9 $$"), &said), None);
        assert_eq!(started.output(&script("exit 0"), &folder.path().join("none/said")), None);
        let mut empty = script("exit 0");
        assert!(started.output(&empty, &said).is_some());
        assert_eq!(started.output(empty.arg(""), &said), None);
        assert_eq!(started.output(&Command::new("/bin/cat"), &said), None);
        let other = Started { world: "another".into(), ..started.clone() };
        assert_eq!(other.output(&script("exit 0"), &said), None);
        drop(servers);
        assert_eq!(started.output(&script("exit 0"), &said), None);
    }

    #[test]
    fn a_script_does_not_wait() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("script");
        fs::write(&path, "#!/bin/sh\nexit 0\n").unwrap();
        let servers = ForkServers::start(folder.path(), &[&path, Path::new("no such program")]);
        assert!(servers.children.is_empty());
    }
}

//! Stores over a network, against servers on this machine: `redis-server`, and `moto_server` in the place of S3. A server
//! that is not installed is said, and its part left out.
#![cfg(feature = "remote")]
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test fails by panicking, and says what it leaves out")]

use rewright_files::cache::{Cache, Key};
use rewright_files::store::Shared;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A server, until it is dropped.
struct Server {
    child: Child,
    port: u16,
}

impl Server {
    fn start(program: &str, arguments: impl Fn(u16) -> Vec<String>) -> Option<Self> {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = Command::new(program);
        command.args(arguments(port)).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let Ok(child) = command.spawn() else {
            eprintln!("{program} is not installed: not tested");
            return None;
        };
        let server = Server { child, port };
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(begun.elapsed() < Duration::from_secs(60), "{program} does not answer");
            std::thread::sleep(Duration::from_millis(50));
        }
        Some(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn key(text: &str) -> Key {
    Key::of(1, [text.as_bytes()])
}

/// Two machines with a cache each, and the store of this address.
fn is_shared(address: &str) {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let [one, two] = folders.each_ref().map(|folder| {
        let shared = Shared::new(rewright_store::open(address).unwrap(), "test", None);
        Cache::new(folder.path().to_path_buf(), 1 << 20).with_store(shared)
    });
    assert!(two.find(key("a")).is_none());
    let said = || format!("{:?} {:?}", one.troubles(), two.troubles());
    let large = vec![7; 1 << 20];
    one.keep(key("a"), b"one");
    one.keep(key("large"), &large);
    let found = two.find(key("a")).unwrap_or_else(|| panic!("{}", said()));
    assert_eq!((found.content.as_slice(), found.is_shared), (&b"one"[..], true));
    assert!(!two.find(key("a")).unwrap().is_shared, "it is here now");
    assert_eq!(two.find(key("large")).unwrap().content, large);
    assert!(two.find(key("b")).is_none());
    assert_eq!([one.troubles(), two.troubles()], [const { Vec::<String>::new() }; 2]);
}

/// A server that is gone is said once, and soon.
fn fails_softly(address: &str) {
    let folder = tempfile::tempdir().unwrap();
    let shared = Shared::new(rewright_store::open(address).unwrap(), "test", None);
    let cache = Cache::new(folder.path().to_path_buf(), 1 << 20).with_store(shared);
    let begun = Instant::now();
    assert!(cache.find(key("a")).is_none());
    cache.keep(key("a"), b"one");
    assert_eq!(cache.find(key("a")).unwrap().content, b"one");
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    let troubles = cache.troubles();
    assert!(troubles.len() == 1 && troubles[0].contains("results are not shared: "), "{troubles:?}");
}

#[test]
fn results_are_shared_through_redis() {
    let folder = tempfile::tempdir().unwrap();
    let in_folder = folder.path().display().to_string();
    let arguments =
        |port: u16| ["--port", &port.to_string(), "--save", "", "--dir", &in_folder].map(String::from).to_vec();
    let Some(server) = Server::start("redis-server", arguments) else { return };
    let address = format!("redis://127.0.0.1:{}/results", server.port);
    is_shared(&address);
    drop(server);
    fails_softly(&address);
}

#[test]
fn results_are_shared_through_s3() {
    let Some(server) = Server::start("moto_server", |port| vec!["-p".into(), port.to_string()]) else { return };
    let endpoint = format!("http://127.0.0.1:{}", server.port);
    let made = Command::new("curl").args(["-s", "-f", "-X", "PUT", &format!("{endpoint}/bucket")]).status();
    assert!(made.is_ok_and(|status| status.success()), "no bucket");
    // A process of its own, as others read the environment at the same time.
    let own = std::env::current_exe().unwrap();
    let child = |part: &str| {
        let mut command = Command::new(&own);
        command.args(["--ignored", "--exact", part]).env("AWS_ENDPOINT_URL", &endpoint);
        command.env("AWS_ACCESS_KEY_ID", "test").env("AWS_SECRET_ACCESS_KEY", "test").env("AWS_REGION", "us-east-1");
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    };
    child("s3_with_a_server");
    drop(server);
    child("s3_without_a_server");
}

#[test]
#[ignore = "started by another test, with an environment"]
fn s3_with_a_server() {
    is_shared("s3://bucket/results");
}

#[test]
#[ignore = "started by another test, with an environment"]
fn s3_without_a_server() {
    fails_softly("s3://bucket/results");
}

//! Redis and S3, by their addresses, through `opendal`.
//!
//! `redis://host:6379/prefix` (`rediss://` with TLS), with a password from `REWRIGHT_STORE_PASSWORD`;
//! `s3://bucket/prefix`, with endpoint, region and credentials from the environment, as other programs take them:
//! `AWS_ENDPOINT_URL`, `AWS_REGION`, `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`. Secrets are in no address, since
//! messages show addresses.

use opendal::layers::TimeoutLayer;
use opendal::services::{Redis, S3};
use opendal::{ErrorKind, Operator, blocking};
use rewright_files::store::Store;
use std::io;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// How long one question may take: less than making a result anew usually does.
const PATIENCE: Duration = Duration::from_secs(5);

/// A store over the network.
pub(super) struct Remote {
    address: String,
    operator: blocking::Operator,
    /// The operator works in it.
    _runtime: Runtime,
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

impl Remote {
    /// Connects when it is asked first.
    pub(super) fn new(address: &str) -> io::Result<Self> {
        let operator = match address.split_once("://") {
            Some(("s3", rest)) => s3(rest),
            Some((scheme, rest)) => redis(scheme, rest),
            None => Err(opendal::Error::new(ErrorKind::ConfigInvalid, "no scheme")),
        }
        .map_err(io::Error::other)?;
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let patient = TimeoutLayer::new().with_timeout(PATIENCE).with_io_timeout(PATIENCE);
        let entered = runtime.enter();
        let operator = blocking::Operator::new(operator.layer(patient)).map_err(io::Error::other)?;
        drop(entered);
        Ok(Remote { address: address.into(), operator, _runtime: runtime })
    }
}

fn redis(scheme: &str, rest: &str) -> opendal::Result<Operator> {
    let (host, root) = rest.split_once('/').unwrap_or((rest, ""));
    let mut builder = Redis::default().endpoint(&format!("{scheme}://{host}")).root(root);
    if let Some(password) = variable("REWRIGHT_STORE_PASSWORD") {
        builder = builder.password(&password);
    }
    Operator::new(builder)
}

fn s3(rest: &str) -> opendal::Result<Operator> {
    let (bucket, root) = rest.split_once('/').unwrap_or((rest, ""));
    let region = variable("AWS_REGION").or_else(|| variable("AWS_DEFAULT_REGION"));
    let mut builder = S3::default().bucket(bucket).root(root).region(region.as_deref().unwrap_or("us-east-1"));
    if let Some(endpoint) = variable("AWS_ENDPOINT_URL_S3").or_else(|| variable("AWS_ENDPOINT_URL")) {
        builder = builder.endpoint(&endpoint);
    }
    // What speaks HTTP; once is enough for a process.
    opendal::install_default();
    Operator::new(builder)
}

/// What went wrong, and not with which name: that is said once.
fn failure(error: &opendal::Error) -> io::Error {
    io::Error::other(format!("{}: {}", error.kind(), error.message()))
}

impl Store for Remote {
    fn address(&self) -> String {
        self.address.clone()
    }

    fn get(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        match self.operator.read(name) {
            Ok(content) => Ok(Some(content.to_vec())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failure(&error)),
        }
    }

    fn put(&self, name: &str, content: &[u8]) -> io::Result<()> {
        self.operator.write(name, content.to_vec()).map(drop).map_err(|error| failure(&error))
    }
}

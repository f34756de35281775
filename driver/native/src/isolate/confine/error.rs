//! Why a process cannot give something up.

use rustix::io::Errno;
use rustix::process::Resource;

/// Why a process cannot give something up: the system's own words, mostly.
#[derive(Debug, thiserror::Error)]
pub(super) enum ConfineError {
    /// A limit of a resource.
    #[error("{0:?}: {1}")]
    Limit(Resource, Errno),
    /// The channel is no descriptor.
    #[cfg(target_os = "linux")]
    #[error(transparent)]
    Channel(#[from] std::num::TryFromIntError),
    /// Descriptors that stay open.
    #[cfg(target_os = "linux")]
    #[error(transparent)]
    Descriptors(#[from] std::io::Error),
    /// Capabilities that stay.
    #[cfg(target_os = "linux")]
    #[error(transparent)]
    Capabilities(#[from] Errno),
    /// Landlock's rules.
    #[cfg(target_os = "linux")]
    #[error(transparent)]
    Landlock(#[from] landlock::RulesetError),
    /// Landlock does not keep all files from being changed.
    #[cfg(target_os = "linux")]
    #[error("this system's Landlock is too old or switched off: {0:?}")]
    OldLandlock(landlock::LandlockStatus),
    /// A filter of system calls that cannot be made.
    #[cfg(target_os = "linux")]
    #[error(transparent)]
    Filter(#[from] seccompiler::BackendError),
    /// A filter of system calls that the system does not take.
    #[cfg(target_os = "linux")]
    #[error(transparent)]
    Install(#[from] seccompiler::Error),
    /// A system that has no such means.
    #[cfg(not(target_os = "linux"))]
    #[error("Linux only")]
    LinuxOnly,
}
